/** The node's new state from the result of its command. Null: undecided; read the result again. */
import type { PlanStep, StepState } from '#model/plan.ts'
import type { CommandResult } from './apply.ts'

export interface Conclusion {
  state: StepState
  why: string | null
}

/**
 * @param isFirst this run sent no command to the node before. After one, a refusal proves nothing: the earlier command may be running or done
 * @param oldSha256 of the step
 */
export function concludeApply(
  result: CommandResult,
  isFirst: boolean,
  oldSha256: string,
): Conclusion | null {
  if (result.kind === 'unsent')
    return isFirst ? { state: 'skipped', why: `nothing was sent: ${result.why}` } : null
  if (result.kind === 'unknown')
    return isFirst && result.isRefused
      ? { state: 'failed', why: `nothing was changed: ${result.why}` }
      : null
  const { outcome, reason, presentSha256 } = result.answer
  switch (outcome) {
    case 'applied':
      return { state: 'applied', why: null }
    case 'unchanged':
      // With a reason, this run did not make the state; the kubelet might run an older configuration.
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

/** `unchanged` alone does not prove a rollback: the present hash must be the one from before the step. */
export function concludeRollback(
  result: CommandResult,
  step: Pick<PlanStep, 'oldSha256' | 'newSha256' | 'backSha256'>,
): Conclusion | null {
  if (result.kind !== 'answer') return null
  const { outcome, reason, presentSha256 } = result.answer
  if (outcome === 'restored') return { state: 'rolled-back', why: reason }
  if (outcome !== 'unchanged' || presentSha256 === null) return null
  if (presentSha256 === step.oldSha256 || presentSha256 === step.backSha256)
    return { state: 'rolled-back', why: reason }
  const there =
    presentSha256 === step.newSha256
      ? 'what the plan writes is there still'
      : 'what is there now is not what was there before'
  return { state: 'broken', why: `${resultText(result)}, but ${there}` }
}

/** For people: the result of a command from which no state can be concluded. */
export function resultText(result: CommandResult) {
  if (result.kind !== 'answer') return result.why
  const { outcome, reason } = result.answer
  return `the node says ${outcome}${reason === null ? '' : `: ${reason}`}`
}
