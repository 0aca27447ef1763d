/** The plan made with an audit: how much it changes, and the command that approves the plan. */
import type { ReportedPlan } from '#model/plan/plan.ts'
import type { Language } from '#report/languages/language.ts'
import type { Fold } from '#report/text.ts'

/** Null: no plan was requested. */
export function planView(
  plan: ReportedPlan | null,
  { words: { plan: words }, ...language }: Language,
  fold: Fold = language.fold,
) {
  if (plan === null) return null
  if (plan.state === 'failed') return { text: words.failed(fold(plan.why, 600)), approval: null }
  const { nodes, waves, never, refused, unchanged, digest, command } = plan
  const beside = words.beside(never, refused, unchanged)
  if (nodes === 0) return { text: words.nothing(beside), approval: null }
  return {
    text: words.made(nodes, waves, beside),
    approval: { digest, command: fold(command, 600) },
  }
}
