import { describe, expect, it } from 'vitest'
import { overdueJobTtl } from '#judge/rules/cluster-gc/overdue-job-ttl.ts'
import type { FinishedJob } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, job, jobs } from '#test/rules/cluster-garbage.ts'

const exampleJob = (expiresMs: number): FinishedJob => ({
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
  bad: { jobs: { finished: [exampleJob(hoursBefore(5))], cronJobs: [] } },
  good: { jobs: { finished: [exampleJob(hoursBefore(0.1))], cronJobs: [] } },
})

describe('overdue-job-ttl', () => {
  it.each([
    [hoursBefore(1), false],
    [hoursBefore(1) - 1, true],
    [null, false],
  ])('a Job that was due at %s', (expiresMs, fails) => {
    expect(failings('overdue-job-ttl', jobs(job({ expiresMs })))).toHaveLength(fails ? 1 : 0)
  })

  it('says what holds one that is going', () => {
    const [found] = failings(
      'overdue-job-ttl',
      jobs(job({ expiresMs: hoursBefore(9), isBeingDeleted: true, finalizers: ['b/x', 'a/y'] })),
    )
    expect(found?.consequence).toMatchSnapshot()
  })

  it('says that most were never deleted', () => {
    const overdue = ['a', 'b', 'c'].map(name => job({ name, expiresMs: hoursBefore(9) }))
    const [found] = failings(
      'overdue-job-ttl',
      jobs(
        ...overdue,
        job({ expiresMs: hoursBefore(9), isBeingDeleted: true, finalizers: ['x/y'] }),
      ),
    )
    expect(found?.consequence).toMatchSnapshot()
  })
})
