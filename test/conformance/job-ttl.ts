import { expiryOf, finishedCondition } from '#replay/cluster-gc/sections/jobs.ts'
import { objectOf } from '#test/at-the-door.ts'
import type { Family } from './family.ts'

interface Input {
  ttlSecondsAfterFinished?: number | null
  conditions?: unknown[] | null
  now: string
}

export const jobTtl: Family<Input> = {
  name: 'job-ttl',
  answer({ ttlSecondsAfterFinished, conditions, now }) {
    const job = objectOf('jobs.batch', {
      metadata: { namespace: 'default', name: 'job' },
      spec: { ttlSecondsAfterFinished },
      status: { conditions },
    })
    const expiresMs = expiryOf(job)
    const needsCleanup =
      job.spec?.ttlSecondsAfterFinished != null && finishedCondition(job) !== null
    const leftMs = expiresMs === null ? null : expiresMs - Date.parse(now)
    return {
      needsCleanup,
      leftMs,
      expired: leftMs === null ? null : leftMs <= 0,
      error:
        needsCleanup && leftMs === null
          ? 'unable to find the time when the Job default/job finished'
          : null,
    }
  },
}
