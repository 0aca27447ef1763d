import { describe, expect, it } from 'vitest'
import { requiredImageAtRisk } from '#judge/rules/image-gc/required-image-at-risk.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { Certainty, ImageDeletion, KeptImage } from '#model/prediction.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const agent = 'registry.example.com/agent:1'

const example = (reason: 'in-use' | 'not-needed') => ({
  pods: [
    {
      metadata: {
        namespace: 'ops',
        name: 'agent-x',
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent', controller: true }],
      },
      spec: { containers: [{ name: 'agent', image: agent }] },
    },
  ],
  imageGC: { deletions: [], kept: [{ image: 'sha256:a9e47', reason }] },
  runtime: { images: [{ id: 'sha256:a9e47', repoTags: [agent], repoDigests: [] }] },
})

itJudgesExamples(requiredImageAtRisk, { bad: example('not-needed'), good: example('in-use') })

const judge = (example: NodeExample, policy: Partial<Policy> = {}) =>
  outcomeOf(requiredImageAtRisk, exampleSubject(example), { ...defaultPolicy, ...policy })

const failingOf = (example: NodeExample, policy: Partial<Policy> = {}) => {
  const outcome = judge(example, policy)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

describe('required-image-at-risk', () => {
  const redis = 'docker.io/library/redis:7'
  const deletion = (name: string, certainty: Certainty = 'certain'): ImageDeletion => ({
    image: `sha256:${name}`,
    names: [name],
    sizeBytes: 1,
    rank: 0,
    reason: 'space',
    certainty,
  })
  const deleting = (...deletions: ImageDeletion[]): NodeExample => ({
    imageGC: { triggered: true, deletions, kept: [] },
  })
  const evicting = (...imageDeletions: ImageDeletion[]): NodeExample => ({
    imageGC: { deletions: [], kept: [] },
    eviction: { imageDeletions },
  })
  const keeping = (reason: KeptImage['reason']): NodeExample => ({
    imageGC: { deletions: [], kept: [{ image: 'sha256:1', reason }] },
    runtime: { images: [{ id: 'sha256:1', repoTags: [redis], repoDigests: [] }] },
  })
  const wanted = { requiredImages: ['redis:*'] }
  const pod = (namespace: string, kind: string, image: string, containerID?: string) => ({
    metadata: { namespace, name: 'x', ownerReferences: [{ kind, name: 'x', controller: true }] },
    spec: { containers: [{ name: 'c', image }] },
    status: { containerStatuses: [{ name: 'c', image, containerID }] },
  })

  it.each<[string, NodeExample, Partial<Policy>, string]>([
    ['deleted by image GC', deleting(deletion(redis)), wanted, 'fail'],
    ['deleted by eviction', evicting(deletion(redis)), wanted, 'fail'],
    [
      'by its whole name',
      deleting(deletion(redis)),
      { requiredImages: ['docker.io/*/redis:7'] },
      'fail',
    ],
    ['another image', deleting(deletion('docker.io/library/nginx:1')), wanted, 'pass'],
    ['nothing required', deleting(deletion(redis)), {}, 'pass'],
    [
      'of a kube-system pod',
      { ...deleting(deletion(redis)), pods: [pod('kube-system', 'ReplicaSet', 'redis:7')] },
      {},
      'fail',
    ],
    [
      'of a DaemonSet',
      { ...deleting(deletion(redis)), pods: [pod('ops', 'DaemonSet', 'redis:7')] },
      {},
      'fail',
    ],
    [
      'of any other pod',
      { ...deleting(deletion(redis)), pods: [pod('ops', 'ReplicaSet', 'redis:7')] },
      {},
      'pass',
    ],
    [
      'possible, but a container has it',
      {
        ...deleting(deletion(redis, 'possible')),
        pods: [pod('ops', 'DaemonSet', 'redis:7', 'c://1')],
      },
      {},
      'pass',
    ],
    ['unused', keeping('not-needed'), wanted, 'fail'],
    ['unused and young', keeping('too-young'), wanted, 'fail'],
    ['in use', keeping('in-use'), wanted, 'pass'],
    ['pinned', keeping('pinned'), wanted, 'pass'],
    ['perhaps pinned', keeping('unknown'), wanted, 'unknown'],
    ['perhaps pinned, but not required', keeping('unknown'), {}, 'pass'],
    ['images not known', { imageGC: { deletions: null } }, wanted, 'unknown'],
    ['images not known, nothing required', { imageGC: { deletions: null } }, {}, 'pass'],
  ])('%s: %4$s', (_, example, policy, expected) => {
    expect(judge(example, policy).state).toBe(expected)
  })

  it.each<[string, NodeExample, string[] | null, string, string]>([
    ['any registry, due', deleting(deletion(redis)), null, 'low', 'certain'],
    ['a reachable one, due', deleting(deletion(redis)), ['docker.*'], 'low', 'certain'],
    [
      'another one, due',
      deleting(deletion(redis, 'possible')),
      ['*.example.com'],
      'high',
      'possible',
    ],
    ['another one, eviction', evicting(deletion(redis)), [], 'high', 'certain'],
    ['another one, not due', keeping('not-needed'), [], 'medium', 'possible'],
  ])('%s: %4$s', (_, example, reachableRegistries, severity, confidence) => {
    expect(failingOf(example, { ...wanted, reachableRegistries })).toMatchObject({
      severity,
      confidence,
    })
  })

  it('takes severity and confidence from the same image, the worst', () => {
    const [near, far] = ['docker.io/library/redis:7', 'quay.io/a/redis:8']
    const policy = { requiredImages: ['redis:*', '*/redis:*'], reachableRegistries: ['docker.io'] }
    const severe = {
      severity: 'high',
      confidence: 'possible',
      consequence: expect.stringContaining(far),
    }
    expect(failingOf(deleting(deletion(near), deletion(far, 'possible')), policy)).toMatchObject(
      severe,
    )
    const [first, second] = ['quay.io/a/redis:1', 'quay.io/a/redis:2']
    const sure = {
      severity: 'high',
      confidence: 'certain',
      consequence: expect.stringContaining(second),
    }
    expect(
      failingOf(deleting(deletion(first, 'possible'), deletion(second)), policy),
    ).toMatchObject(sure)
  })

  it('says an image once: eviction is sooner, what surely goes is worse', () => {
    const both = (gc: Certainty, eviction: Certainty): NodeExample => ({
      ...deleting(deletion(redis, gc)),
      eviction: { imageDeletions: [deletion(redis, eviction)] },
    })
    expect(failingOf(both('certain', 'certain'), wanted).consequence).toBe(
      `Image ${redis} is deleted by eviction within 10 s.`,
    )
    expect(failingOf(both('certain', 'possible'), wanted).consequence).toBe(
      `Image ${redis} is deleted by image GC within 5 min.`,
    )
    expect(failingOf(both('possible', 'possible'), wanted).consequence).toBe(
      `Image ${redis} may be deleted by eviction within 10 s.`,
    )
  })

  it('finds names in the status of the node, leads with the worst, and shows no more than ten', () => {
    const many = Array.from({ length: 12 }, (_, at) => deletion(`quay.io/a/b:${at}`))
    const example = {
      ...deleting(...many, deletion(redis)),
      node: { status: { images: [{ names: [redis] }] } },
    }
    const { consequence, evidence, fix } = failingOf(example, {
      requiredImages: ['*'],
      reachableRegistries: ['quay.io'],
    })
    expect(consequence).toMatchSnapshot()
    expect(evidence).toHaveLength(11)
    expect(fix).toBeUndefined()
    const kept: NodeExample = {
      imageGC: { deletions: [], kept: [{ image: redis, reason: 'not-needed' }] },
      node: example.node,
    }
    expect(failingOf(kept, wanted).consequence).toMatchSnapshot()
  })
})
