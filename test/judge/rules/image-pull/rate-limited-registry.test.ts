import { describe, expect, it } from 'vitest'
import { rateLimitedRegistry } from '#judge/rules/image-pull/rate-limited-registry.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import {
  evidenceText,
  failingOf as failingIn,
  failingOf,
  outcomeFor,
  state,
  state as stateOf,
} from '#test/rule-outcome.ts'
import { hubLimit, minutesAgo, pullOf } from '#test/rules/events.ts'

const pod = (image: string) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { containers: [{ name: 'web', image }] },
})

itJudgesExamples(rateLimitedRegistry, {
  bad: { pods: [pod('redis:7.4')] },
  good: { pods: [pod('public.ecr.aws/docker/library/redis:7.4')] },
})

describe('rate-limited-registry', () => {
  it('is certain and high where the registry has said so', () => {
    const events = [pullOf(`Failed to pull image "docker.io/library/busybox:1.36": ${hubLimit}`)]
    expect(failingOf(rateLimitedRegistry, { events })).toMatchObject({
      severity: 'high',
      title: expect.stringContaining('refuses pulls'),
    })
    expect(evidenceText(rateLimitedRegistry, { events })).toContain('refused once at')
    const waiting = { reason: 'ErrImagePull', message: 'toomanyrequests: Rate exceeded' }
    const pods = [
      {
        status: { containerStatuses: [{ name: 'a', image: 'quay.io/a/b:1', state: { waiting } }] },
      },
    ]
    expect(failingOf(rateLimitedRegistry, { pods }).consequence).toContain('quay.io answered 429')
    expect(
      state(rateLimitedRegistry, { events: [pullOf('Failed to pull image "a": not found')] }),
    ).toBe('pass')
  })

  it('shows the events of failed pulls only where a pull failed', () => {
    const pods = [{ spec: { containers: [{ name: 'a', image: 'busybox' }] } }]
    expect(failingOf(rateLimitedRegistry, { pods }).steps).toEqual([{ id: 'advice' }])
    const events = [pullOf('Failed to pull image "quay.io/a/b:1": not found')]
    expect(failingOf(rateLimitedRegistry, { pods, events }).steps).toBeUndefined()
  })

  it('knows no limit of an image that fails for another reason', () => {
    const message = 'pull access denied, repository does not exist or may require authorization'
    const failing = { image: 'runner:dev', state: { waiting: { reason: 'ErrImagePull', message } } }
    const pods = [
      {
        spec: { containers: [{ name: 'a', image: 'runner:dev' }] },
        status: { containerStatuses: [{ name: 'a', ...failing }] },
      },
    ]
    expect(state(rateLimitedRegistry, { pods })).toBe('pass')
    expect(state(rateLimitedRegistry, { pods: [...pods, pod('redis:7.4')] })).toBe('fail')
  })

  it('says nothing of a limit where Docker Hub is out of reach', () => {
    const pods = [{ spec: { containers: [{ name: 'a', image: 'busybox' }] } }]
    const events = [pullOf('Failed to pull image "busybox": dial tcp: no such host')]
    expect(state(rateLimitedRegistry, { pods })).toBe('fail')
    expect(state(rateLimitedRegistry, { pods, events })).toBe('pass')
  })

  it('says it even where mirrors are set, and of pulls that came through in the end', () => {
    const events = [
      pullOf(`Failed to pull image "busybox": ${hubLimit}`),
      pullOf('Successfully pulled image "busybox" in 2s', { reason: 'Pulled', ago: 1 }),
    ]
    const pods = [{ spec: { containers: [{ name: 'a', image: 'busybox' }] } }]
    expect(
      state(rateLimitedRegistry, { events, pods, host: { containerd: { mirrors: [{}] } } }),
    ).toBe('fail')
  })

  it('is lower, and not certain, where every pull that was refused came through since', () => {
    const refused = pullOf(`Failed to pull image "busybox": ${hubLimit}`, { of: 'a/p1', ago: 55 })
    const running = (name: string, ago: number) => ({
      metadata: { namespace: 'a', name },
      status: {
        containerStatuses: [
          { name: 'c', image: 'busybox', state: { running: { startedAt: minutesAgo(ago) } } },
        ],
      },
    })
    const pulled = pullOf('Successfully pulled image "busybox" in 2s', {
      of: 'a/p1',
      reason: 'Pulled',
      ago: 54,
    })
    const over = {
      severity: 'medium',
      confidence: 'likely',
      title: expect.stringContaining('refused pulls within the last hour'),
    }
    expect(failingOf(rateLimitedRegistry, { events: [refused, pulled] })).toMatchObject(over)
    expect(
      failingOf(rateLimitedRegistry, { events: [refused], pods: [running('p1', 54)] }),
    ).toMatchObject(over)
    expect(
      failingOf(rateLimitedRegistry, { events: [refused], pods: [running('p1', 54)] }).consequence,
    ).not.toContain('now')
    for (const pods of [[], [running('p2', 54)], [running('p1', 56)]])
      expect(failingOf(rateLimitedRegistry, { events: [refused], pods })).toMatchObject({
        severity: 'high',
      })
    const other = pullOf(`Failed to pull image "redis": ${hubLimit}`, { of: 'a/p3', ago: 3 })
    expect(failingOf(rateLimitedRegistry, { events: [refused, pulled, other] })).toMatchObject({
      severity: 'high',
    })
  })

  it('counts what GC deletes and pods of this node name', () => {
    const deletion = (name: string) => ({
      image: name,
      names: [name],
      sizeBytes: 1,
      rank: 0,
      reason: 'space' as const,
      certainty: 'certain' as const,
    })
    const imageGC = {
      deletions: [
        deletion('docker.io/library/nginx:1'),
        deletion('docker.io/library/redis:latest'),
      ],
    }
    const pods = [{ spec: { containers: [{ name: 'a', image: 'redis' }] } }]
    expect(failingOf(rateLimitedRegistry, { pods, imageGC }).consequence).toMatchSnapshot()
  })
})

const podOf = (...images: string[]) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
})

describe('rate-limited-registry', () => {
  it('Docker Hub limits pulls without credentials, and more where image GC deletes', () => {
    const pods = [podOf('redis:7', 'redis:7')]
    const failing = failingIn(rateLimitedRegistry, { pods })
    expect(failing.severity).toBe('info')
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
      failingIn(rateLimitedRegistry, { pods, imageGC: deletion('docker.io/library/nginx:1') })
        .severity,
    ).toBe('medium')
    expect(
      failingIn(rateLimitedRegistry, { pods, imageGC: deletion('quay.io/a/b:1') }).severity,
    ).toBe('info')
    const [pod] = pods
    const withSecret = { ...pod, spec: { ...pod?.spec, imagePullSecrets: [{ name: 'ghcr' }] } }
    // For which registry it is only its content tells.
    expect(outcomeFor(rateLimitedRegistry, { pods: [withSecret] })).toMatchSnapshot()
    expect(stateOf(rateLimitedRegistry, { pods: [withSecret, ...pods] })).toBe('fail')
    expect(
      stateOf(rateLimitedRegistry, {
        pods: [{ ...withSecret, spec: { ...withSecret.spec, containers: [] } }],
      }),
    ).toBe('pass')
    expect(
      stateOf(rateLimitedRegistry, {
        pods,
        host: { containerd: { mirrors: [{ registry: 'docker.io' }] } },
      }),
    ).toBe('unknown')
    expect(stateOf(rateLimitedRegistry, { pods, host: { containerd: { mirrors: [] } } })).toBe(
      'fail',
    )
  })
})
