/** Nodes put back to what they were: a wave of which too many failed, or all of a run because somebody asks for it. Needs the journal alone. */
import type { Plan, PlanStep } from '#model/plan.ts'
import type { RemediationPolicy } from '#model/policy.ts'
import { type RunHead, stepKey } from './journal.ts'
import { isOpen, isTouched, NodeWork, type NodeWorkOptions } from './node-work.ts'
import { orPause, Paused } from './pausing.ts'
import { seeBack } from './see-back.ts'

export interface TakeBackOptions extends NodeWorkOptions {
  plan: Plan
  head: RunHead
  policy: Pick<RemediationPolicy, 'maxConcurrency' | 'verifyTimeoutMs'>
}

/** The last wave that was begun, and whatever of the others is not known to be well. @throws Paused, Overtaken, or what the store throws */
export async function takeBackWave(options: TakeBackOptions): Promise<void> {
  const { plan } = options
  const work = new NodeWork(options)
  const waves = wavesOf(plan)
  const begun = waves.findLast(steps => steps.some(step => !isOpen(work.entry(step)))) ?? []
  const unwell = plan.steps.filter(step => !begun.includes(step) && (work.entry(step).state !== 'verified' || step.until !== undefined))
  await takeBack([...begun, ...unwell], work, options, step => {
    const { state, why } = work.entry(step)
    return state === 'verified' || why === null ? 'its wave was taken back' : why
  })
}

/** Every node that the run may have changed, the last wave first; what ended otherwise stays. @returns the head, as noted @throws Overtaken, or what the store throws */
export async function rollBackRun(options: TakeBackOptions): Promise<RunHead> {
  const { plan, journal, effects } = options
  const work = new NodeWork(options)
  const why = 'as asked for'
  let head: RunHead = { ...options.head, state: 'rolled-back', why, endedAt: null }
  await journal.noteRun(head)
  try {
    for (const steps of wavesOf(plan).reverse()) await takeBack(steps, work, options, () => why)
    head = { ...head, endedAt: effects.clock.now().toISOString() }
  } catch (error) {
    if (!(error instanceof Paused)) throw error
    head = { ...head, why: `${why}, and it is not at its end: ${error.message}` }
  }
  await journal.noteRun(head)
  return head
}

async function takeBack(
  steps: readonly PlanStep[],
  work: NodeWork,
  { policy, end, effects }: Pick<TakeBackOptions, 'policy' | 'end' | 'effects'>,
  whyOf: (step: PlanStep) => string,
): Promise<void> {
  for (const some of chunksOf(
    // Whoever died before it was seen leaves that to the next.
    steps.filter(step => isTouched(work.entry(step)) || work.entry(step).state === 'rolled-back'),
    policy.maxConcurrency,
  )) {
    orPause(end)
    await all(
      some.filter(step => isTouched(work.entry(step))),
      step => work.rollBack(step, whyOf(step)),
    )
    orPause(end)
    await seeBack(some, work, effects, { timeoutMs: policy.verifyTimeoutMs, end })
  }
  orPause(end)
}

export function wavesOf({ steps, waves }: Plan): PlanStep[][] {
  const byKey = new Map(steps.map(step => [stepKey(step), step]))
  return waves.map(wave => wave.flatMap(key => byKey.get(key) ?? []))
}

/** All of them come to an end, also where one fails: what was sent is waited for. @throws the first failure */
export async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failed = (await Promise.allSettled(items.map(work))).find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
