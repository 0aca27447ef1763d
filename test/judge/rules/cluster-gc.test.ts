/** The boundaries of the rules on a cluster's own objects. */
import { describe, expect, it } from 'vitest'
import { judgeCluster } from '#judge/cluster-rules.ts'
import type { ClusterFailing, ClusterRule } from '#judge/rule.ts'
import { rules } from '#judge/rules/index.ts'
import type {
  CronJobGarbage,
  FinishedJob,
  HeldFinalizer,
  NodeLeaseGarbage,
  TerminatedPod,
  TerminatingPod,
} from '#model/cluster-garbage.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ClusterExample, exampleCluster, hoursBefore } from '#test/example-cluster.ts'

function judged(id: string, example: ClusterExample, minAgeHours = 24) {
  const rule = rules.find((each): each is ClusterRule => each.kind === 'cluster' && each.id === id)
  if (!rule) throw new Error(`no rule ${id}`)
  return judgeCluster(rule, exampleCluster(example), {
    ...defaultPolicy,
    clusterGarbage: { ...defaultPolicy.clusterGarbage, minAgeHours },
  })
}
const failings = (...of: Parameters<typeof judged>): ClusterFailing[] => judged(...of).failings
const hours = (count: number) => hoursBefore(count)

const job = (more: Partial<FinishedJob>): FinishedJob => ({
  ...{
    namespace: 'batch',
    name: 'j',
    controller: null,
    outcome: 'Complete',
    finishedMs: hours(100),
    expiresMs: null,
    ttlSeconds: null,
  },
  ...{ isBeingDeleted: false, finalizers: [] },
  ...more,
})
const jobs = (...finished: FinishedJob[]) => ({ jobs: { finished, cronJobs: [] } })

describe('job-without-ttl', () => {
  it.each([
    ['that finished exactly so long ago', job({ finishedMs: hours(24) }), true],
    ['that finished a moment later', job({ finishedMs: hours(24) + 1 }), false],
    ['of which nobody knows when it finished', job({ finishedMs: null }), true],
    ['of a CronJob', job({ controller: { kind: 'CronJob', name: 'c' } }), false],
    [
      'of another owner, with which it goes',
      job({ controller: { kind: 'Workflow', name: 'w' } }),
      false,
    ],
    ['with a time to live of nothing', job({ ttlSeconds: 0 }), false],
    ['that is going', job({ isBeingDeleted: true }), false],
  ])('a Job %s', (_, given, fails) => {
    expect(failings('job-without-ttl', jobs(given))).toHaveLength(fails ? 1 : 0)
  })

  it('is one failing a namespace, by name, with what ends it for no more than 20', () => {
    const many = Array.from({ length: 25 }, (_, index) =>
      job({ name: `j-${String(index).padStart(2, '0')}` }),
    )
    const [a, b] = failings('job-without-ttl', jobs(job({ namespace: 'z' }), ...many.toReversed()))
    expect([a, b].map(each => [each?.subject.name, each?.count])).toEqual([
      ['batch', 25],
      ['z', 1],
    ])
    expect(a?.commands[0]).toMatch(/'\{"spec":\{"ttlSecondsAfterFinished":86400\}\}' j-00 .* j-19$/)
    expect(a?.evidence.at(-1)?.value).toBe('j-00, j-01, j-02, j-03, j-04 and 20 more')
  })
})

describe('overdue-job-ttl', () => {
  it.each([
    [hours(1), false],
    [hours(1) - 1, true],
    [null, false],
  ])('a Job that was due at %s', (expiresMs, fails) => {
    expect(failings('overdue-job-ttl', jobs(job({ expiresMs })))).toHaveLength(fails ? 1 : 0)
  })

  it('says what holds one that is going', () => {
    const [found] = failings(
      'overdue-job-ttl',
      jobs(job({ expiresMs: hours(9), isBeingDeleted: true, finalizers: ['b/x', 'a/y'] })),
    )
    expect(found?.consequence).toMatchSnapshot()
  })

  it('says of those that nobody began to delete that they are most', () => {
    const overdue = ['a', 'b', 'c'].map(name => job({ name, expiresMs: hours(9) }))
    const [found] = failings(
      'overdue-job-ttl',
      jobs(...overdue, job({ expiresMs: hours(9), isBeingDeleted: true, finalizers: ['x/y'] })),
    )
    expect(found?.consequence).toMatchSnapshot()
  })
})

describe('job-history-beyond-limit', () => {
  const none = { limit: 1, count: 0, excess: 0 }
  const cronJob = (successful: CronJobGarbage['successful'], failed = none): CronJobGarbage => ({
    ...{ namespace: 'batch', name: 'c', isSuspended: false, createdMs: 0, lastScheduledMs: 0 },
    ...{ successful, failed },
  })
  it.each([
    [
      'one more than the limit, which has just finished',
      cronJob({ limit: 3, count: 4, excess: 1 }),
      false,
    ],
    ['two more', cronJob({ limit: 3, count: 5, excess: 2 }), true],
    ['two more that failed', cronJob(none, { limit: 1, count: 3, excess: 2 }), true],
    ['29 of many', cronJob({ limit: 100, count: 29, excess: 0 }), false],
    ['30 of many', cronJob({ limit: 100, count: 30, excess: 0 }), true],
    ['10 that failed', cronJob(none, { limit: 50, count: 10, excess: 0 }), true],
  ])('%s', (_, given, fails) => {
    expect(
      failings('job-history-beyond-limit', { jobs: { finished: [], cronJobs: [given] } }),
    ).toHaveLength(fails ? 1 : 0)
  })
})

describe('what ends a CronJob’s history that is too long', () => {
  const none = { count: 0, excess: 0 }
  const commands = (successful: CronJobGarbage['successful'], failed: CronJobGarbage['failed']) =>
    failings('job-history-beyond-limit', {
      jobs: {
        finished: [],

        cronJobs: [{ namespace: 'batch', name: 'c', successful, failed }],
      },
    })[0]?.commands
  it('is lower limits, and never a higher one', () => {
    expect(commands({ limit: 100, count: 90, excess: 0 }, { limit: 0, ...none })).toMatchSnapshot()
  })
  it('is none of them where they are low, and nobody comes to it', () => {
    expect(commands({ limit: 1, count: 4, excess: 3 }, { limit: 0, ...none })).toEqual([
      'kubectl describe cronjob c -n batch',
    ])
  })
})

describe('orphaned-dependent', () => {
  const orphan = (kind: string, name: string, replicas: number | null) => ({
    ...{
      kind,
      namespace: 'shop',
      name,
      controllerKind: 'ReplicaSet',
      createdMs: hours(900),
      replicas,
    },
  })
  const told = (...orphaned: ReturnType<typeof orphan>[]) =>
    failings('orphaned-dependent', { owners: { dangling: [], blocked: [], orphaned } })[0]
      ?.consequence
  it.each([
    ['a pod that has finished', [orphan('Pod', 'a', 0)], 'has let go.'],
    ['a pod that runs', [orphan('Pod', 'a', 1)], 'has let go; it may still run.'],
    [
      'a ReplicaSet of pods',
      [orphan('ReplicaSet', 'a', 2)],
      'has let go; pods of it may still run.',
    ],
    [
      'pods of which one runs',
      [orphan('Pod', 'a', 1), orphan('Pod', 'b', 0)],
      'has let go; 1 may still run.',
    ],
    [
      'all kinds',
      [orphan('Pod', 'a', 1), orphan('ReplicaSet', 'b', 3), orphan('Job', 'c', null)],
      'has let go; pods of 2 may still run.',
    ],
  ])('says of %s whether anything runs', (_, orphaned, words) => {
    expect(told(...orphaned)).toMatch(new RegExp(`${words.replaceAll('.', '\\.')}$`))
  })
})

const pod = (more: Partial<TerminatedPod>): TerminatedPod => ({
  ...{
    namespace: 'shop',
    name: 'p',
    phase: 'Failed',
    reason: null,
    controller: null,
    node: 'n',
    createdMs: hours(90),
    finishedMs: hours(80),
  },
  isBeingDeleted: false,
  ...more,
})
const pods = (...terminated: TerminatedPod[]) => ({
  pods: { terminated, threshold: { pods: 12_500, isAssumed: true }, excess: 0, terminating: [] },
})

describe('failed-pods and evicted-pods', () => {
  it.each([
    ['that failed', pod({}), [1, 0]],
    ['that was evicted', pod({ reason: 'Evicted' }), [0, 1]],
    ['that its node’s shutdown ended', pod({ reason: 'Terminated' }), [0, 1]],
    ['that succeeded', pod({ phase: 'Succeeded' }), [0, 0]],
    ['that is going', pod({ isBeingDeleted: true }), [0, 0]],
    ['that failed a moment too late', pod({ finishedMs: hours(24) + 1 }), [0, 0]],
    ['that never ran and was made long ago', pod({ finishedMs: null }), [1, 0]],
  ])('of a pod %s', (_, given, [failed, evicted]) => {
    expect(failings('failed-pods', pods(given))).toHaveLength(failed ?? 0)
    expect(failings('evicted-pods', pods(given))).toHaveLength(evicted ?? 0)
  })

  it('say whose they are, and that a threshold of 0 never takes them', () => {
    const of = (name: string) => ({ kind: 'ReplicaSet', name })
    const example = pods(
      pod({ name: 'a', controller: of('x') }),
      pod({ name: 'b', controller: of('x') }),
      pod({ name: 'c' }),
    )
    const [found] = failings('failed-pods', {
      pods: { ...example.pods, threshold: { pods: 0, isAssumed: false } },
    })
    expect(found?.evidence).toContainEqual(
      expect.objectContaining({
        kind: 'object',
        what: 'controlled by',
        value: 'ReplicaSet x: 2, none: 1',
      }),
    )
    expect(found?.consequence).toContain('pod GC deletes never')
  })

  it.each([
    [
      { pods: 12_500, isAssumed: true },
      0,
      'not before more than 12500 (assumed) pods',
      "12500, upstream's default: EKS does not say",
    ],
    [{ pods: 12_500, isAssumed: false }, 0, 'not before more than 12500 pods', undefined],
    [
      { pods: 10, isAssumed: false },
      7,
      'keeps 10, and deletes the first 7 in its next round',
      undefined,
    ],
  ])('say what the threshold %j means where %d are beyond it', (threshold, excess, words, told) => {
    const [found] = failings('failed-pods', { pods: { ...pods(pod({})).pods, threshold, excess } })
    expect(found?.consequence).toContain(words)
    expect(found?.evidence.find(({ what }) => what === 'threshold of pod GC')?.value).toBe(told)
  })
})

describe('terminated-pods-near-threshold', () => {
  const given = (count: number, limit: number, isAssumed = false) => ({
    pods: {
      terminated: Array.from({ length: count }, (_, index) => pod({ name: `p-${index}` })),
      ...{
        threshold: { pods: limit, isAssumed },
        excess: Math.max(0, count - limit),
        terminating: [],
      },
    },
  })
  it.each([
    [7, 10, 0],
    [8, 10, 1],
    [11, 10, 1],
    [50, 0, 0],
    [50, -1, 0],
  ])('%i of %i', (count, limit, fails) => {
    expect(failings('terminated-pods-near-threshold', given(count, limit))).toHaveLength(fails)
  })

  it('says what goes first, and how soon; of an assumed threshold nothing is certain', () => {
    expect(
      failings('terminated-pods-near-threshold', given(12, 10))[0]?.consequence,
    ).toMatchSnapshot()
    const [assumed] = failings('terminated-pods-near-threshold', given(10, 10, true))
    expect(assumed).toMatchObject({
      confidence: 'likely',
      consequence: expect.stringMatching(/^After 1 more finished pod pod GC begins/),
    })
    expect(failings('terminated-pods-near-threshold', given(10, 10))[0]?.confidence).toBeUndefined()
  })
})

describe('pod-stuck-terminating', () => {
  const audit: HeldFinalizer = { finalizer: 'a/b', controller: null, state: 'unknown' }
  const ofJob: HeldFinalizer = {
    finalizer: 'batch.kubernetes.io/job-tracking',
    controller: 'the Job controller',
    state: 'control-plane',
  }
  const hanging = (more: Partial<TerminatingPod>): TerminatingPod => ({
    ...{
      namespace: 'shop',
      name: 'p',
      controller: null,
      node: 'n',
      sinceMs: hours(30),
      finalizers: [],
      nodeState: 'ready',
      isTakenByPodGc: false,
      isLetGo: false,
    },
    ...more,
  })
  it.each([
    ['on a node that is ready', {}, 'the kubelet of n has not ended it'],
    [
      'on a node that is not',
      { nodeState: 'not-ready' },
      'its node n is not Ready, so no kubelet ends it',
    ],
    [
      'on a node that is gone',
      { nodeState: 'gone' },
      'its node n is gone, and pod GC has not taken it',
    ],
    [
      'with a finalizer, on no node',
      { nodeState: 'none', node: null, finalizers: [audit] },
      'no known controller removes the finalizer a/b',
    ],
    [
      'with a finalizer, on a ready node',
      { finalizers: [audit] },
      'its kubelet holds it, or else no known controller removes the finalizer a/b',
    ],
    [
      'let go by its kubelet, with a finalizer',
      { finalizers: [audit], isLetGo: true },
      'no known controller removes the finalizer a/b',
    ],
    [
      'held by a controller that is known',
      { finalizers: [ofJob], isTakenByPodGc: true },
      'the Job controller has not taken away the finalizer batch.kubernetes.io/job-tracking',
    ],
    [
      'held by two',
      { nodeState: 'gone', finalizers: [audit, ofJob] },
      'no known controller removes the finalizer a/b; the Job controller has not taken away the finalizer batch.kubernetes.io/job-tracking',
    ],
    [
      'on a node of which nothing is known',
      { nodeState: 'not-read' },
      'whether its node n is there is not known',
    ],
  ] as const)('%s', (_, more, reason) => {
    const [found] = failings('pod-stuck-terminating', {
      pods: { ...pods().pods, terminating: [hanging(more)] },
    })
    expect(found?.consequence).toBe(`1 pod of shop does not go: ${reason}.`)
  })

  it('says whose the pods are, however long and strange a name is', () => {
    const of = (kind: string, name: string) =>
      hanging({ name: `${name.slice(0, 9)}-0`, controller: { kind, name } })
    const terminating = [
      of('StatefulSet', 'cart'),
      of('StatefulSet', 'cart'),
      of('Job', `\u202ex\n${'y'.repeat(5000)}`),
      hanging({}),
    ]
    const [found] = failings('pod-stuck-terminating', { pods: { ...pods().pods, terminating } })
    const whose = found?.evidence.find(({ what }) => what === 'controlled by')?.value ?? ''
    expect(whose).toMatchSnapshot()
    expect(whose.length).toBeLessThan(400)
  })
  it('leaves a pod alone that has not hung for long', () => {
    expect(
      failings('pod-stuck-terminating', {
        pods: { ...pods().pods, terminating: [hanging({ sinceMs: hours(23) })] },
      }),
    ).toEqual([])
  })
})

describe('leases', () => {
  const lease = (more: Partial<NodeLeaseGarbage>): NodeLeaseGarbage => ({
    node: 'n',
    state: 'held',
    renewedMs: hours(30),
    isExpired: true,
    ...more,
  })
  const leases = (...nodes: NodeLeaseGarbage[]) => ({ leases: { nodes } })
  it.each([
    ['held', [0, 1]],
    ['ownerless', [0, 1]],
    ['stale-owner', [0, 1]],
    ['collectable', [1, 0]],
    ['leftover', [1, 0]],
    ['unknown', [0, 0]],
  ] as const)('of a node that is %s', (state, [leftover, unrenewed]) => {
    expect(failings('leftover-lease', leases(lease({ state })))).toHaveLength(leftover)
    expect(failings('unrenewed-lease', leases(lease({ state })))).toHaveLength(unrenewed)
  })

  it('that were renewed lately are nobody’s garbage', () => {
    for (const state of ['held', 'leftover', 'collectable'] as const) {
      expect(
        failings('leftover-lease', leases(lease({ state, renewedMs: hours(24) + 1 }))),
      ).toEqual([])
      expect(
        failings('unrenewed-lease', leases(lease({ state, renewedMs: hours(24) + 1 }))),
      ).toEqual([])
    }
  })

  it.each([
    [['leftover'], 'a node that is gone, and has no owner: nothing will ever delete it.'],
    [
      ['collectable'],
      'a node that is gone, and has that as owner: the garbage collector should have deleted it, and has not.',
    ],
    [
      ['leftover', 'collectable'],
      'a node that is gone, 1 without an owner; the garbage collector should have deleted the others.',
    ],
  ] as const)('of nodes that are gone say who should have taken them: %j', (states, words) => {
    const [found] = failings('leftover-lease', leases(...states.map(state => lease({ state }))))
    expect(found?.consequence).toContain(words)
  })

  it('that the collector has yet to take are nobody’s garbage where it is not known since when', () => {
    expect(
      failings('leftover-lease', leases(lease({ state: 'collectable', renewedMs: null }))),
    ).toEqual([])
  })

  it('of which nobody knows whether their nodes are there pass only where all are renewed', () => {
    const states = (renewedMs: number) =>
      ['leftover-lease', 'unrenewed-lease'].map(
        id => judged(id, leases(lease({ state: 'unknown', renewedMs }))).outcome.state,
      )
    expect(states(hours(24))).toEqual(['unknown', 'unknown'])
    expect(states(hours(24) + 1)).toEqual(['unknown', 'pass'])
  })

  it('name their nodes', () => {
    const [found] = failings('unrenewed-lease', leases(lease({ node: 'b' }), lease({ node: 'a' })))
    expect(found?.nodes).toEqual(['a', 'b'])
  })
})

describe('nodes', () => {
  const notReady = (sinceMs: number | null) => ({
    nodes: { notReady: [{ node: 'n', ready: 'False' as const, sinceMs, reason: null }] },
  })
  it('are not Ready for long from the age on that the policy sets', () => {
    expect(failings('node-not-ready-long', notReady(hours(24)))).toHaveLength(1)
    expect(failings('node-not-ready-long', notReady(hours(24) + 1))).toEqual([])
    expect(failings('node-not-ready-long', notReady(hours(2)), 2)).toHaveLength(1)
  })

  it('are told of once: where the instance is gone, that is what is said', () => {
    const of = (instances: ClusterExample['instances']) => ({
      ...notReady(hours(30)),
      ...(instances && { instances }),
    })
    const gone = { withoutInstance: [{ node: 'n', instanceId: 'i-1', sinceMs: hours(30) }] }
    expect(failings('node-not-ready-long', of(gone))).toEqual([])
    expect(failings('node-without-instance', of(gone))).toHaveLength(1)
    const [found] = failings('node-not-ready-long', of({ withoutInstance: [] }))
    expect(found?.consequence).toMatchSnapshot()
    const rule = rules.find(
      (each): each is ClusterRule => each.id === 'node-not-ready-long' && each.kind === 'cluster',
    )
    const unread = { ...exampleCluster(notReady(hours(30))), instances: null }
    expect(
      rule && judgeCluster(rule, unread, defaultPolicy).failings[0]?.consequence,
    ).toMatchSnapshot()
  })
})
