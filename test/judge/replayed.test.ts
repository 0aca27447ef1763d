/** From a record through its replay to the outcomes: what was not seen must not come out as a pass, nor as a certain failing. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf, replayOf as replay } from '#test/at-the-door.ts'
import { takenAt } from '#test/node-builder.ts'

const recorded = (name: string): RawObject =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/real/single-disk-${name}.json`, import.meta.url), 'utf8'),
  ) as RawObject
const summary = recorded('stats-summary')
const stats = summary.node as RawObject
const sound: NodeRecord = {
  kind: 'Node',
  cluster: 'prod',
  node: recorded('node'),
  configz: recorded('configz'),
  summary,
  pods: [],
}

/** What each rule says of this node: `fail`, or why it is unknown. */
function judged(record: Partial<NodeRecord>): Record<string, string> {
  const judgement = openJudgement(rules, defaultPolicy)
  const whole = { ...sound, ...record }
  judgement.take(inputOf(whole), replay(whole, takenAt))
  const { findings, unknowns } = judgement.close(takenAt)
  return {
    ...Object.fromEntries(unknowns.map(({ rule, reason }) => [rule, reason])),
    ...Object.fromEntries(findings.map(({ rule }) => [rule, 'fail'])),
  }
}
const withStats = (changed: RawObject) =>
  judged({ summary: { ...summary, node: { ...stats, ...changed } } })

describe('a counter that has wrapped below zero', () => {
  const wrapped: unknown = JSON.parse('18446744073709541616')

  it.each([
    [
      'memory of the pods',
      {
        systemContainers: [
          { name: 'pods', memory: { availableBytes: wrapped, workingSetBytes: 2 ** 32 } },
        ],
      },
    ],
    ['memory of the node', { memory: { ...(stats.memory as RawObject), availableBytes: wrapped } }],
    ['nodefs', { fs: { ...(stats.fs as RawObject), availableBytes: wrapped } }],
  ])('is an eviction that is due: %s', (_, changed) => {
    expect(withStats(changed)['eviction-due']).toBe('fail')
  })

  it('is unknown where the statistic is no number', () => {
    const pods = { name: 'pods', memory: { availableBytes: '1', workingSetBytes: 2 ** 32 } }
    expect(withStats({ systemContainers: [pods] })['eviction-due']).toContain(
      'allocatableMemory.available',
    )
    expect(
      withStats({ systemContainers: [{ ...pods, memory: { workingSetBytes: 2 ** 32 } }] })[
        'eviction-due'
      ],
    ).toBeUndefined()
  })
})

describe('an image filesystem without a size', () => {
  const { imageFs, containerFs } = stats.runtime as Record<string, RawObject>

  it.each([
    ['0', { ...imageFs, capacityBytes: 0 }],
    ['absent', { ...imageFs, capacityBytes: undefined }],
  ])('leaves its rules open: %s', (_, broken) => {
    const said = withStats({ runtime: { containerFs, imageFs: broken } })
    expect(said['image-gc-due']).toMatchSnapshot()
    expect(said['unwatched-imagefs']).toMatchSnapshot()
    expect(said['lost-default-threshold']).toMatchSnapshot()
    expect(said['eviction-before-image-gc']).toMatchSnapshot()
  })

  it('is what is missing, not the bytes of nodefs', () => {
    const said = withStats({ runtime: { containerFs } })
    expect(said['eviction-before-image-gc']).toMatchSnapshot()
  })
})

describe('a nodefs of its own', () => {
  const capacityBytes = 2 * (stats.fs as { capacityBytes: number }).capacityBytes
  const filled = (left: number) => ({
    fs: { ...(stats.fs as RawObject), capacityBytes, availableBytes: capacityBytes * left },
  })

  it('has eviction before any collection, and nothing to give back that is not of pods', () => {
    expect(withStats(filled(0.15))).toMatchObject({ 'image-gc-never-first': 'fail' })
    expect(withStats(filled(0.15))['useless-eviction']).toBeUndefined()
    expect(withStats(filled(0.05))).toMatchObject({
      'eviction-due': 'fail',
      'useless-eviction': 'fail',
    })
    expect(withStats(filled(0.05))['image-gc-never-first']).toBeUndefined()
    expect(withStats(filled(0.5))).not.toHaveProperty('image-gc-never-first')
  })
})

describe('the log of a container', () => {
  const running = { name: 'web', image: 'web:1', restartCount: 0, state: { running: {} } }
  const metadata = { namespace: 'shop', name: 'web-0', uid: 'u-1' }
  const judgedAt = (at: string) =>
    judged({
      at,
      pods: [{ metadata, status: { phase: 'Running', containerStatuses: [running] } }],
      summary: {
        ...summary,
        pods: [
          {
            podRef: metadata,
            containers: [
              {
                name: 'web',
                startTime: '2026-11-21T00:00:00Z',
                logs: { usedBytes: 40 * 1024 ** 2 },
              },
            ],
          },
        ],
      },
    })['log-retention-too-short']

  it("is measured by the record's own time", () => {
    expect(judgedAt('2026-11-21T00:10:00Z')).toBe('fail')
    expect(judgedAt('2026-11-21T02:00:00Z')).toBeUndefined()
  })
})

describe("the files on the node's disk", () => {
  const main = {
    path: '/etc/kubernetes/kubelet/config.json',
    role: 'config',
    content: { featureGates: { SomethingNew: true } },
  }
  const host = (files: object[], unread: object[] = []): RawObject => ({
    kubelet: { files },
    unread,
  })

  it.each<[string, Partial<NodeRecord>, string]>([
    ['not read', {}, 'mode proxy'],
    ['no main file', { host: host([]) }, 'no main configuration file of the kubelet was read'],
    ['content that is text', { host: host([{ ...main, content: 'a: b' }]) }, 'could not be read'],
    [
      'no permission',
      { host: host([], [{ what: 'kubelet config', why: 'permission denied' }]) },
      'permission denied',
    ],
    [
      'an environment file',
      {
        host: host([
          { ...main, content: {} },
          { path: '/etc/sysconfig/kubelet', role: 'environment', content: { ARGS: '--v=3' } },
        ]),
      },
      '/etc/sysconfig/kubelet',
    ],
  ])('are an open question, for its own reason: %s', (_, record, reason) => {
    const said = judged(record)['invalid-kubelet-configuration']
    expect(said).toContain(reason)
    if (record.host) expect(said).not.toContain('mode proxy')
  })

  it('pass with the gates of an EKS image, and fail on an error whatever else is open', () => {
    const gates = {
      RotateKubeletServerCertificate: true,
      DynamicResourceAllocation: true,
      MutableCSINodeAllocatableCount: true,
    }
    expect(
      judged({ host: host([{ ...main, content: { featureGates: gates } }]) })[
        'invalid-kubelet-configuration'
      ],
    ).toBeUndefined()
    const content = {
      ...main.content,
      imageGCHighThresholdPercent: 50,
      imageGCLowThresholdPercent: 50,
    }
    expect(judged({ host: host([{ ...main, content }]) })['invalid-kubelet-configuration']).toBe(
      'fail',
    )
  })
})
