import { describe, expect, it } from 'vitest'
import { registryOf } from '#judge/events/images.ts'
import { deadRegistry } from '#judge/rules/image-pull/dead-registry.ts'
import { pullFailingNow } from '#judge/rules/image-pull/pull-failing-now.ts'
import { rateLimitedRegistry } from '#judge/rules/image-pull/rate-limited-registry.ts'
import { memoryCgroupLeak } from '#judge/rules/kernel/memory-cgroup-leak.ts'
import { unsupportedVersion } from '#judge/rules/kernel/unsupported-version.ts'
import { failingOf, judge, state } from '#test/rules/pulls-logs-kernel.ts'

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
