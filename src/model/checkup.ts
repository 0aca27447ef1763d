/** What `highwater doctor` found: for each cluster and its mode what works, what is missing, and what could not be tried (`highwater.doctor/1`). */
import type { ReadMode } from './read-mode.ts'

export const checkupSchema = 'highwater.doctor/1'

/**
 * `missing`: a right, a document, an identity is not there. `failed`: something else is in the way. `unchecked`: trying it would do harm, or needs what is
 * missing. `note`: it works; the operator should know.
 */
export const checkStates = ['missing', 'failed', 'unchecked', 'note', 'ok'] as const
export type CheckState = (typeof checkStates)[number]

export interface Check {
  /** A right (`list nodes`, `ssm:SendCommand`), or a part of the way (`endpoint`, `token`, `clock`, `node ip-…`). */
  what: string
  state: CheckState
  /** What was seen. */
  detail: string
  /** What stays unknown without it; null where nothing does. */
  without: string | null
}

export interface CheckFix {
  /** Where to apply it, for people. */
  target: string
  /** To paste. */
  text: string
}

export interface ClusterCheckup {
  cluster: string
  mode: ReadMode
  /** `ok`: every check that ran passed; others may be `unchecked`. `unreachable`: the API server did not answer, and not for a missing right. */
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
