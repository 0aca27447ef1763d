import { describe, expect, it } from 'vitest'
import { podStuckTerminating } from '#judge/rules/cluster-gc/pod-stuck-terminating.ts'
import type { HeldFinalizer, TerminatingPod } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, pods } from '#test/rules/cluster-garbage.ts'

const overdue = (hoursAgo: number): TerminatingPod => ({
  namespace: 'shop',
  name: 'cart-0',
  controller: { kind: 'StatefulSet', name: 'cart' },
  node: 'ip-10-0-1-2.ec2.internal',
  sinceMs: hoursBefore(hoursAgo),
  finalizers: [],
  nodeState: 'not-ready',
  isTakenByPodGc: false,
  isLetGo: false,
})

itJudgesExamples(podStuckTerminating, {
  bad: { pods: { ...pods().pods, terminating: [overdue(30)] } },
  good: { pods: { ...pods().pods, terminating: [overdue(0.1)] } },
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
      sinceMs: hoursBefore(30),
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
        pods: { ...pods().pods, terminating: [hanging({ sinceMs: hoursBefore(23) })] },
      }),
    ).toEqual([])
  })
})
