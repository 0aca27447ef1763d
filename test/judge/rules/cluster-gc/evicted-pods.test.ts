import { evictedPods } from '#judge/rules/cluster-gc/evicted-pods.ts'
import { evictedPodExamples } from '#test/examples/evicted-pods.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(evictedPods, evictedPodExamples)
