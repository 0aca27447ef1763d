/** What planning returns. */

import type { Plan, ReportedPlan } from '#model/plan.ts'
import type { RenderedFile } from '#model/report.ts'

export interface PlanBeside {
  reported: ReportedPlan
  /** Null where it could not be made. */
  file: RenderedFile | null
}

export interface PlanResult {
  plan: Plan
  /** Broken lines of the snapshot. */
  inputErrors: string[]
  /** Nodes refused only because too little could be read of them. */
  unread: number
}
