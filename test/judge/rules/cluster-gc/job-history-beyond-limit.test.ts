import { jobHistoryBeyondLimit } from '#judge/rules/cluster-gc/job-history-beyond-limit.ts'
import type { CronJobGarbage } from '#model/cluster-garbage.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const cronJob = (limit: number, count: number): CronJobGarbage => ({
  namespace: 'batch',
  name: 'nightly',
  successful: { limit, count, excess: Math.max(0, count - limit) },
  failed: { limit: 1, count: 0, excess: 0 },
})

itJudgesExamples(jobHistoryBeyondLimit, {
  bad: { jobs: { finished: [], cronJobs: [cronJob(100, 90)] } },
  good: { jobs: { finished: [], cronJobs: [cronJob(3, 3)] } },
})
