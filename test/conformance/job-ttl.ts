import { timeToLive } from '#replay/cluster-gc/finished-jobs.ts'
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
    const { needsCleanup, leftMs, expired, error } = timeToLive(job, Date.parse(now))
    return { needsCleanup, leftMs, expired, error }
  },
}
