import { describe, expect, it } from 'vitest'
import { registryOf } from '#judge/events/images.ts'
import type { ContextRule, NodeRule } from '#judge/rule.ts'
import { deadRegistry } from '#judge/rules/image-pull/dead-registry.ts'
import { pullFailingNow } from '#judge/rules/image-pull/pull-failing-now.ts'
import { rateLimitedRegistry } from '#judge/rules/image-pull/rate-limited-registry.ts'
import { serializedPulls } from '#judge/rules/image-pull/serialized-pulls.ts'
import { cgroupV1 } from '#judge/rules/kernel/cgroup-v1.ts'
import { memoryCgroupLeak } from '#judge/rules/kernel/memory-cgroup-leak.ts'
import { unsupportedVersion } from '#judge/rules/kernel/unsupported-version.ts'
import { invalidLogSize } from '#judge/rules/logs/invalid-log-size.ts'
import { logRetentionTooShort } from '#judge/rules/logs/log-retention-too-short.ts'
import { logRotationOvershoot } from '#judge/rules/logs/log-rotation-overshoot.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ContextExample, hard, type NodeExample } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const judge = (rule: NodeRule | ContextRule, example: ContextExample) => outcomeFor(rule, example)
const state = (rule: NodeRule | ContextRule, example: ContextExample) => judge(rule, example).state
const failingOf = (rule: NodeRule | ContextRule, example: ContextExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}
const GiB = 1024 ** 3

describe('invalid-log-size', () => {
  it.each([
    ['10Mi', 5, 'pass', undefined],
    ['0', 2, 'pass', undefined],
    ['1.5Gi', 5, 'fail', { containerLogMaxSize: '1536Mi' }],
    ['1536Mi', 5, 'pass', undefined],
    ['0.5', 5, 'fail', { containerLogMaxSize: '10Mi' }],
    ['ten', 5, 'fail', { containerLogMaxSize: '10Mi' }],
    ['-1', 5, 'fail', { containerLogMaxSize: '10Mi' }],
    ['10Mi', 1, 'fail', { containerLogMaxFiles: 5 }],
    ['10Mi', 2, 'pass', undefined],
  ] as const)('%s × %d: %s', (containerLogMaxSize, containerLogMaxFiles, expected, fix) => {
    const outcome = judge(invalidLogSize, {
      configuration: { containerLogMaxSize, containerLogMaxFiles },
    })
    expect(outcome.state).toBe(expected)
    if (outcome.state === 'fail') expect(outcome.failing.fix?.config).toEqual(fix)
  })

  it('passes the defaults that configz does not show', () => {
    expect(state(invalidLogSize, {})).toBe('pass')
  })
})

describe('log-rotation-overshoot', () => {
  /** 60 GiB are available of 100, and eviction begins at 10. */
  const example = (
    size: string,
    used: number,
    state: object = { running: {} },
    restartCount = 0,
  ): NodeExample => ({
    configuration: { containerLogMaxSize: size, containerLogMaxFiles: 5 },
    thresholds: [hard('nodefs.available', 10)],
    pods: [
      {
        metadata: { namespace: 'a', name: 'b' },
        status: { containerStatuses: [{ name: 'c', image: 'c', state, restartCount }] },
      },
    ],
    summary: {
      pods: [
        {
          podRef: { namespace: 'a', name: 'b' },
          containers: [{ name: 'c', logs: { usedBytes: used } }],
        },
      ],
    },
  })

  it.each([
    ['as much as there is', example('10Gi', 0), 'pass'],
    ['a byte more in each file', example(String(10 * GiB + 1), 0), 'fail'],
    ['what is written already does not count', example('12Gi', 10 * GiB), 'pass'],
    ['more than that', example('12Gi', 10 * GiB - 1), 'fail'],
    ['a container that does not run', example('20Gi', 0, { terminated: {} }), 'pass'],
    [
      'started anew, with the log of the dead instance beside its own',
      example('5Gi', 0, { running: {} }, 1),
      'pass',
    ],
    [
      'started anew, and a byte more in each file',
      example(String(5 * GiB + 1), 0, { running: {} }, 1),
      'fail',
    ],
    ['rotation that is off', example('-1', 0), 'pass'],
    [
      'a disk that was not observed',
      { ...example('20Gi', 0), filesystems: { nodefs: null } },
      'unknown',
    ],
  ] as const)('%s: %3$s', (_, node, expected) => {
    expect(state(logRotationOvershoot, node)).toBe(expected)
  })

  it('says nothing of logs that are less than a tenth of the disk', () => {
    const disk = {
      capacityBytes: 100 * GiB,
      availableBytes: 11 * GiB,
      usedPercent: 89,
      inodes: null,
      inodesFree: null,
    }
    expect(
      state(logRotationOvershoot, { ...example('1.9Gi', 0), filesystems: { nodefs: disk } }),
    ).toBe('pass')
    expect(
      state(logRotationOvershoot, { ...example('1Gi', 0), filesystems: { nodefs: disk } }),
    ).toBe('pass')
    expect(
      state(logRotationOvershoot, { ...example('2Gi', 0), filesystems: { nodefs: disk } }),
    ).toBe('fail')
  })
})

describe('logs by the rate at which they are written', () => {
  const MiB = 1024 ** 2
  const at = '2026-11-21T01:00:00Z'
  interface Writes {
    mib: number
    minutes?: number
    restarts?: number
    name?: string
  }
  /** 60 GiB are available of 100, and eviction begins at 10. */
  const writing = (
    all: Writes[],
    configuration: NodeExample['configuration'] = {},
  ): NodeExample => {
    const since = ({ minutes = 30 }: Writes) =>
      new Date(Date.parse(at) - minutes * 60_000).toISOString()
    return {
      at,
      configuration: { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5, ...configuration },
      thresholds: [hard('nodefs.available', 10)],
      pods: all.map(({ name = 'b', restarts = 0 }) => ({
        metadata: { namespace: 'a', name },
        status: {
          startTime: '2026-11-20T01:00:00Z',
          containerStatuses: [
            { name: 'c', image: 'c', restartCount: restarts, state: { running: {} } },
          ],
        },
      })),
      summary: {
        pods: all.map(writes => ({
          podRef: { namespace: 'a', name: writes.name ?? 'b' },
          containers: [
            { name: 'c', startTime: since(writes), logs: { usedBytes: writes.mib * MiB } },
          ],
        })),
      },
    }
  }
  const unmeasured = { ...writing([{ mib: 40 }]), summary: { pods: [] } }

  it.each<[string, NodeExample, string]>([
    ['50 MiB last just an hour', writing([{ mib: 25 }]), 'pass'],
    ['less', writing([{ mib: 25.1 }]), 'fail'],
    ['more files are kept', writing([{ mib: 25.1 }], { containerLogMaxFiles: 6 }), 'pass'],
    ['two minutes old', writing([{ mib: 40, minutes: 2 }]), 'fail'],
    ['younger', writing([{ mib: 40, minutes: 1.99 }]), 'pass'],
    [
      'less than a MiB',
      writing([{ mib: 0.99, minutes: 2 }], { containerLogMaxSize: '10Ki' }),
      'pass',
    ],
    ['a MiB', writing([{ mib: 1, minutes: 2 }], { containerLogMaxSize: '10Ki' }), 'fail'],
    [
      'started again: the folder has the logs of a day',
      writing([{ mib: 40, minutes: 2, restarts: 3 }]),
      'pass',
    ],
    ['a clock that is behind', writing([{ mib: 40, minutes: -5 }]), 'pass'],
    ['rotation that is off', writing([{ mib: 40 }], { containerLogMaxSize: '-1' }), 'pass'],
    ['no statistics of any', unmeasured, 'unknown'],
    ['no containers', { ...unmeasured, pods: [] }, 'pass'],
  ])('log-retention-too-short, %s: %s', (_, example, expected) => {
    expect(state(logRetentionTooShort, example)).toBe(expected)
  })

  it('takes the start of the container from the status of its pod where the summary has none', () => {
    const node = writing([{ mib: 40 }])
    const running = {
      name: 'c',
      image: 'c',
      state: { running: { startedAt: '2026-11-21T00:50:00Z' } },
    }
    const pods = [
      { metadata: { namespace: 'a', name: 'b' }, status: { containerStatuses: [running] } },
    ]
    const summary = {
      pods: [
        {
          podRef: { namespace: 'a', name: 'b' },
          containers: [{ name: 'c', logs: { usedBytes: 40 * MiB } }],
        },
      ],
    }
    expect(
      failingOf(logRetentionTooShort, { ...node, pods, summary }).evidence[3]?.value,
    ).toMatchSnapshot()
  })

  it('leads with the fastest, shows five, and proposes a size for it where the disk has room', () => {
    const all = Array.from({ length: 7 }, (_, index) => ({ mib: 30 + index, name: `p${index}` }))
    const { consequence, evidence, fix } = failingOf(logRetentionTooShort, writing(all))
    expect(consequence).toMatchSnapshot()
    expect(evidence.filter(({ what }) => what.startsWith('container '))).toHaveLength(5)
    // 72 MiB an hour in five files.
    expect(fix?.config).toEqual({ containerLogMaxSize: '20Mi' })
    const small = {
      capacityBytes: 100 * GiB,
      availableBytes: 10 * GiB + 400 * MiB,
      usedPercent: 90,
      inodes: null,
      inodesFree: null,
    }
    expect(
      failingOf(logRetentionTooShort, { ...writing(all), filesystems: { nodefs: small } }).fix,
    ).toBeUndefined()
    expect(failingOf(logRetentionTooShort, writing([{ mib: 20_000 }])).fix?.config).toEqual({
      containerLogMaxSize: '10Gi',
    })
    expect(failingOf(logRetentionTooShort, writing([{ mib: 40_000 }])).fix).toBeUndefined()
  })

  it('takes the limit from the policy', () => {
    const policy = { ...defaultPolicy, logRetentionMinutes: 10 }
    expect(outcomeFor(logRetentionTooShort, writing([{ mib: 40 }]), policy).state).toBe('pass')
  })

  /** A MiB a second: 10 MiB between two looks. */
  const fast = (
    roomMib: number,
    configuration: NodeExample['configuration'] = {},
  ): NodeExample => ({
    ...writing([{ mib: 1800 }], configuration),
    filesystems: {
      nodefs: {
        capacityBytes: 100 * GiB,
        availableBytes: 10 * GiB + roomMib * MiB,
        usedPercent: 90,
        inodes: null,
        inodesFree: null,
      },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['the room that is left', fast(10), 'pass'],
    ['less room', fast(9.9), 'fail'],
    ['a longer interval', fast(10, { containerLogMonitorInterval: '11s' }), 'fail'],
    [
      'an interval that this kubelet does not know',
      {
        ...fast(10, { containerLogMonitorInterval: '11s' }),
        identity: { kubeletVersion: 'v1.29.1' },
      },
      'pass',
    ],
    ['eviction already', fast(0), 'pass'],
  ])('log-rotation-overshoot between two looks, %s: %s', (_, example, expected) => {
    expect(state(logRotationOvershoot, example)).toBe(expected)
  })

  it('says how much comes between two looks', () => {
    expect(failingOf(logRotationOvershoot, fast(5))).toMatchObject({ confidence: 'likely' })
    expect(failingOf(logRotationOvershoot, fast(5)).consequence).toContain(
      'pass containerLogMaxSize by 10.0 MiB',
    )
  })
})

const podOf = (...images: string[]) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
})

describe('registries of images', () => {
  it.each([
    ['redis', 'docker.io'],
    ['bitnami/redis:7', 'docker.io'],
    ['docker.io/library/redis', 'docker.io'],
    ['index.docker.io/library/redis', 'docker.io'],
    ['localhost/kubernetes/pause', 'localhost'],
    ['registry:5000/app', 'registry:5000'],
    [
      '602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5',
      '602401143452.dkr.ecr.us-east-1.amazonaws.com',
    ],
    ['public.ecr.aws/docker/library/redis', 'public.ecr.aws'],
    ['docker.pkg.github.com/a/b/c:1', 'docker.pkg.github.com'],
  ])('%s is pulled from %s', (image, registry) => {
    expect(registryOf(image)).toBe(registry)
  })

  it('a dead one is worse than a frozen one, and init containers count', () => {
    const frozen = {
      metadata: { name: 'a' },
      spec: { initContainers: [{ name: 'i', image: 'k8s.gcr.io/pause:3.1' }] },
    }
    expect(failingOf(deadRegistry, { pods: [frozen] }).severity).toBe('medium')
    expect(
      failingOf(deadRegistry, { pods: [frozen, podOf('docker.pkg.github.com/a/b/c:1')] }).severity,
    ).toBe('high')
    expect(
      state(deadRegistry, {
        pods: [podOf('registry.k8s.io/pause:3.10', 'k8s.gcr.io.example.com/pause')],
      }),
    ).toBe('pass')
  })

  it('events of pods that are gone, statuses and the sandbox image tell, too', () => {
    const message = 'Back-off pulling image "docker.pkg.github.com/a/b/c:1"'
    const time = '2026-11-20T23:50:00Z'
    const events = [
      {
        reason: 'BackOff',
        pod: { namespace: 'a', name: 'gone' },
        message,
        count: 3,
        firstTime: time,
        lastTime: time,
      },
    ]
    expect(failingOf(deadRegistry, { events })).toMatchObject({
      severity: 'high',
      evidence: [
        { kind: 'computed', what: 'image of a/gone', value: 'docker.pkg.github.com/a/b/c:1' },
      ],
    })
    expect(failingOf(deadRegistry, { events, pods: null }).severity).toBe('high')
    expect(state(deadRegistry, { events: [], errors: { events: 'forbidden' } })).toBe('unknown')
    const waiting = {
      containerStatuses: [
        { name: 'c', image: 'k8s.gcr.io/a:1', state: { waiting: { reason: 'ErrImagePull' } } },
      ],
    }
    expect(state(deadRegistry, { pods: [{ metadata: { name: 'a' }, status: waiting }] })).toBe(
      'fail',
    )
    const sandbox = failingOf(deadRegistry, {
      host: { containerd: { sandboxImage: 'k8s.gcr.io/pause:3.2' } },
    })
    expect(sandbox.evidence).toMatchSnapshot()
  })

  it('a finished pod pulls nothing', () => {
    expect(
      state(deadRegistry, {
        pods: [{ ...podOf('k8s.gcr.io/pause:3.1'), status: { phase: 'Succeeded' } }],
      }),
    ).toBe('pass')
  })

  it('Docker Hub limits pulls without credentials, and more where image GC deletes', () => {
    const pods = [podOf('redis:7', 'redis:7')]
    const failing = failingOf(rateLimitedRegistry, { pods })
    expect(failing.severity).toBe('low')
    expect(failing.evidence[0]?.value).toBe('1')
    const deletion = (name: string) => ({
      deletions: [
        {
          image: 'sha256:1',
          names: [name],
          sizeBytes: 1,
          rank: 0,
          reason: 'space' as const,
          certainty: 'certain' as const,
        },
      ],
    })
    expect(
      failingOf(rateLimitedRegistry, { pods, imageGC: deletion('docker.io/library/nginx:1') })
        .severity,
    ).toBe('medium')
    expect(
      failingOf(rateLimitedRegistry, { pods, imageGC: deletion('quay.io/a/b:1') }).severity,
    ).toBe('low')
    const [pod] = pods
    const withSecret = { ...pod, spec: { ...pod?.spec, imagePullSecrets: [{ name: 'ghcr' }] } }
    // For which registry it is only its content tells.
    expect(judge(rateLimitedRegistry, { pods: [withSecret] })).toMatchSnapshot()
    expect(state(rateLimitedRegistry, { pods: [withSecret, ...pods] })).toBe('fail')
    expect(
      state(rateLimitedRegistry, {
        pods: [{ ...withSecret, spec: { ...withSecret.spec, containers: [] } }],
      }),
    ).toBe('pass')
    expect(
      state(rateLimitedRegistry, {
        pods,
        host: { containerd: { mirrors: [{ registry: 'docker.io' }] } },
      }),
    ).toBe('unknown')
    expect(state(rateLimitedRegistry, { pods, host: { containerd: { mirrors: [] } } })).toBe('fail')
  })
})

describe('pull-failing-now', () => {
  const waiting = (reason: string) => ({
    metadata: { namespace: 'shop', name: 'web' },
    status: {
      initContainerStatuses: [
        { name: 'i', image: 'a:1', state: { waiting: { reason, message: 'Back-off\u202e' } } },
      ],
    },
  })

  it.each([
    ['ErrImagePull', 'fail'],
    ['ImagePullBackOff', 'fail'],
    ['InvalidImageName', 'fail'],
    ['CrashLoopBackOff', 'pass'],
    ['PodInitializing', 'pass'],
  ])('%s: %s', (reason, expected) => {
    expect(state(pullFailingNow, { pods: [waiting(reason)] })).toBe(expected)
  })

  it('shows ten and counts all, without control characters', () => {
    const { evidence, consequence } = failingOf(pullFailingNow, {
      pods: Array.from({ length: 12 }, () => waiting('ErrImagePull')),
    })
    expect(evidence).toHaveLength(10)
    expect(evidence[0]).toEqual({
      kind: 'object',
      what: 'pod shop/web ErrImagePull',
      value: 'a:1: Back-off ',
    })
    expect(consequence).toContain('12 containers of 1 pod')
  })
})

describe('serialized-pulls', () => {
  it('is unknown where configz does not tell', () => {
    const parallel = (maxParallelImagePulls: number) => ({
      configuration: { serializeImagePulls: false, maxParallelImagePulls },
    })
    expect(failingOf(serializedPulls, parallel(1)).evidence).toContainEqual({
      kind: 'configz',
      what: 'maxParallelImagePulls',
      value: '1',
    })
    expect(state(serializedPulls, parallel(2))).toBe('pass')
    expect(state(serializedPulls, {})).toBe('unknown')
    expect(state(serializedPulls, { identity: { operatingSystem: 'windows' } })).toBe(
      'notApplicable',
    )
  })
})

describe('cgroup-v1', () => {
  const example = (
    kubeletVersion: string | null,
    cgroupVersion: number | undefined,
    failCgroupV1?: boolean,
  ): NodeExample => ({
    identity: { kubeletVersion },
    host: { kernel: { cgroupVersion } },
    configuration: failCgroupV1 === undefined ? {} : { failCgroupV1 },
  })

  it.each([
    ['v1.34.9', 1, 'notApplicable'],
    ['v1.35.0', 1, 'fail'],
    ['v1.35.0', 2, 'pass'],
    ['v1.35.0', undefined, 'unknown'],
    [null, 1, 'unknown'],
  ] as const)('%s on cgroup v%s: %s', (version, cgroups, expected) => {
    expect(state(cgroupV1, example(version, cgroups))).toBe(expected)
  })

  it('is less where the kubelet was told to start all the same, and unknown where nobody asked the node', () => {
    expect(failingOf(cgroupV1, example('v1.35.0', 1, false)).severity).toBe('medium')
    expect(failingOf(cgroupV1, example('v1.35.0', 1, true)).severity).toBe('high')
    expect(state(cgroupV1, { identity: { kubeletVersion: 'v1.35.0' } })).toBe('unknown')
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
    expect(state(memoryCgroupLeak, { host: { kernel } })).toBe(expected)
  })

  it('tells deleted cgroups that stay on v2 apart: they hold memory, not ids', () => {
    const kernel = {
      release: '6.1.1',
      cgroupVersion: 2,
      memoryCgroups: 400,
      dyingMemoryCgroups: 60_000,
    }
    const failing = failingOf(memoryCgroupLeak, { host: { kernel } })
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
    expect(state(memoryCgroupLeak, node('6.1.115'))).toBe('pass')
    expect(state(memoryCgroupLeak, node('4.14.355'))).toBe('unknown')
  })

  it.each([
    [undefined, 'medium'],
    [54_999, 'high'],
    [55_000, 'critical'],
  ])('%s memory cgroups: %s', (memoryCgroups, severity) => {
    expect(
      failingOf(memoryCgroupLeak, { host: { kernel: { ...old, memoryCgroups } } }).severity,
    ).toBe(severity)
  })
})

describe('unsupported-version', () => {
  it.each([
    ['v1.23.17', 'fail'],
    ['v1.24.0', 'pass'],
    ['v1.37.9-eks-1', 'pass'],
    ['v1.38.0', 'fail'],
    [null, 'unknown'],
  ] as const)('%s: %s', (kubeletVersion, expected) => {
    expect(state(unsupportedVersion, { identity: { kubeletVersion } })).toBe(expected)
  })
})
