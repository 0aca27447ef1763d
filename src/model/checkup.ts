/** Result of `highwater doctor` for each cluster and its mode: what works, what is missing, and what was not tried (`highwater.doctor/1`). */
import type { ReadMode } from '#model/input/record.ts'

export const checkupSchema = 'highwater.doctor/1'

/**
 * `missing`: a right, a document or an identity does not exist. `failed`: the check failed for another reason. `unchecked`: the check would do harm, or
 * needs something that is missing. `note`: the check passed, with a note for the operator.
 */
export const checkStates = ['missing', 'failed', 'unchecked', 'note', 'ok'] as const
export type CheckState = (typeof checkStates)[number]

export interface Check {
  /** A right (`list nodes`, `ssm:SendCommand`), or a part of the connection (`endpoint`, `token`, `clock`, `node ip-…`). */
  what: string
  state: CheckState
  /** Observation of the check. */
  detail: string
  /** Data that stays unknown if the check does not pass; null: none. */
  without: string | null
}

export interface CheckFix {
  /** Where to apply the fix, for people. */
  target: string
  /** Text of the fix, to paste. */
  text: string
}

export interface ClusterCheckup {
  cluster: string
  mode: ReadMode
  /** `ok`: every check that ran passed; others might be `unchecked`. `unreachable`: the API server did not answer, for another reason than a missing right. */
  state: 'ok' | 'missing' | 'unreachable'
  checks: Check[]
  fixes: CheckFix[]
}

export interface Checkup {
  schema: typeof checkupSchema
  /** RFC 3339 */
  at: string
  clusters: ClusterCheckup[]
}
