import { expect, it } from 'vitest'
import { mebibyte } from '#base/units.ts'
import { logRetentionTooShort } from '#judge/rules/logs/log-retention-too-short.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const pod = (name: string) => ({
  metadata: { namespace: 'shop', name },
  status: {
    containerStatuses: [
      {
        name: 'web',
        image: 'web:1',
        restartCount: 0,
        state: { running: { startedAt: '2026-11-20T23:50:00Z' } },
      },
    ],
  },
})

const node = (mib: number) => ({
  at: '2026-11-21T00:00:00Z',
  pods: [pod('web-0')],
  summary: {
    pods: [
      {
        podRef: { namespace: 'shop', name: 'web-0' },
        containers: [{ name: 'web', logs: { usedBytes: mib * mebibyte } }],
      },
    ],
  },
})

itJudgesExamples(logRetentionTooShort, { bad: node(40), good: node(8) })

it('advises no larger logs where logs of containers hold the disk', () => {
  const stateWith = (gib: number) => {
    const subject = exampleSubject({ ...node(40), held: { 'container-logs': gib, system: 5 } })
    return outcomeOf(logRetentionTooShort, subject, defaultPolicy).state
  }
  expect([76, 20].map(stateWith)).toEqual(['pass', 'fail'])
})
