import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { cleanupFinishedJobs, countedJob, timeToLive } from '#replay/cluster-gc/finished-jobs.ts'
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

describe('timeToLive', () => {
  it.each([
    { left: 1, nowMs: start + 59_999, expired: false },
    { left: 0, nowMs: start + 60_000, expired: true },
    { left: -1, nowMs: start + 60_001, expired: true },
  ])('with $left ms left, expired is $expired', ({ left, nowMs, expired }) => {
    expect(timeToLive(objectOf('jobs.batch', job([finished('Complete')], 60)), nowMs)).toEqual({
      needsCleanup: true,
      leftMs: left,
      expired,
      error: null,
      isDeleted: expired,
    })
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
  ])('never comes for a Job $why', ({ given }) => {
    expect(timeToLive(objectOf('jobs.batch', given), start)).toEqual({
      needsCleanup: false,
      leftMs: null,
      expired: null,
      error: null,
      isDeleted: false,
    })
  })

  it('takes the first condition that tells the end, even one without a time', () => {
    const timeless = { type: 'Failed', status: 'True' }
    expect(
      timeToLive(
        objectOf(
          'jobs.batch',
          job([finished('Complete', 'Unknown'), timeless, finished('Complete')], 60),
        ),
        start,
      ),
    ).toMatchSnapshot()
    const goZero = { ...timeless, lastTransitionTime: '0001-01-01T00:00:00Z' }
    expect(timeToLive(objectOf('jobs.batch', job([goZero], 60)), start).error).toMatchSnapshot()
    expect(
      timeToLive(objectOf('jobs.batch', { ...job([timeless], 60), metadata: {} }), start).error,
    ).toMatchSnapshot()
  })

  it('leaves a Job alone that is being deleted', () => {
    const given = job([finished('Failed')], 0, { deletionTimestamp: '2025-01-01T00:00:00Z' })
    expect(timeToLive(objectOf('jobs.batch', given), start)).toMatchObject({
      expired: true,
      isDeleted: false,
    })
    expect(timeToLive(objectOf('jobs.batch', { ...given, metadata: null }), start)).toMatchObject({
      expired: true,
      isDeleted: false,
    })
  })
})

const counted = (jobs: unknown[]) =>
  jobs.flatMap(job => countedJob(objectOf('jobs.batch', job)) ?? [])

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
      cronJob: 'apps/nightly',
      successful: { limit: 3, count: 4, deletions: ['apps/ok-1'] },
      failed: { limit: 1, count: 4, deletions: ['apps/bad-1', 'apps/bad-2', 'apps/bad-3'] },
    })
    expect(
      history({ successfulJobsHistoryLimit: 4, failedJobsHistoryLimit: 0 }, jobs),
    ).toMatchObject({
      successful: { deletions: [] },
      failed: { deletions: ['apps/bad-1', 'apps/bad-2', 'apps/bad-3', 'apps/bad-4'] },
    })
    expect(history({ successfulJobsHistoryLimit: 9 }, jobs)).toMatchObject({
      successful: { limit: 9, deletions: [] },
    })
  })

  it('goes by start time, then by name; what never started is the youngest', () => {
    const jobs = [
      ran('never', complete),
      ran('b', complete, '2025-01-02T00:00:00Z'),
      ran('a', complete, '2025-01-02T00:00:00Z'),
      ran('first', complete, '2025-01-01T00:00:00Z'),
      ran('also-never', complete),
    ]
    expect(history({ successfulJobsHistoryLimit: 0 }, jobs)?.successful.deletions).toEqual([
      'apps/first',
      'apps/a',
      'apps/b',
      'apps/also-never',
      'apps/never',
    ])
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
      deletions: ['apps/ok'],
    })
    expect(history({}, [])).toMatchObject({ successful: { count: 0 }, failed: { count: 0 } })
  })

  it.each([
    { version: 'v1.36.0', counted: ['apps/of-former'] },
    { version: 'v1.37.0', counted: ['apps/renamed'] },
  ])('$version counts $counted', ({ version, counted }) => {
    const jobs = [
      ran('of-former', complete, undefined, { name: 'nightly', uid: 'former', controller: true }),
      ran('renamed', complete, undefined, { name: 'other', uid: 'cron', controller: true }),
      ran(
        'elsewhere',
        complete,
        undefined,
        { name: 'nightly', uid: 'foreign', controller: true },
        'other',
      ),
    ]
    expect(
      history({ successfulJobsHistoryLimit: 0 }, jobs, featuresOf(version))?.successful.deletions,
    ).toEqual(counted)
  })

  it('leaves out what is no CronJob', () => {
    expect(cleanupFinishedJobs([{}, { metadata: {} }], [], newest)).toEqual([])
  })
})
