import { describe, expect, it } from 'vitest'
import { jobHistoryBeyondLimit } from '#judge/rules/cluster-gc/job-history-beyond-limit.ts'
import type { CronJobGarbage } from '#model/cluster-garbage.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings } from '#test/rules/cluster-garbage.ts'

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

describe('job-history-beyond-limit', () => {
  const none = { limit: 1, count: 0, excess: 0 }
  const cronJob = (successful: CronJobGarbage['successful'], failed = none): CronJobGarbage => ({
    ...{ namespace: 'batch', name: 'c', isSuspended: false, createdMs: 0, lastScheduledMs: 0 },
    ...{ successful, failed },
  })
  it.each([
    [
      'one more than the limit, which has just finished',
      cronJob({ limit: 3, count: 4, excess: 1 }),
      false,
    ],
    ['two more', cronJob({ limit: 3, count: 5, excess: 2 }), true],
    ['two more that failed', cronJob(none, { limit: 1, count: 3, excess: 2 }), true],
    ['29 of many', cronJob({ limit: 100, count: 29, excess: 0 }), false],
    ['30 of many', cronJob({ limit: 100, count: 30, excess: 0 }), true],
    ['10 that failed', cronJob(none, { limit: 50, count: 10, excess: 0 }), true],
  ])('%s', (_, given, fails) => {
    expect(
      failings('job-history-beyond-limit', { jobs: { finished: [], cronJobs: [given] } }),
    ).toHaveLength(fails ? 1 : 0)
  })
})

describe('what ends a CronJob’s history that is too long', () => {
  const none = { count: 0, excess: 0 }
  const commands = (successful: CronJobGarbage['successful'], failed: CronJobGarbage['failed']) =>
    failings('job-history-beyond-limit', {
      jobs: {
        finished: [],

        cronJobs: [{ namespace: 'batch', name: 'c', successful, failed }],
      },
    })[0]?.commands
  it('is lower limits, and never a higher one', () => {
    expect(commands({ limit: 100, count: 90, excess: 0 }, { limit: 0, ...none })).toMatchSnapshot()
  })
  it('is no cause where the limits are low and not reached', () => {
    expect(commands({ limit: 1, count: 4, excess: 3 }, { limit: 0, ...none })).toEqual([
      ['reads', 'kubectl describe cronjob c -n batch'],
    ])
  })
})
