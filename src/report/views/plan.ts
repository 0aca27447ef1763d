/** The plan that was made with an audit: how much it would change, and the line that approves it. */
import type { ReportedPlan } from '#model/plan.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { type Fold, foldedLine } from '#report/text.ts'

export interface PlanView {
  text: string
  /** Null where there is nothing to approve. */
  approval: { digest: string; command: string } | null
}

const wholeLine: Fold = foldedLine

/** Null: none was asked for. */
export function planView(plan: ReportedPlan | null, fold: Fold = wholeLine): PlanView | null {
  if (plan === null) return null
  if (plan.state === 'failed') return { text: `A plan of what can be fixed could not be made: ${fold(plan.why, 600)}`, approval: null }
  const { nodes, waves, never, refused, unchanged, digest, command } = plan
  const untouched = [
    `${formatCount(never)} never touched`,
    `${formatCount(refused)} refused`,
    `${formatCount(unchanged)} as wanted already`,
  ]
  const beside = `Beside them: ${untouched.join(', ')}.`
  if (nodes === 0) return { text: `No node would be changed by a plan of what can be fixed. ${beside}`, approval: null }
  return {
    text: `${counted(nodes, 'node')} can be mended in ${counted(waves, 'wave')}, one of each cohort first. ${beside} Nothing has been changed: plan.json says what would be written on which node, and what that would do. Who has read it approves it by:`,
    approval: { digest, command: fold(command, 600) },
  }
}
