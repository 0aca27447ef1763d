import { describe, expect, it } from 'vitest'
import { memoryCgroupLeak } from '#judge/rules/kernel/memory-cgroup-leak.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf as failingIn, failingOf, state, state as stateOf } from '#test/rule-outcome.ts'
import { event } from '#test/rules/events.ts'

itJudgesExamples(memoryCgroupLeak, {
  bad: {
    host: {
      kernel: {
        release: '4.14.355-275.572.amzn2.x86_64',
        cmdline: 'ro quiet',
        cgroupVersion: 1,
        memoryCgroups: 900,
      },
    },
  },
  good: {
    host: {
      kernel: {
        release: '6.1.115-126.197.amzn2023.x86_64',
        cmdline: 'ro quiet',
        cgroupVersion: 2,
        memoryCgroups: 400,
      },
    },
  },
})

describe('memory-cgroup-leak', () => {
  const path = '/sys/fs/cgroup/memory/kubepods/burstable/pod1/2'
  const sandbox = (message: string, count = 3) =>
    event({ reason: 'FailedCreatePodSandBox', of: 'a/b', message, count })
  const on = (kernelVersion: string) => ({ node: { status: { nodeInfo: { kernelVersion } } } })
  const wrapped = `Failed to create pod sandbox: rpc error: code = Unknown desc = OCI runtime create failed: process_linux.go:279: applying cgroup configuration for process caused "mkdir ${path}: cannot allocate memory": unknown`

  it.each([
    ['no cgroup is made', sandbox(wrapped), 'fail'],
    ['no id is left', sandbox(`mkdir ${path}: no space left on device`), 'fail'],
    [
      'on cgroup v2',
      sandbox('mkdir /sys/fs/cgroup/kubepods.slice/a: cannot allocate memory'),
      'fail',
    ],
    [
      'of another controller',
      sandbox('mkdir /sys/fs/cgroup/cpuset/kubepods/a: no space left on device'),
      'pass',
    ],
    [
      'a process that found no memory',
      sandbox('Error: failed to create containerd task: exec: "(removed)": cannot allocate memory'),
      'pass',
    ],
    [
      'a disk that is full',
      sandbox('mkdir /var/lib/kubelet/pods/a: no space left on device'),
      'pass',
    ],
    ['the pod itself', { ...sandbox(wrapped), reason: 'FailedCreatePodContainer' }, 'fail'],
    ['another reason', { ...sandbox(wrapped), reason: 'FailedMount' }, 'pass'],
  ] as const)('%s: %3$s', (_, told, expected) => {
    expect(state(memoryCgroupLeak, { ...on('5.10.1'), events: [told] })).toBe(expected)
  })

  it.each([
    ['4.14.355', 'certain'],
    ['5.10.230', 'likely'],
  ])('on a kernel %s it is %s', (kernel, confidence) => {
    const failing = failingOf(memoryCgroupLeak, { ...on(kernel), events: [sandbox(wrapped)] })
    expect(failing).toMatchObject({
      severity: 'high',
      confidence,
      consequence: expect.stringContaining('3 times since'),
    })
  })
})

describe('memory-cgroup-leak', () => {
  const old = { release: '4.14.355-275.572.amzn2.x86_64', cmdline: 'ro', cgroupVersion: 1 }

  it.each([
    ['an old kernel', old, 'fail'],
    ['with nokmem', { ...old, cmdline: 'ro cgroup.memory=nokmem' }, 'pass'],
    [
      'with nokmem among others',
      { ...old, cmdline: 'ro cgroup.memory=nosocket,nokmem quiet' },
      'pass',
    ],
    [
      'with nokmem, given twice',
      { ...old, cmdline: 'cgroup.memory=nokmem cgroup.memory=nosocket' },
      'pass',
    ],
    ['with another option', { ...old, cmdline: 'ro cgroup.memory=nosocket' }, 'fail'],
    [
      'with an option that only looks like it',
      { ...old, cmdline: 'ro xcgroup.memory=nokmemory' },
      'fail',
    ],
    ['on cgroup v2', { ...old, cgroupVersion: 2 }, 'pass'],
    [
      'on cgroup v2, few that were deleted left',
      { release: '6.1.1', cgroupVersion: 2, dyingMemoryCgroups: 19_999 },
      'pass',
    ],
    [
      'on cgroup v2, many that were deleted left',
      { release: '6.1.1', cgroupVersion: 2, dyingMemoryCgroups: 20_000 },
      'fail',
    ],
    [
      'on cgroup v1, many that were deleted left',
      { release: '5.4.1', cgroupVersion: 1, dyingMemoryCgroups: 20_000 },
      'fail',
    ],
    ['without its command line', { ...old, cmdline: undefined }, 'unknown'],
    ['5.4 on cgroup v1, as AL2', { ...old, release: '5.4.1' }, 'pass'],
    ['a new one, just below many cgroups', { release: '5.10.1', memoryCgroups: 19_999 }, 'pass'],
    ['a new one with many cgroups', { release: '5.10.1', memoryCgroups: 20_000 }, 'fail'],
    ['none', {}, 'unknown'],
  ] as const)('%s: %3$s', (_, kernel, expected) => {
    expect(stateOf(memoryCgroupLeak, { host: { kernel } })).toBe(expected)
  })

  it('tells deleted cgroups that stay on v2 apart: they hold memory, not ids', () => {
    const kernel = {
      release: '6.1.1',
      cgroupVersion: 2,
      memoryCgroups: 400,
      dyingMemoryCgroups: 60_000,
    }
    const failing = failingIn(memoryCgroupLeak, { host: { kernel } })
    expect(failing.severity ?? memoryCgroupLeak.severity).toBe('medium')
    expect(failing.title).toContain('deleted memory cgroups')
    expect(failing.consequence).toContain('60000 deleted memory cgroups')
    expect(failing.evidence).toContainEqual({
      kind: 'host',
      what: 'host kernel dyingMemoryCgroups',
      value: '60000',
    })
  })

  it('knows a new kernel by the Node object, and leaves an old one open', () => {
    const node = (kernelVersion: string) => ({ node: { status: { nodeInfo: { kernelVersion } } } })
    expect(stateOf(memoryCgroupLeak, node('6.1.115'))).toBe('pass')
    expect(stateOf(memoryCgroupLeak, node('4.14.355'))).toBe('unknown')
  })

  it.each([
    [undefined, 'medium'],
    [54_999, 'high'],
    [55_000, 'critical'],
  ])('%s memory cgroups: %s', (memoryCgroups, severity) => {
    expect(
      failingIn(memoryCgroupLeak, { host: { kernel: { ...old, memoryCgroups } } }).severity,
    ).toBe(severity)
  })
})
