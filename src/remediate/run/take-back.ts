/** Rolls nodes back: a wave with too many failures, or a whole run on request. Needs only the journal. */
import type { Plan, PlanStep } from '#model/plan/plan.ts'
import type { StepEntry } from '#model/plan/remediation.ts'
import type { RemediationPolicy } from '#model/policy.ts'
import { seeBack } from '#remediate/verify/await-seen.ts'
import { type RunHead, stepKey } from './journal.ts'
import { isOpen, isTouched, NodeWork, type NodeWorkOptions } from './node-work.ts'
import { orPause, Paused } from './pausing.ts'

export interface TakeBackOptions extends NodeWorkOptions {
  plan: Plan
  head: RunHead
  policy: Pick<RemediationPolicy, 'maxConcurrency' | 'verifyTimeoutMs'>
}

/** Rolls back the last wave that was begun, and nodes of other waves that are not known to be well. @throws Paused, Overtaken, or what the store throws */
export async function takeBackWave(options: TakeBackOptions): Promise<void> {
  const { plan } = options
  const work = new NodeWork(options)
  const waves = wavesOf(plan)
  const begun = waves.findLast(steps => steps.some(step => !isOpen(work.entry(step)))) ?? []
  const unwell = plan.steps.filter(
    step =>
      !begun.includes(step) && (work.entry(step).state !== 'verified' || step.until !== undefined),
  )
  await takeBack([...begun, ...unwell], work, options, step => {
    const { state, why } = work.entry(step)
    return state === 'verified' || why === null ? 'its wave was taken back' : why
  })
}

export interface RollBackOptions extends TakeBackOptions {
  policy: TakeBackOptions['policy'] & Pick<RemediationPolicy, 'maxErrors'>
  /** Goes on even if more nodes got worse than the policy allows. */
  despiteErrors: boolean
}

/**
 * Rolls back every node that the run may have changed. One node goes first, then growing groups. The rollback pauses if more nodes than the policy
 * allows are not well with their old settings. @returns the head, as noted @throws Overtaken, or what the store throws
 */
export async function rollBackRun(options: RollBackOptions): Promise<RunHead> {
  const { journal, effects, policy, despiteErrors } = options
  const work = new NodeWork(options)
  const why = 'as asked for'
  let head: RunHead = { ...options.head, state: 'rolled-back', why, endedAt: null }
  await journal.noteRun(head)
  await journal.noteOver()
  const worse = new Set(head.notBack ?? [])
  try {
    for (const some of backOrder(options, work, worse)) {
      const wereBroken = new Set(
        some.filter(step => work.entry(step).state === 'broken').map(stepKey),
      )
      await takeBack(some, work, options, () => why)
      for (const step of some) {
        const key = stepKey(step)
        const { state, seenBack } = work.entry(step)
        const isWorse =
          state === 'broken'
            ? !wereBroken.has(key) || worse.has(key)
            : state === 'rolled-back' && seenBack === false
        if (isWorse) worse.add(key)
        else worse.delete(key)
      }
      const { notBack: _before, ...rest } = head
      head = { ...rest, ...(worse.size > 0 && { notBack: [...worse] }) }
      await journal.noteRun(head)
      if (worse.size > policy.maxErrors && !despiteErrors)
        throw new Paused(worseText(options, work, worse))
    }
    head = { ...head, endedAt: effects.clock.now().toISOString() }
  } catch (error) {
    if (!(error instanceof Paused)) throw error
    head = { ...head, why: `${why}, and it is not at its end: ${error.message}` }
  }
  await journal.noteRun(head)
  return head
}

/** Order: nodes that got worse earlier, then waves from last to first, then nodes that were broken before the rollback. */
function backOrder({ plan, policy }: RollBackOptions, work: NodeWork, worse: ReadonlySet<string>) {
  const open = wavesOf(plan)
    .reverse()
    .flat()
    .filter(step => isTouched(work.entry(step)) || isUnseen(work.entry(step)))
  const again = open.filter(step => worse.has(stepKey(step)))
  const isBroken = (step: PlanStep) => work.entry(step).state === 'broken'
  const others = open.filter(step => !worse.has(stepKey(step)))
  const rest = [...others.filter(step => !isBroken(step)), ...others.filter(isBroken)]
  const grown: PlanStep[][] = []
  for (
    let at = 0, size = 1;
    at < rest.length;
    at += size, size = Math.min(size * 2, policy.maxConcurrency)
  )
    grown.push(rest.slice(at, at + size))
  return [...chunksOf(again, policy.maxConcurrency), ...grown]
}

function worseText({ plan, policy }: RollBackOptions, work: NodeWork, worse: ReadonlySet<string>) {
  const [first = ''] = worse
  const step = plan.steps.find(one => stepKey(one) === first)
  const said = step === undefined ? '' : `: ${work.entry(step).why ?? work.entry(step).state}`
  return `${worse.size} nodes are not well since they were put back, where ${policy.maxErrors} may be; ${first}${said}. Look at them. highwater rollback ${plan.id} asks them again, and goes on when they are well; with --despite-errors it goes on all the same`
}

const isUnseen = ({ state, seenBack }: StepEntry) => state === 'rolled-back' && seenBack !== true

async function takeBack(
  steps: readonly PlanStep[],
  work: NodeWork,
  { policy, end, effects }: TakeBackOptions,
  whyOf: (step: PlanStep) => string,
) {
  for (const some of chunksOf(
    // If this process ends before the node is verified, the next run verifies it.
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

/** Waits for all items, even if one fails, because commands were sent. @throws the first failure */
export async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failed = (await Promise.allSettled(items.map(work))).find(
    result => result.status === 'rejected',
  )
  if (failed !== undefined) throw failed.reason
}

export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
