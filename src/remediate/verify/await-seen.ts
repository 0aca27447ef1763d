/** Waits until a new reading of the nodes shows the wanted state: a node's own answer is not enough. */

import { messageOf } from '#base/operator-error.ts'
import { probePeriodMs } from '#facts/kubelet/periods.ts'
import { type PlanStep, stepKey, type Verification } from '#model/plan.ts'
import type { Conclusion } from '#remediate/run/conclude.ts'
import type { Effects, NodeWork } from '#remediate/run/node-work.ts'
import { type Clock, isWorldFailure, sleepOrPause } from '#remediate/run/pausing.ts'

const everyMs = 15_000

export interface Waiting {
  timeoutMs: number
  end: AbortSignal
}

/** Waits until nodes are well after their change, and notes them. @returns by `cluster/node` why a node is not @throws Paused, or what the journal throws */
export async function awaitVerified(
  steps: readonly PlanStep[],
  work: NodeWork,
  { clock, verify }: Pick<Effects, 'clock' | 'verify'>,
  waiting: Waiting,
) {
  // No node counts as well before: an earlier reading would be for nothing.
  if (steps.length > 0)
    await sleepOrPause(clock, Math.min(probePeriodMs, waiting.timeoutMs), waiting.end)
  return awaitVerification(
    steps,
    clock,
    waiting,
    some => verify(some.map(step => ({ step, entry: work.entry(step) }))),
    step => work.note(step, { state: 'verified', why: work.entry(step).why }),
  )
}

/**
 * @param look reads nodes anew, by `cluster/node`; a missing node could not be read
 * @param seen called for each node as soon as it is verified
 * @returns by `cluster/node` why a node is not verified @throws Paused, or what `seen` throws
 */
async function awaitVerification(
  steps: readonly PlanStep[],
  clock: Clock,
  { timeoutMs, end }: Waiting,
  look: (steps: readonly PlanStep[]) => Promise<ReadonlyMap<string, Verification>>,
  seen: (step: PlanStep) => Promise<void>,
) {
  const untilMs = clock.elapsedMs() + timeoutMs
  const wrong = new Map<string, string>()
  let open = [...steps]
  while (open.length > 0) {
    const found = await look(open).catch((error: unknown) => {
      if (!isWorldFailure(error)) throw error
      return new Map(
        open.map(step => [stepKey(step), { state: 'not-yet' as const, why: messageOf(error) }]),
      )
    })
    const isOver = clock.elapsedMs() >= untilMs
    const next: PlanStep[] = []
    for (const step of open) {
      const verification = found.get(stepKey(step)) ?? {
        state: 'not-yet',
        why: 'the node was not read',
      }
      if (verification.state === 'verified') await seen(step)
      else if (verification.state === 'wrong') wrong.set(stepKey(step), verification.why)
      else if (isOver)
        wrong.set(
          stepKey(step),
          `it was not well within ${timeoutMs / 1000} s: ${verification.why}`,
        )
      else next.push(step)
    }
    open = next
    if (open.length > 0) await sleepOrPause(clock, Math.min(everyMs, timeoutMs), end)
  }
  return wrong
}

/** Notes for each rolled-back node whether a reading confirmed it. Unconfirmed nodes stay rolled back, too. @throws Paused, or what the journal throws */
export async function confirmRollbacks(
  steps: readonly PlanStep[],
  work: NodeWork,
  effects: Effects,
  options: Waiting,
) {
  const open = steps.filter(
    step => work.state(step) === 'rolled-back' && work.entry(step).seenBack !== true,
  )
  await awaitRollbacks(open, work, effects, options, {
    seen: step => ({ state: 'rolled-back', why: work.reason(step) }),
    unseen(step, why) {
      const before = work.reason(step) ?? 'taken back'
      return {
        state: 'rolled-back',
        why: `${before}. The node says that it is back, and it was not seen: ${why}`,
      }
    },
  })
}

/** Reads nodes until they run as before their steps, and notes the results. @throws likewise */
export async function awaitRollbacks(
  steps: readonly PlanStep[],
  work: NodeWork,
  { clock, verifyBack }: Effects,
  options: Waiting,
  ends: { seen(step: PlanStep): Conclusion; unseen(step: PlanStep, why: string): Conclusion },
) {
  const wrong = await awaitVerification(steps, clock, options, verifyBack, step =>
    work.note(step, ends.seen(step), { seenBack: true }),
  )
  for (const step of steps) {
    const why = wrong.get(stepKey(step))
    if (why === undefined || (await work.passOverGone(step))) continue
    await work.note(step, ends.unseen(step, why), { seenBack: false })
  }
}
