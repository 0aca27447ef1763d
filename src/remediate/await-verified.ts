/** Waits until what is read of nodes anew shows that they are well with their new configuration. */
import type { PlanStep } from '#model/plan.ts'
import { stepKey } from './journal.ts'
import type { Effects, NodeWork } from './node-work.ts'
import { isOfTheWorld, messageOf, sleepOrPause } from './pausing.ts'

const everyMs = 15_000

/** @returns by `cluster/node` why one is not well; the others are noted as verified @throws Paused, or what the journal throws */
export async function awaitVerified(
  steps: readonly PlanStep[],
  work: NodeWork,
  { clock, verify }: Pick<Effects, 'clock' | 'verify'>,
  { timeoutMs, end }: { timeoutMs: number; end: AbortSignal },
): Promise<Map<string, string>> {
  const untilMs = clock.elapsedMs() + timeoutMs
  const wrong = new Map<string, string>()
  let open = [...steps]
  while (open.length > 0) {
    const found = await verify(open.map(step => ({ step, entry: work.entry(step) }))).catch((error: unknown) => {
      if (!isOfTheWorld(error)) throw error
      return new Map(open.map(step => [stepKey(step), { state: 'not-yet' as const, why: messageOf(error) }]))
    })
    const isOver = clock.elapsedMs() >= untilMs
    const next: PlanStep[] = []
    for (const step of open) {
      const verification = found.get(stepKey(step)) ?? { state: 'not-yet', why: 'the node was not read' }
      if (verification.state === 'verified') await work.note(step, { state: 'verified', why: work.entry(step).why })
      else if (verification.state === 'wrong') wrong.set(stepKey(step), verification.why)
      else if (isOver) wrong.set(stepKey(step), `it was not well within ${timeoutMs / 1000} s: ${verification.why}`)
      else next.push(step)
    }
    open = next
    if (open.length > 0) await sleepOrPause(clock, Math.min(everyMs, timeoutMs), end)
  }
  return wrong
}
