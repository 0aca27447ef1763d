import type { FinishedJob } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'

const finished = (more: Partial<FinishedJob>): FinishedJob => ({
  namespace: 'batch',
  name: 'catalog-import-29384701',
  controller: null,
  outcome: 'Complete',
  finishedMs: hoursBefore(300),
  expiresMs: null,
  ttlSeconds: null,
  isBeingDeleted: false,
  finalizers: [],
  ...more,
})

const daySeconds = 86_400

export const jobExamples = {
  bad: { jobs: { finished: [finished({})], cronJobs: [] } },
  good: {
    jobs: {
      finished: [finished({ ttlSeconds: daySeconds, expiresMs: hoursBefore(-10) })],
      cronJobs: [],
    },
  },
}
