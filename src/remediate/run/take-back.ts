/** Rolls nodes back: a wave with too many failures, or a whole run on request. Needs only the journal. */

import { bytesText } from '#base/text.ts'
import { type Plan, type PlanStep, type StepEntry, stepKey } from '#model/plan.ts'
import type { RemediationPolicy } from '#model/policy.ts'
import { awaitRollbacks, confirmRollbacks, type Waiting } from '#remediate/verify/await-seen.ts'
import type { RunHead } from './journal.ts'
import { type Effects, isTouched, isUnbegun, NodeWork, type NodeWorkOptions } from './node-work.ts'
import { nothingRead, Paused, sleepOrPause, throwIfPaused } from './pausing.ts'

export interface TakeBackOptions extends NodeWorkOptions {
  plan: Plan
  head: RunHead
  policy: Pick<RemediationPolicy, 'maxConcurrency' | 'verifyTimeoutMs'>
}

/** Rolls back the last wave that was begun, and nodes of other waves that are not known to be well. @throws Paused, Overtaken, or what the store throws */
export async function takeBackWave(options: TakeBackOptions) {
  const { plan } = options
  const work = new NodeWork(options)
  const waves = wavesOf(plan)
  const begun = waves.findLast(steps => steps.some(step => !isUnbegun(work.entry(step)))) ?? []
  const unwell = plan.steps.filter(
    step => !begun.includes(step) && (work.state(step) !== 'verified' || step.until !== undefined),
  )
  await takeBack([...begun, ...unwell], work, options, step => {
    const reason = work.state(step) === 'verified' ? null : work.reason(step)
    return reason ?? 'its wave was taken back'
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
export async function rollBackRun(options: RollBackOptions) {
  const { journal, effects, policy, despiteErrors } = options
  const work = new NodeWork(options)
  const why = 'as asked for'
  let head: RunHead = { ...options.head, state: 'rolled-back', why, endedAt: null }
  await journal.noteRun(head)
  await journal.noteOver()
  const worse = new Set(head.notBack ?? [])
  try {
    for (const some of backOrder(options, work, worse)) {
      const wereBroken = new Set(some.filter(step => work.state(step) === 'broken').map(stepKey))
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
    .filter(step => isTouched(work.entry(step)) || isUnconfirmed(work.entry(step)))
  const again = open.filter(step => worse.has(stepKey(step)))
  const isBroken = (step: PlanStep) => work.state(step) === 'broken'
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
  const said = step ? `: ${work.entry(step).why ?? work.state(step)}` : ''
  return `${worse.size} nodes are not well since they were put back, where ${policy.maxErrors} may be; ${first}${said}. Look at them. highwater rollback ${plan.id} asks them again, and goes on when they are well; with --despite-errors it goes on all the same`
}

const isUnconfirmed = ({ state, seenBack }: StepEntry) =>
  state === 'rolled-back' && seenBack !== true

async function takeBack(
  steps: readonly PlanStep[],
  work: NodeWork,
  { policy, end, effects }: TakeBackOptions,
  whyOf: (step: PlanStep) => string,
) {
  for (const some of chunksOf(
    // If this process ends before the node is verified, the next run verifies it.
    steps.filter(step => isTouched(work.entry(step)) || work.state(step) === 'rolled-back'),
    policy.maxConcurrency,
  )) {
    throwIfPaused(end)
    await settleAll(
      some.filter(step => isTouched(work.entry(step))),
      step => work.rollBack(step, whyOf(step)),
    )
    throwIfPaused(end)
    await confirmRollbacks(some, work, effects, { timeoutMs: policy.verifyTimeoutMs, end })
  }
  throwIfPaused(end)
}

export function wavesOf({ steps, waves }: Plan) {
  const byKey = new Map(steps.map(step => [stepKey(step), step]))
  return waves.map(wave => wave.flatMap(key => byKey.get(key) ?? []))
}

/** Waits for all items, even if one fails, because commands were sent. @throws the first failure */
export async function settleAll<T>(items: readonly T[], work: (item: T) => Promise<void>) {
  const failed = (await Promise.allSettled(items.map(work))).find(
    result => result.status === 'rejected',
  )
  if (failed) throw failed.reason
}

export const chunksOf = <T>(items: readonly T[], size: number) =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )

/*
 * Changes for a limited time: each node is read until image GC has done its work or the plan's time is over. Then the same run puts the old file
 * back, and reads the node until it runs as before. After a crash, the next run continues from the journal.
 */

const everyMs = 30_000

/** Whether a kubelet's thresholds are, or may be, lowered now, and the run itself will put them back. */
export const isTemporary = (work: NodeWork, step: PlanStep) =>
  step.until !== undefined && ['verified', 'returning'].includes(work.state(step))

/** For verified nodes. They end in `pruned`, or in `broken` if the old file could not be put back. @throws Paused, Overtaken, or what the journal throws */
export async function endTemporarySteps(
  steps: readonly PlanStep[],
  work: NodeWork,
  effects: Effects,
  options: Waiting,
) {
  let open = steps.filter(step => isTemporary(work, step))
  while (open.length > 0) {
    await noteDone(open, work, effects)
    const done = open.filter(step => work.state(step) === 'returning')
    await settleAll(done, step => work.putBack(step))
    const returned = done.filter(step => work.state(step) === 'returning' && !options.end.aborted)
    const whyOf = (step: PlanStep) => work.entry(step).why
    await awaitRollbacks(returned, work, effects, options, {
      seen: step => ({ state: 'pruned', why: `${whyOf(step)}; its thresholds are as before` }),
      unseen: (step, why) => ({
        state: 'broken',
        why: `${whyOf(step)}. It was put back, and is not as before: ${why}`,
      }),
    })
    open = open.filter(step => isTemporary(work, step) && !done.includes(step))
    if (open.length > 0) await sleepOrPause(effects.clock, everyMs, options.end)
  }
}

async function noteDone(open: readonly PlanStep[], work: NodeWork, { imageUse, clock }: Effects) {
  const waiting = open.filter(step => work.state(step) === 'verified')
  if (waiting.length === 0) return
  const used = await imageUse(waiting).catch(nothingRead)
  for (const step of waiting) {
    const { at, usedBytesBefore = null } = work.entry(step)
    const now = used.get(stepKey(step)) ?? null
    const { state, why } = isPruned(step, now?.usedPercent ?? null, at.applied ?? '', clock.now())
    if (state === 'waiting') continue
    const freed =
      usedBytesBefore === null || !now
        ? 'how much was freed is not known'
        : // Zero if other writes meanwhile used more space than image GC freed.
          `freed ${bytesText(Math.max(usedBytesBefore - now.usedBytes, 0))}`
    await work.note(step, { state: 'returning', why: `${freed}: ${why}` })
  }
}

export type PruneState = { state: 'pruned' | 'waiting' | 'time-over'; why: string }

/**
 * Whether to put the old file back now: yes in every state but `waiting`.
 *
 * @param usedPercent of the image filesystem, just read and counted as image GC does; null: it was not read
 * @param startedAt RFC 3339: when the kubelet started with the change
 */
export function isPruned(
  { until }: Pick<PlanStep, 'until'>,
  usedPercent: number | null,
  startedAt: string,
  now: Date,
): PruneState {
  if (!until) return { state: 'pruned', why: 'it prunes no images' }
  const { usedPercentAtMost, atMostMs } = until
  if (usedPercent !== null && usedPercent <= usedPercentAtMost)
    return {
      state: 'pruned',
      why: `the image filesystem is at ${usedPercent} %, wanted was at most ${usedPercentAtMost} %`,
    }
  const used =
    usedPercent === null
      ? 'of the image filesystem nothing was read'
      : `the image filesystem is at ${usedPercent} %`
  const passedMs = now.getTime() - Date.parse(startedAt)
  // Neither a clock that was set back nor an unreadable time keeps the thresholds lowered for ever.
  if (!(passedMs >= -atMostMs && passedMs < atMostMs))
    return {
      state: 'time-over',
      why: `${used}, and the ${atMostMs / 60_000} min of the plan are over: what else is unused was not deleted`,
    }
  return { state: 'waiting', why: `${used}, wanted is at most ${usedPercentAtMost} %` }
}
