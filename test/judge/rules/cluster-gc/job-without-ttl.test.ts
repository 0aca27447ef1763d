import { describe, expect, it } from 'vitest'
import { jobWithoutTtl } from '#judge/rules/cluster-gc/job-without-ttl.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { jobExamples } from '#test/examples/job-without-ttl.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, job, jobs } from '#test/rules/cluster-garbage.ts'

itJudgesExamples(jobWithoutTtl, jobExamples)

describe('job-without-ttl', () => {
  it.each([
    ['that finished exactly so long ago', job({ finishedMs: hoursBefore(24) }), true],
    ['that finished a moment later', job({ finishedMs: hoursBefore(24) + 1 }), false],
    ['with an unknown end', job({ finishedMs: null }), true],
    ['of a CronJob', job({ controller: { kind: 'CronJob', name: 'c' } }), false],
    [
      'of another owner, with which it goes',
      job({ controller: { kind: 'Workflow', name: 'w' } }),
      false,
    ],
    ['with a time to live of nothing', job({ ttlSeconds: 0 }), false],
    ['that is going', job({ isBeingDeleted: true }), false],
  ])('a Job %s', (_, given, fails) => {
    expect(failings('job-without-ttl', jobs(given))).toHaveLength(fails ? 1 : 0)
  })

  it('is one failing a namespace, by name, with what ends it for no more than 20', () => {
    const many = Array.from({ length: 25 }, (_, index) =>
      job({ name: `j-${String(index).padStart(2, '0')}` }),
    )
    const [a, b] = failings('job-without-ttl', jobs(job({ namespace: 'z' }), ...many.toReversed()))
    expect([a, b].map(each => [each?.subject.name, each?.count])).toEqual([
      ['batch', 25],
      ['z', 1],
    ])
    expect(a?.commands[0]?.[1]).toMatch(
      /'\{"spec":\{"ttlSecondsAfterFinished":86400\}\}' j-00 .* j-19$/,
    )
    expect(a?.evidence.at(-1)?.value).toBe('j-00, j-01, j-02, j-03, j-04 and 20 more')
  })
})
