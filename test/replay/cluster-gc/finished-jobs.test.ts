import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { controllerOf, parseMetadata } from '#replay/cluster-gc/section.ts'
import {
  cleanupFinishedJobs,
  expiryOf,
  finishedCondition,
} from '#replay/cluster-gc/sections/jobs.ts'
import { objectOf } from '#test/at-the-door.ts'

const finished = (type: string, status = 'True') => ({
  type,
  status,
  lastTransitionTime: '2025-01-01T00:00:00Z',
})
const job = (conditions: unknown[], ttlSecondsAfterFinished?: unknown, metadata: object = {}) => ({
  metadata: { namespace: 'apps', name: 'build', ...metadata },
  spec: { ttlSecondsAfterFinished },
  status: { conditions },
})
const start = Date.parse('2025-01-01T00:00:00Z')

describe('expiryOf', () => {
  it('is the end of the Job and its time to live', () => {
    expect(expiryOf(objectOf('jobs.batch', job([finished('Complete')], 60)))).toBe(start + 60_000)
    expect(expiryOf(objectOf('jobs.batch', job([finished('Failed')], 0)))).toBe(start)
  })

  it.each([
    { why: 'without a ttl', given: job([finished('Failed')]) },
    { why: 'with a ttl that is no number', given: job([finished('Failed')], '60') },
    {
      why: 'while it runs',
      given: job(
        [finished('Suspended'), finished('FailureTarget'), finished('Complete', 'False'), null],
        60,
      ),
    },
    { why: 'that is none', given: 'job' },
    {
      why: 'whose first end has no time',
      given: job([{ type: 'Failed', status: 'True' }, finished('Complete')], 60),
    },
  ])('never comes for a Job $why', ({ given }) => {
    expect(expiryOf(objectOf('jobs.batch', given))).toBeNull()
  })
})

const counted = (jobs: unknown[]) =>
  jobs.flatMap(raw => {
    const object = objectOf('jobs.batch', raw)
    const metadata = parseMetadata(object)
    const type = finishedCondition(object)?.type
    if (metadata === null || (type !== 'Complete' && type !== 'Failed')) return []
    const { namespace } = metadata
    return [{ job: { namespace, outcome: type } as const, owner: controllerOf(metadata) }]
  })

describe('cleanupFinishedJobs', () => {
  const newest = featuresOf('v1.37.0')
  const cronJob = (spec: object = {}) => ({
    metadata: { namespace: 'apps', name: 'nightly', uid: 'cron' },
    spec,
  })
  const owner = { name: 'nightly', uid: 'cron', controller: true }
  const ran = (
    name: string,
    condition: unknown,
    startTime: string | undefined = undefined,
    ownerReference: object = owner,
    namespace = 'apps',
  ) => ({
    metadata: {
      namespace,
      name,
      ownerReferences: [{ name: 'nightly', uid: 'cron' }, ownerReference],
    },
    status: { startTime, conditions: [condition] },
  })
  const complete = finished('Complete')
  const failed = finished('Failed')
  const history = (spec: object, jobs: unknown[], features = newest) =>
    cleanupFinishedJobs([objectOf('cronjobs.batch', cronJob(spec))], counted(jobs), features)[0]

  it('keeps 3 that succeeded and 1 that failed where nothing else is said', () => {
    const jobs = [1, 2, 3, 4].flatMap(day => [
      ran(`ok-${day}`, complete, `2025-01-0${day}T00:00:00Z`),
      ran(`bad-${day}`, failed, `2025-01-0${day}T00:00:00Z`),
    ])
    expect(history({}, jobs)).toEqual({
      namespace: 'apps',
      name: 'nightly',
      successful: { limit: 3, count: 4, excess: 1 },
      failed: { limit: 1, count: 4, excess: 3 },
    })
    expect(
      history({ successfulJobsHistoryLimit: 4, failedJobsHistoryLimit: 0 }, jobs),
    ).toMatchObject({ successful: { excess: 0 }, failed: { excess: 4 } })
    expect(history({ successfulJobsHistoryLimit: 9 }, jobs)).toMatchObject({
      successful: { limit: 9, excess: 0 },
    })
  })

  it('counts neither what runs nor what has no controller', () => {
    const jobs = [
      ran('running', finished('Suspended')),
      ran('free', complete, undefined, { name: 'nightly', uid: 'cron' }),
      null,
      ran('ok', complete),
    ]
    expect(history({ successfulJobsHistoryLimit: 0 }, jobs)?.successful).toEqual({
      limit: 0,
      count: 1,
      excess: 1,
    })
    expect(history({}, [])).toMatchObject({ successful: { count: 0 }, failed: { count: 0 } })
  })

  it.each([
    { version: 'v1.36.0', name: 'nightly', uid: 'former', count: 1 },
    { version: 'v1.36.0', name: 'other', uid: 'cron', count: 0 },
    { version: 'v1.37.0', name: 'nightly', uid: 'former', count: 0 },
    { version: 'v1.37.0', name: 'other', uid: 'cron', count: 1 },
  ])('$version counts Jobs of $name with the UID $uid: $count', ({ version, name, uid, count }) => {
    const jobs = [
      ran('one', complete, undefined, { name, uid, controller: true }),
      ran(
        'elsewhere',
        complete,
        undefined,
        { name: 'nightly', uid: 'foreign', controller: true },
        'other',
      ),
    ]
    expect(history({}, jobs, featuresOf(version))?.successful.count).toBe(count)
  })

  it('leaves out what is no CronJob', () => {
    expect(cleanupFinishedJobs([{}, { metadata: {} }], [], newest)).toEqual([])
  })
})
