import { describe, expect, it } from 'vitest'
import { isReadByRules } from '#facts/kubelet/event-reasons.ts'

describe('an event that a rule may read', () => {
  const refused =
    'unable to ensure pod container exists: mkdir /sys/fs/cgroup/memory/kubepods/a: cannot allocate memory'

  it.each([
    ['FailedCreatePodContainer', 'Pod', refused, true],
    [
      'FailedCreatePodContainer',
      'Pod',
      'unable to ensure pod container exists: context deadline exceeded',
      false,
    ],
    ['FailedCreatePodContainer', 'Node', refused, false],
    ['BackOff', 'Pod', 'Back-off pulling image "a"', true],
    ['BackOff', 'Pod', 'Back-off restarting failed container', false],
    ['Evicted', 'Pod', '', true],
    ['StorageReady', 'Node', 'IODelays: process (containerd) waits for 12 s', true],
    ['StorageReady', 'Node', 'NodeReady: condition cleared', false],
    ['KernelReady', 'Node', 'RapidCron: job runs each minute', false],
    ['KernelReady', 'Pod', 'IODelays: no node', false],
    ['Created', 'Pod', 'Created container', false],
  ])('%s about a %s, %s: %s', (reason, kind, message, expected) => {
    expect(isReadByRules(reason, kind, message)).toBe(expected)
  })
})
