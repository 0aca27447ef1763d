import { describe, expect, it } from 'vitest'
import { type PodGcInput, podGc } from '#replay/cluster-gc/sections/pods.ts'
import { nodeOf } from '#test/at-the-door.ts'

const at = (second: number) => `2025-01-01T00:00:${String(second).padStart(2, '0')}Z`

interface PodSpec {
  name: string
  namespace?: string
  phase?: string
  reason?: string
  second?: number
  nodeName?: string
  isDeleting?: boolean
}

const pod = ({
  name,
  namespace = 'default',
  phase = 'Failed',
  reason,
  second = 0,
  nodeName,
  isDeleting,
}: PodSpec) => ({
  metadata: {
    namespace,
    name,
    uid: `uid-${name}`,
    creationTimestamp: at(second),
    deletionTimestamp: isDeleting ? at(59) : undefined,
  },
  spec: { nodeName },
  status: { phase, reason },
})

const node = (name: string, ready?: string, taint?: string) =>
  nodeOf({
    metadata: { name },
    spec: { taints: ['not an object', { key: 'other' }, ...(taint ? [{ key: taint }] : [])] },
    status: {
      conditions: [
        { type: 'DiskPressure', status: 'True' },
        ...(ready ? [{ type: 'Ready', status: ready }] : []),
      ],
    },
  })
const outOfService = 'node.kubernetes.io/out-of-service'

const round = (input: Partial<PodGcInput>) =>
  podGc({
    pods: [],
    nodes: [node('n1', 'True')],
    terminatedPodThreshold: 100,
    missingForMs: new Map(),
    ...input,
  })
const deletionsOf = (input: Partial<PodGcInput>) =>
  round(input).deletions.map(({ pod: key, reason, certainty, rank }) => [
    key,
    reason,
    certainty,
    rank,
  ])

describe('terminated pods', () => {
  const five = [
    pod({ name: 'late', second: 9 }),
    pod({ name: 'evicted', second: 30, reason: 'Evicted' }),
    pod({ name: 'b', second: 5 }),
    pod({ name: 'a', second: 5, phase: 'Succeeded' }),
    pod({ name: 'evicted-but-done', second: 20, phase: 'Succeeded', reason: 'Evicted' }),
  ]

  it('goes evicted first, then oldest first, then by name', () => {
    expect(round({ pods: five }).terminated.map(each => each.pod)).toEqual([
      'default/evicted',
      'default/a',
      'default/b',
      'default/late',
      'default/evicted-but-done',
    ])
  })

  it.each([
    { threshold: 6, excess: 0, gone: [] },
    { threshold: 5, excess: 0, gone: [] },
    { threshold: 4, excess: 1, gone: ['default/evicted'] },
    {
      threshold: 1,
      excess: 4,
      gone: ['default/evicted', 'default/a', 'default/b', 'default/late'],
    },
    { threshold: 0, excess: 0, gone: [] },
    { threshold: -1, excess: 0, gone: [] },
  ])('of 5 with a threshold of $threshold, $excess go', ({ threshold, excess, gone }) => {
    const answer = round({ pods: five, terminatedPodThreshold: threshold })
    expect(answer.excess).toBe(excess)
    expect(answer.deletions.map(each => each.pod)).toEqual(gone)
  })

  it('returns the order but no excess if the threshold is unknown', () => {
    const answer = round({ pods: five, terminatedPodThreshold: null })
    expect(answer).toMatchObject({ excess: null, deletions: [] })
    expect(answer.terminated).toContainEqual({
      pod: 'default/evicted',
      uid: 'uid-evicted',
      rank: 0,
    })
  })

  it('counts every phase that is not Pending, Running or Unknown, even none', () => {
    const pods = ['Pending', 'Running', 'Unknown', 'Failed', 'Succeeded', ''].map(phase =>
      pod({ name: `p${phase}`, phase }),
    )
    const none = { metadata: { namespace: 'default', name: 'none' }, status: {} }
    const names = round({ pods: [...pods, none] }).terminated.map(each => each.pod)
    expect(names).toEqual(['default/none', 'default/p', 'default/pFailed', 'default/pSucceeded'])
  })

  it('puts a pod without a creation time before all others', () => {
    const timeless = { metadata: { name: 'z' }, status: { phase: 'Failed' } }
    expect(
      round({ pods: [pod({ name: 'a' }), timeless, pod({ name: 'b' })] }).terminated.map(
        each => each.pod,
      ),
    ).toEqual(['z', 'default/a', 'default/b'])
  })

  it('gives equals one rank, and takes any of them where the limit falls between', () => {
    const pods = [
      pod({ name: 'old', second: 1 }),
      pod({ name: 'same', namespace: 'a', second: 2 }),
      pod({ name: 'same', namespace: 'b', second: 2 }),
      pod({ name: 'young', second: 3 }),
    ]
    expect(round({ pods }).terminated.map(each => each.rank)).toEqual([0, 1, 1, 3])
    expect(deletionsOf({ pods, terminatedPodThreshold: 2 })).toEqual([
      ['default/old', 'terminated', 'certain', 0],
      ['a/same', 'terminated', 'possible', 1],
      ['b/same', 'terminated', 'possible', 1],
    ])
    expect(
      deletionsOf({ pods, terminatedPodThreshold: 1 }).map(([, , certainty]) => certainty),
    ).toEqual(['certain', 'certain', 'certain'])
  })
})

describe('terminating pods of a node out of service', () => {
  const pods = ['down', 'ready', 'untainted', 'silent', 'gone'].map(nodeName =>
    pod({ name: `on-${nodeName}`, nodeName, phase: 'Running', isDeleting: true }),
  )
  const nodes = [
    node('down', 'False', outOfService),
    node('ready', 'True', outOfService),
    node('untainted', 'Unknown'),
    node('silent', undefined, outOfService),
  ]
  const staying = pod({ name: 'staying', nodeName: 'down', phase: 'Running' })

  it('are deleted from nodes that are out of service', () => {
    const answer = round({ pods: [...pods, staying], nodes, missingForMs: new Map([['gone', 0]]) })
    expect(answer.deletions.map(each => [each.pod, each.reason])).toEqual(
      ['default/on-down', 'default/on-silent'].map(key => [key, 'out-of-service']),
    )
  })
})

describe('orphaned pods', () => {
  const pods = [
    pod({ name: 'lost', nodeName: 'gone', phase: 'Running' }),
    pod({ name: 'here', nodeName: 'n1', phase: 'Running' }),
    pod({ name: 'nowhere', phase: 'Pending' }),
  ]

  it.each([
    { missing: 39_999, expected: [] },
    { missing: 40_000, expected: [['default/lost', 'orphaned', 'certain', null]] },
    { missing: undefined, expected: [['default/lost', 'orphaned', 'possible', null]] },
  ])('of a node missed for $missing ms: $expected', ({ missing, expected }) => {
    expect(
      deletionsOf({
        pods,
        missingForMs: new Map(missing === undefined ? [] : [['gone', missing]]),
      }),
    ).toEqual(expected)
  })

  it('are unknown if nodes were not read', () => {
    expect(round({ pods, nodes: null })).toMatchObject({ deletions: [] })
  })
})

describe('what becomes of a pod', () => {
  it('names the reason of an orphan', () => {
    const answer = round({
      pods: [pod({ name: 'p', phase: 'Running', nodeName: 'gone' })],
      missingForMs: new Map([['gone', 40_000]]),
    })
    expect(answer.deletions).toEqual([
      { pod: 'default/p', uid: 'uid-p', reason: 'orphaned', certainty: 'certain', rank: null },
    ])
  })

  it('is deleted as unscheduled when it is terminating and has no node', () => {
    const answer = round({
      pods: [
        pod({ name: 'p', phase: 'Pending', isDeleting: true }),
        pod({ name: 'q', phase: 'Pending' }),
        pod({ name: 'r', phase: 'Running', nodeName: 'n1', isDeleting: true }),
      ],
    })
    expect(answer.deletions).toMatchObject([
      { pod: 'default/p', reason: 'unscheduled', certainty: 'certain' },
    ])
  })

  it('is listed once, under the first step that certainly deletes it', () => {
    const lost = pod({ name: 'lost', nodeName: 'gone' })
    const missingForMs = new Map([['gone', 40_000]])
    expect(
      deletionsOf({
        pods: [lost, pod({ name: 'young', second: 1 })],
        terminatedPodThreshold: 1,
        missingForMs,
      }),
    ).toEqual([['default/lost', 'terminated', 'certain', 0]])
    const equal = { ...lost, metadata: { ...lost.metadata, namespace: 'other' } }
    expect(
      deletionsOf({
        pods: [lost, { ...equal, spec: {} }],
        terminatedPodThreshold: 1,
        missingForMs,
      }),
    ).toEqual([
      ['other/lost', 'terminated', 'possible', 0],
      ['default/lost', 'orphaned', 'certain', null],
    ])
    expect(
      deletionsOf({ pods: [lost, { ...equal, spec: {} }], terminatedPodThreshold: 1 }),
    ).toEqual([
      ['default/lost', 'terminated', 'possible', 0],
      ['other/lost', 'terminated', 'possible', 0],
    ])
  })

  it('is not known where it has no status', () => {
    const answer = round({
      pods: [{ metadata: { name: 'bare' } }, {}, pod({ name: 'p' })],
      terminatedPodThreshold: 1,
    })
    expect(answer.deletions).toEqual([])
  })
})
