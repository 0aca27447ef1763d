import { describe, expect, it } from 'vitest'
import { isNotifierUpdated, memoryNotifications } from '#replay/eviction/memory-notification.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { newest } from './builder.ts'

const thresholds = (evictionHard: Record<string, string>) =>
  parseThresholdConfig({ evictionHard, enforceNodeAllocatable: ['pods'] }, newest.features)
const summary = {
  node: {
    memory: { usageBytes: 700, workingSetBytes: 600, availableBytes: 400 },
    systemContainers: [
      { name: 'kubelet' },
      { name: 'pods', memory: { usageBytes: 500, workingSetBytes: 450, availableBytes: 50 } },
    ],
  },
}
const onV1 = { kernelMemcgNotification: true, cgroupVersion: 1 } as const
const usages = (evictionHard: Record<string, string>, given: object = summary) =>
  memoryNotifications(thresholds(evictionHard), given as typeof summary, onV1)?.map(
    ({ threshold, usageBytes }) => [threshold.signal, usageBytes],
  )

describe('memoryNotifications', () => {
  it('wakes at capacity less the threshold, with what the working set leaves out on top, for the node and for its pods', () => {
    expect(usages({ 'memory.available': '100' })).toEqual([
      ['memory.available', 1000n - 100n + 100n],
      ['allocatableMemory.available', 500n - 100n + 50n],
    ])
  })

  it('takes a percentage of what is observed, through float32, and a fraction of a byte up', () => {
    expect(usages({ 'memory.available': '10%' })?.[0]).toEqual(['memory.available', 1000n])
    expect(usages({ 'memory.available': '99.5' })?.[0]).toEqual(['memory.available', 1001n])
  })

  it('leaves out what is no memory', () => {
    expect(usages({ 'nodefs.available': '10%', 'pid.available': '5' })).toEqual([])
  })

  it.each(['usageBytes', 'workingSetBytes', 'availableBytes'])('has no number without %s', key => {
    const { [key as 'usageBytes']: _, ...memory } = summary.node.memory
    expect(usages({ 'memory.available': '100' }, { node: { ...summary.node, memory } })).toEqual([
      ['memory.available', null],
      ['allocatableMemory.available', 450n],
    ])
  })

  it('never wakes on cgroup v2, nor where it is not configured; and who knows where the version is not', () => {
    const notifications = (settings: object) =>
      memoryNotifications(thresholds({ 'memory.available': '100' }), summary, {
        ...onV1,
        ...settings,
      })
    expect(notifications({ cgroupVersion: 2 })).toEqual([])
    expect(notifications({ kernelMemcgNotification: false, cgroupVersion: null })).toEqual([])
    expect(notifications({ cgroupVersion: null })).toBeNull()
  })
})

describe('isNotifierUpdated', () => {
  it('is so more than 10 s later', () => {
    expect([10_000, 10_001].map(ms => isNotifierUpdated(0, ms))).toEqual([false, true])
  })
})
