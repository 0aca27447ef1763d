import { overdueJobTtl } from '#judge/rules/cluster-gc/overdue-job-ttl.ts'
import type { FinishedJob } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const job = (expiresMs: number): FinishedJob => ({
  namespace: 'batch',
  name: 'import-1',
  controller: null,
  outcome: 'Complete',
  finishedMs: expiresMs - 60_000,
  expiresMs,
  ttlSeconds: 60,
  isBeingDeleted: false,
  finalizers: [],
})

itJudgesExamples(overdueJobTtl, {
  bad: { jobs: { finished: [job(hoursBefore(5))], cronJobs: [] } },
  good: { jobs: { finished: [job(hoursBefore(0.1))], cronJobs: [] } },
})
