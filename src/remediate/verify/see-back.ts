/** Nodes that were taken back are read anew until they show what they were before: the node's word alone is not the end of it. */
import type { PlanStep } from '#model/plan.ts'
import type { Conclusion } from '#remediate/run/conclude.ts'
import { stepKey } from '#remediate/run/journal.ts'
import type { Effects, NodeWork } from '#remediate/run/node-work.ts'
import { awaitSeen } from './await-verified.ts'

export interface SeeOptions {
  timeoutMs: number
  end: AbortSignal
}

const unseen = 'The node says that it is back, and it was not seen'

/** Notes of each whether it was seen. One that is put back stays so, seen or not. @throws Paused, or what the journal throws */
export async function seeBack(
  steps: readonly PlanStep[],
  work: NodeWork,
  effects: Effects,
  options: SeeOptions,
): Promise<void> {
  const open = steps.filter(
    step => work.entry(step).state === 'rolled-back' && work.entry(step).seenBack !== true,
  )
  const whyOf = (step: PlanStep) => work.entry(step).why?.split(`. ${unseen}`)[0] ?? null
  await lookBack(open, work, effects, options, {
    seen: step => ({ state: 'rolled-back', why: whyOf(step) }),
    unseen(step, why) {
      const before = whyOf(step) ?? 'taken back'
      return { state: 'rolled-back', why: `${before}. ${unseen}: ${why}` }
    },
  })
}

/** Reads nodes until they run as before their steps, and notes each. @throws likewise */
export async function lookBack(
  steps: readonly PlanStep[],
  work: NodeWork,
  { clock, verifyBack }: Effects,
  options: SeeOptions,
  ends: { seen(step: PlanStep): Conclusion; unseen(step: PlanStep, why: string): Conclusion },
): Promise<void> {
  const wrong = await awaitSeen(steps, clock, options, verifyBack, step =>
    work.note(step, ends.seen(step), { seenBack: true }),
  )
  for (const step of steps) {
    const why = wrong.get(stepKey(step))
    if (why === undefined || (await work.passOverGone(step))) continue
    await work.note(step, ends.unseen(step, why), { seenBack: false })
  }
}
