import { podStuckTerminating } from '#judge/rules/cluster-gc/pod-stuck-terminating.ts'
import type { TerminatingPod } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const hanging = (hoursAgo: number): TerminatingPod => ({
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

const pods = { terminated: [], threshold: { pods: 12_500, isAssumed: true }, excess: 0 }

itJudgesExamples(podStuckTerminating, {
  bad: { pods: { ...pods, terminating: [hanging(30)] } },
  good: { pods: { ...pods, terminating: [hanging(0.1)] } },
})
