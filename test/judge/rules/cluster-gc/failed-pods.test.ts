import { failedPods } from '#judge/rules/cluster-gc/failed-pods.ts'
import { failedPod, hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const pods = { threshold: { pods: 12_500, isAssumed: true }, excess: 0, terminating: [] }

itJudgesExamples(failedPods, {
  bad: { pods: { ...pods, terminated: [failedPod(hoursBefore(72), null)] } },
  good: { pods: { ...pods, terminated: [failedPod(hoursBefore(1), null)] } },
})
