/** What planning returns. */

import type { Plan, ReportedPlan } from '#model/plan.ts'
import type { RenderedFile } from '#model/report.ts'

export interface PlanBeside {
  reported: ReportedPlan
  /** Null: the file could not be made. */
  file: RenderedFile | null
}

export interface PlanResult {
  plan: Plan
  /** Broken lines of the snapshot. */
  inputErrors: string[]
  /** Number of nodes refused only because too little of them was read. */
  unread: number
}
