import { nodeNotReadyLong } from '#judge/rules/cluster-gc/node-not-ready-long.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const node = (hoursAgo: number) => ({
  node: 'ip-10-0-1-2.ec2.internal',
  ready: 'Unknown' as const,
  sinceMs: hoursBefore(hoursAgo),
  reason: 'NodeStatusUnknown',
})

itJudgesExamples(nodeNotReadyLong, {
  bad: { nodes: { notReady: [node(60)] } },
  good: { nodes: { notReady: [node(0.2)] } },
})
