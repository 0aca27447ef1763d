import { describe, expect, it } from 'vitest'
import { changedNotRestarted } from '#judge/rules/drift/changed-not-restarted.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ContextExample, exampleSubject } from '#test/example.ts'
import { restartExamples } from '#test/examples/changed-not-restarted.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(changedNotRestarted, restartExamples)

describe('changed-not-restarted', () => {
  const { bad, good } = restartExamples
  const judge = (example: ContextExample) =>
    outcomeOf(changedNotRestarted, exampleSubject(example), defaultPolicy)
  const nextStart = bad.nextStart
  if (!nextStart?.settings) throw new Error('the example has no files')
  const { settings } = nextStart

  it('names the file, what it says and what runs', () => {
    expect(judge(bad)).toMatchObject({
      failing: {
        confidence: 'certain',
        evidence: [
          { kind: 'layer', what: 'layer', value: 'configz' },
          {
            kind: 'declared',
            what: 'file imageGCHighThresholdPercent',
            value: '70 (/etc/kubernetes/kubelet/config.json)',
          },
          { kind: 'configz', what: 'imageGCHighThresholdPercent', value: '85' },
        ],
      },
    })
  })

  it('sees a key of a map that the files no longer have', () => {
    const configuration = {
      ...good.configuration,
      evictionHard: { ...good.configuration?.evictionHard, 'pid.available': '5%' },
    }
    expect(judge({ ...good, configuration })).toMatchObject({
      failing: {
        evidence: expect.arrayContaining([
          {
            kind: 'declared',
            what: 'file evictionHard.pid.available',
            value: 'none (no file names it)',
          },
        ]),
      },
    })
  })

  it('is silent about another spelling', () => {
    expect(
      judge({
        ...good,
        configuration: {
          ...good.configuration,
          imageMinimumGCAge: '120s',
          containerLogMaxSize: '10240Ki',
        },
      }).state,
    ).toBe('pass')
  })

  it.each<[string, ContextExample]>([
    ['files that were not read', { configuration: bad.configuration }],
    ['files that do not load', { ...bad, nextStart: { ...nextStart, settings: null } }],
    ['files that would be refused', { ...bad, nextStart: { ...nextStart, errors: ['invalid'] } }],
    [
      'flags that were not read',
      { ...bad, nextStart: { ...nextStart, settings: { ...settings, isCommandLineKnown: false } } },
    ],
    [
      'sound files of which one was not read',
      { ...good, doubts: { nextStart: 'one was not read' } },
    ],
  ])('is unknown for %s', (_, example) => {
    expect(judge(example).state).toBe('unknown')
  })

  it('is only likely where not all of the files were read', () => {
    expect(judge({ ...bad, doubts: { nextStart: 'one was not read' } })).toMatchObject({
      failing: { confidence: 'likely' },
    })
  })
})
