import { terminatedPodsNearThreshold } from '#judge/rules/cluster-gc/terminated-pods-near-threshold.ts'
import { failedPod, hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const many = (count: number) => ({
  terminated: Array.from({ length: count }, (_, index) => ({
    ...failedPod(hoursBefore(1), null),
    name: `report-${index}`,
  })),
  threshold: { pods: 10, isAssumed: false },
  excess: Math.max(0, count - 10),
  terminating: [],
})

itJudgesExamples(terminatedPodsNearThreshold, { bad: { pods: many(9) }, good: { pods: many(3) } })
