/**
 * Changes for a limited time: each node is read until image GC has done its work or the plan's time is over. Then the same run puts the old file
 * back, and reads the node until it runs as before. After a crash, the next run continues from the journal.
 */
import type { PlanStep } from '#model/plan/plan.ts'
import { isPruned } from '#remediate/plan/prune.ts'
import { lookBack, type Waiting } from '#remediate/verify/await-seen.ts'
import { stepKey } from './journal.ts'
import type { Effects, NodeWork } from './node-work.ts'
import { isOfTheWorld, sleepOrPause } from './pausing.ts'
import { all } from './take-back.ts'

const everyMs = 30_000

/** Whether a kubelet's thresholds are, or may be, lowered now, and the run itself will put them back. */
export const isPassing = (work: NodeWork, step: PlanStep): boolean =>
  step.until !== undefined && ['verified', 'returning'].includes(work.entry(step).state)

/** For verified nodes. They end in `pruned`, or in `broken` if the old file could not be put back. @throws Paused, Overtaken, or what the journal throws */
export async function endPassing(
  steps: readonly PlanStep[],
  work: NodeWork,
  effects: Effects,
  options: Waiting,
): Promise<void> {
  let open = steps.filter(step => isPassing(work, step))
  while (open.length > 0) {
    await noteDone(open, work, effects)
    const done = open.filter(step => work.entry(step).state === 'returning')
    await all(done, step => work.putBack(step))
    const returned = done.filter(
      step => work.entry(step).state === 'returning' && !options.end.aborted,
    )
    const whyOf = (step: PlanStep) => work.entry(step).why
    await lookBack(returned, work, effects, options, {
      seen: step => ({ state: 'pruned', why: `${whyOf(step)}; its thresholds are as before` }),
      unseen: (step, why) => ({
        state: 'broken',
        why: `${whyOf(step)}. It was put back, and is not as before: ${why}`,
      }),
    })
    open = open.filter(step => isPassing(work, step) && !done.includes(step))
    if (open.length > 0) await sleepOrPause(effects.clock, everyMs, options.end)
  }
}

async function noteDone(open: readonly PlanStep[], work: NodeWork, { imageUse, clock }: Effects) {
  const waiting = open.filter(step => work.entry(step).state === 'verified')
  if (waiting.length === 0) return
  const used = await imageUse(waiting).catch((error: unknown) => {
    if (!isOfTheWorld(error)) throw error
    return new Map<string, never>()
  })
  for (const step of waiting) {
    const { at, usedBytesBefore = null } = work.entry(step)
    const now = used.get(stepKey(step)) ?? null
    const { state, why } = isPruned(step, now?.usedPercent ?? null, at.applied ?? '', clock.now())
    if (state === 'waiting') continue
    const freed =
      usedBytesBefore === null || now === null
        ? 'how much was freed is not known'
        : `freed ${gib(usedBytesBefore - now.usedBytes)}`
    await work.note(step, { state: 'returning', why: `${freed}: ${why}` })
  }
}

/** Zero if other writes meanwhile used more space than image GC freed. */
const gib = (freedBytes: number) => `${(Math.max(freedBytes, 0) / 2 ** 30).toFixed(1)} GiB`
