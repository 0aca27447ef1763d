import { describe, expect, it } from 'vitest'
import { deadRegistry } from '#judge/rules/image-pull/dead-registry.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const pod = (image: string) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { containers: [{ name: 'web', image }] },
})

itJudgesExamples(deadRegistry, {
  bad: { pods: [pod('docker.pkg.github.com/shop/web/web:1')] },
  good: { pods: [pod('ghcr.io/shop/web:1')] },
})

const podOf = (...images: string[]) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
})

describe('dead-registry', () => {
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
})
