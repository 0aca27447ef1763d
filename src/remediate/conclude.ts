/** What follows for a node from what came of a command to it. Null: nothing can be concluded, and it has to be asked again. */
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
  if (told.kind === 'unsent') return isFirst ? { state: 'skipped', why: `nothing was sent: ${told.why}` } : null
  if (told.kind === 'unknown') return isFirst && told.isRefused ? { state: 'failed', why: `nothing was changed: ${told.why}` } : null
  const { outcome, reason, presentSha256 } = told.answer
  switch (outcome) {
    case 'applied':
      return { state: 'applied', why: null }
    case 'unchanged':
      return { state: 'applied', why: isFirst ? 'it was there already' : null }
    case 'restored':
      return { state: 'restored', why: reason ?? 'the node put back what was there' }
    case 'refused':
      return isFirst ? { state: 'failed', why: `nothing was changed: the node refuses: ${reason}` } : null
    case 'failed':
      return isFirst || presentSha256 === oldSha256 ? { state: 'failed', why: reason } : null
    default:
      return null
  }
}

export function concludeRollback(told: Told): Conclusion | null {
  if (told.kind !== 'answer') return null
  const { outcome, reason } = told.answer
  if (outcome === 'restored' || outcome === 'unchanged') return { state: 'rolled-back', why: reason }
  return null
}

/** For people: what a command came to that nothing can be concluded from. */
export function whatItSaid(told: Told): string {
  if (told.kind !== 'answer') return told.why
  const { outcome, reason } = told.answer
  return `the node says ${outcome}${reason === null ? '' : `: ${reason}`}`
}
