import { describe, expect, it } from 'vitest'
import { memoryCgroupLeak } from '#judge/rules/kernel/memory-cgroup-leak.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { event, failingOf, state } from '#test/rules/events.ts'

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
