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
    ['Created', 'Pod', 'Created container', false],
  ])('%s about a %s, %s: %s', (reason, kind, message, expected) => {
    expect(isReadByRules(reason, kind, message)).toBe(expected)
  })
})
