/** What follows for a node from what came of a command to it. Null: nothing can be concluded, and it has to be asked again. */
import type { PlanStep } from '#model/plan.ts'
import type { StepState } from '#model/remediation.ts'
import type { Told } from './apply.ts'

export interface Conclusion {
  state: StepState
  why: string | null
}

/**
 * @param isFirst no command of this run was ever sent to the node before; after one, a refusal says nothing: the other may be at work, or have done it
 * @param oldSha256 of the step
 */
export function concludeApply(told: Told, isFirst: boolean, oldSha256: string): Conclusion | null {
  if (told.kind === 'unsent')
    return isFirst ? { state: 'skipped', why: `nothing was sent: ${told.why}` } : null
  if (told.kind === 'unknown')
    return isFirst && told.isRefused
      ? { state: 'failed', why: `nothing was changed: ${told.why}` }
      : null
  const { outcome, reason, presentSha256 } = told.answer
  switch (outcome) {
    case 'applied':
      return { state: 'applied', why: null }
    case 'unchanged':
      // With a reason it is none of what this run did, and what runs may be of before: nothing that a run could call its own.
      return isFirst && reason !== null
        ? {
            state: 'skipped',
            why: 'what the plan writes is on the node already: nothing was written, and nothing was started anew for it',
          }
        : { state: 'applied', why: null }
    case 'restored':
      return { state: 'restored', why: reason ?? 'the node put back what was there' }
    case 'refused':
      return isFirst
        ? { state: 'failed', why: `nothing was changed: the node refuses: ${reason}` }
        : null
    case 'failed':
      return isFirst || presentSha256 === oldSha256 ? { state: 'failed', why: reason } : null
    default:
      return null
  }
}

/** That a node had nothing to do says little of it: what is there now has to be what was there before. */
export function concludeRollback(
  told: Told,
  step: Pick<PlanStep, 'oldSha256' | 'newSha256' | 'backSha256'>,
): Conclusion | null {
  if (told.kind !== 'answer') return null
  const { outcome, reason, presentSha256 } = told.answer
  if (outcome === 'restored') return { state: 'rolled-back', why: reason }
  if (outcome !== 'unchanged' || presentSha256 === null) return null
  if (presentSha256 === step.oldSha256 || presentSha256 === step.backSha256)
    return { state: 'rolled-back', why: reason }
  const there =
    presentSha256 === step.newSha256
      ? 'what the plan writes is there still'
      : 'what is there now is not what was there before'
  return { state: 'broken', why: `${whatItSaid(told)}, but ${there}` }
}

/** For people: what a command came to that nothing can be concluded from. */
export function whatItSaid(told: Told): string {
  if (told.kind !== 'answer') return told.why
  const { outcome, reason } = told.answer
  return `the node says ${outcome}${reason === null ? '' : `: ${reason}`}`
}
