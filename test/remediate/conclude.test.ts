import { describe, expect, it } from 'vitest'
import type { ApplyAnswer } from '#model/plan.ts'
import { concludeApply, concludeRollback } from '#remediate/run/conclude.ts'

const [oldSha256, newSha256, backSha256, other] = ['a', 'b', 'c', 'd'].map(one =>
  one.repeat(64),
) as [string, string, string, string]
const step = { oldSha256, newSha256, backSha256 }
const answerWith = (
  outcome: ApplyAnswer['outcome'],
  presentSha256: string | null,
  reason: string | null = null,
) => ({
  kind: 'answer' as const,
  answer: {
    run: 'run-00000001',
    action: 'rollback' as const,
    instanceId: 'i-0123456789abcdef0',
    outcome,
    reason,
    oldSha256,
    newSha256,
    presentSha256,
    kubelet: null,
    steps: [],
  },
})

describe('a node that reports nothing to take back', () => {
  it.each([oldSha256, backSha256])('is taken back where it is as before: %s', present => {
    expect(concludeRollback(answerWith('unchanged', present), step)).toEqual({
      state: 'rolled-back',
      why: null,
    })
  })

  it.each([
    [newSha256, 'the node says unchanged: nothing to do, but what the plan writes is there still'],
    [
      other,
      'the node says unchanged: nothing to do, but what is there now is not what was there before',
    ],
  ])('is broken where %s is there', (present, why) => {
    expect(concludeRollback(answerWith('unchanged', present, 'nothing to do'), step)).toEqual({
      state: 'broken',
      why,
    })
  })

  it('is asked again where it cannot say what is there', () => {
    expect(concludeRollback(answerWith('unchanged', null), step)).toBeNull()
  })
})

describe('a node that has the new file already', () => {
  it('is passed over where it is not of this run', () => {
    expect(
      concludeApply(answerWith('unchanged', newSha256, 'it was there already'), true, oldSha256)
        ?.state,
    ).toBe('skipped')
  })

  it('was changed by this run where the node says so, or where a command may have done it', () => {
    expect(concludeApply(answerWith('unchanged', newSha256), true, oldSha256)?.state).toBe(
      'applied',
    )
    expect(
      concludeApply(answerWith('unchanged', newSha256, 'it was there already'), false, oldSha256)
        ?.state,
    ).toBe('applied')
  })
})
