/** Runs the waves of a plan: a few nodes at a time, each verified before the next. If too many nodes fail, the wave is rolled back. */

import { messageOf } from '#base/operator-error.ts'
import {
  type Approval,
  type PlanStep,
  type RunState,
  type StepState,
  stepKey,
} from '#model/plan.ts'
import type { AutoApproval, RemediationPolicy } from '#model/policy.ts'
import { byPolicy, changedSince } from '#remediate/plan/approve.ts'
import { awaitVerified, confirmRollbacks } from '#remediate/verify/await-seen.ts'
import type { RunHead } from './journal.ts'
import { type Before, type ImageUse, isUnbegun, NodeWork } from './node-work.ts'
import { isWorldFailure, nothingRead, Paused, sleepOrPause, throwIfPaused } from './pausing.ts'
import {
  chunksOf,
  endTemporarySteps,
  isTemporary,
  settleAll,
  type TakeBackOptions,
  takeBackWave,
  wavesOf,
} from './take-back.ts'
import { isWindowOpen, windowsText } from './window.ts'

export interface RunOptions extends TakeBackOptions {
  approval: Approval
  policy: RemediationPolicy
  /** Once aborted, nothing more is sent; commands under way are waited for. */
  stop: AbortSignal
  /** Why nothing new may be sent although the run goes on; null: sending is allowed. */
  refusal: string | null
  /** Maximum wait between waves. For a longer one the run pauses until it is started again. */
  patienceMs: number
  /** Which of these nodes (`cluster/node`) may be begun today. */
  ofToday(nodes: readonly string[]): Promise<ReadonlySet<string>>
}

/** More nodes failed than the policy allows. */
class TooManyErrors extends Error {}

const provenStates = new Set<StepState>(['verified', 'returning', 'pruned'])
const failedStates = new Set<StepState>(['restored', 'failed', 'broken', 'rolled-back'])

function pauseUnread(error: unknown): never {
  if (!isWorldFailure(error)) throw error
  throw new Paused(`the nodes could not be read anew: ${messageOf(error)}`)
}

/**
 * Continues from the journal's state.
 * @returns the head as last written to the journal
 * @throws Overtaken, or what the store throws: the journal has the rest for the run that resumes it
 */
export async function runWaves(options: RunOptions) {
  return new WaveRun(options).go()
}

class WaveRun {
  readonly #options: RunOptions
  readonly #work: NodeWork
  readonly #waves: readonly PlanStep[][]
  /** Begun in the journal only: these nodes still have their old content, so the conditions for new steps hold for them. */
  readonly #unshown = new Set<string>()
  #head: RunHead

  constructor(options: RunOptions) {
    this.#options = options
    this.#work = new NodeWork(options)
    this.#waves = wavesOf(options.plan)
    this.#head = options.head
  }

  async go() {
    if (this.#head.endedAt !== null || this.#head.state === 'rolled-back') return this.#head
    try {
      // An earlier process died while it rolled a wave back.
      if (this.#head.state === 'stopped') return await this.#stop(this.#head.why)
      await this.#note('running', null)
      // Steps that a dead process left half-way come first, even if something blocks new steps.
      for (const steps of this.#waves) await this.#endBegun(steps)
      for (const index of this.#waves.keys()) await this.#runWave(index)
      return await this.#note('done', null, true)
    } catch (error) {
      if (error instanceof TooManyErrors) return this.#stop(error.message)
      if (!(error instanceof Paused)) throw error
      this.#requireLeases()
      return this.#note('paused', `${error.message}${this.#loweredText()}`)
    }
  }

  async #endBegun(steps: readonly PlanStep[]) {
    for (const some of chunksOf(steps.filter(this.#isAsked), this.#options.policy.maxConcurrency))
      await this.#noteShown(some)
    const left = steps.filter(
      step =>
        (this.#isAsked(step) && !this.#unshown.has(stepKey(step))) ||
        ['applied', 'broken'].includes(this.#work.state(step)) ||
        isTemporary(this.#work, step) ||
        this.#isUnconfirmed(step),
    )
    for (const some of chunksOf(left, this.#options.policy.maxConcurrency))
      await this.#changeNodes(some, null)
    this.#requireFewErrors()
  }

  /** Whether the journal says that a command was sent whose answer is unknown. */
  readonly #isAsked = (step: PlanStep) => ['sending', 'sent'].includes(this.#work.state(step))

  /**
   * Only the node itself shows whether a change has begun. A node with its old content counts as new. A node with unexpected content
   * is left to a person.
   * @throws Paused if the content of a node is unknown
   */
  async #noteShown(steps: readonly PlanStep[]) {
    const present = await this.#options.effects.present(steps).catch(pauseUnread)
    throwIfPaused(this.#options.end)
    const byKey = new Map(present.map(node => [stepKey(node), node]))
    for (const step of steps) {
      const node = byKey.get(stepKey(step))
      const sha256 = node?.instanceId === step.instanceId ? node.sha256 : null
      if (sha256 === step.newSha256) continue
      if (sha256 === step.oldSha256) this.#unshown.add(stepKey(step))
      else if (sha256 !== null)
        await this.#work.note(step, {
          state: 'broken',
          why: `a command of this run went to the node, and ${step.path} is neither what was there before nor what the plan writes`,
        })
      else if (!(await this.#work.passOverGone(step)))
        throw new Paused(
          `whether the change has begun on ${stepKey(step)} is not known: ${node?.unread ?? `${step.path} was not read`}`,
        )
    }
  }

  async #runWave(index: number) {
    const steps = this.#waves[index] ?? []
    let open = steps.filter(
      step => isUnbegun(this.#work.entry(step)) || this.#unshown.has(stepKey(step)),
    )
    if (open.length > 0) await this.#pauseAfter(this.#waves[index - 1] ?? [])
    while (open.length > 0) {
      this.#mayGoOn()
      const next = this.#nextSteps(open)
      const before = await this.#checkBefore(next)
      const chunk = next.filter(step => !before.later.has(stepKey(step)))
      open = open.filter(step => !chunk.includes(step))
      const unblocked = chunk.filter(step => !before.nodes.has(stepKey(step)))
      for (const step of chunk)
        if (!unblocked.includes(step))
          await this.#work.note(step, {
            state: 'skipped',
            why: before.nodes.get(stepKey(step)) ?? null,
          })
      this.#mayGoOn()
      const free = await this.#unchangedSteps(unblocked)
      const use = await this.#imageUse(free)
      this.#mayGoOn()
      const today = await this.#options.ofToday(free.map(stepKey))
      const begun = free.filter(step => today.has(stepKey(step)))
      await this.#changeNodes(begun, step => ({
        readyPods: before.readyPods.get(stepKey(step)) ?? null,
        ...(step.until !== undefined && {
          usedBytesBefore: use.get(stepKey(step))?.usedBytes ?? null,
        }),
      }))
      if (begun.length < free.length)
        throw new Paused(
          'as many nodes as the policy lets be begun on one day (remediation.auto.nodesPerDay) were: it goes on after 00:00 UTC',
        )
    }
  }

  /** The nodes that are still as planned, read just before they are changed. */
  async #unchangedSteps(steps: PlanStep[]) {
    if (steps.length === 0) return []
    const present = await this.#options.effects.present(steps).catch(pauseUnread)
    // A run that had to end might not have read all nodes.
    this.#mayGoOn()
    const changed = changedSince({ steps }, present)
    for (const { cluster, node, why } of changed) {
      const step = steps.find(one => stepKey(one) === stepKey({ cluster, node }))
      if (step)
        await this.#work.note(step, {
          state: 'skipped',
          why: `changed since the plan was made: ${why}`,
        })
    }
    const keys = new Set(changed.map(stepKey))
    return steps.filter(step => !keys.has(stepKey(step)))
  }

  /** The next nodes to change; of an unproven cohort only the first node. */
  #nextSteps(open: readonly PlanStep[]) {
    const perCluster = new Map<string, number>()
    const trials = new Set<string>()
    const proven = new Set(
      this.#options.plan.steps
        .filter(step => provenStates.has(this.#work.state(step)))
        .map(({ cohort }) => cohort),
    )
    return open.filter(({ cluster, cohort }) => {
      const taken = perCluster.get(cluster) ?? 0
      if (
        taken >= this.#options.policy.maxConcurrency ||
        (!proven.has(cohort) && trials.has(cohort))
      )
        return false
      perCluster.set(cluster, taken + 1)
      trials.add(cohort)
      return true
    })
  }

  async #checkBefore(chunk: readonly PlanStep[]): Promise<Before> {
    const before = await this.#options.effects.before(chunk).catch(pauseUnread)
    const { unasked = [] } = this.#head
    const more = before.unasked.filter(one => !unasked.includes(one))
    // Written with the next note on the run, because these checks block nothing.
    if (more.length > 0) this.#head = { ...this.#head, unasked: [...unasked, ...more] }
    if (before.reasons.length > 0) throw new Paused(before.reasons.join('; '))
    return before
  }

  /** Use before pruning, so the report can say what was freed. If unread, the report says so. */
  async #imageUse(steps: readonly PlanStep[]): Promise<ReadonlyMap<string, ImageUse>> {
    const passing = steps.filter(({ until }) => until !== undefined)
    if (passing.length === 0) return new Map()
    return this.#options.effects.imageUse(passing).catch(nothingRead)
  }

  /** Brings each node to its end: verified, pruned, or failed and rolled back. @param before null: it was noted when the nodes were begun */
  async #changeNodes(
    steps: readonly PlanStep[],
    before: ((step: PlanStep) => Parameters<NodeWork['apply']>[1]) | null,
  ) {
    const { effects, policy, end } = this.#options
    const waiting = { timeoutMs: policy.verifyTimeoutMs, end }
    const unsent = steps.filter(step => isUnbegun(this.#work.entry(step)) || this.#isAsked(step))
    await settleAll(unsent, step => this.#work.apply(step, before?.(step) ?? { readyPods: null }))
    throwIfPaused(end)
    // If the run stops anyway, it does not wait until the others are healthy.
    this.#requireFewErrors(steps.filter(this.#isAsked))
    const applied = steps.filter(step => this.#work.state(step) === 'applied')
    const wrong = await awaitVerified(applied, this.#work, effects, waiting)
    const unwell: PlanStep[] = []
    for (const step of steps.filter(one =>
      ['sending', 'sent', 'applied', 'broken'].includes(this.#work.state(one)),
    ))
      if (!(await this.#work.passOverGone(step))) unwell.push(step)
    for (const step of unwell) {
      const { state, why } = this.#work.entry(step)
      await this.#work.note(step, { state, why: wrong.get(stepKey(step)) ?? why ?? state })
    }
    this.#requireFewErrors(unwell)
    await settleAll(unwell, step =>
      this.#work.rollBack(
        step,
        wrong.get(stepKey(step)) ?? this.#work.reason(step) ?? this.#work.state(step),
      ),
    )
    throwIfPaused(end)
    await confirmRollbacks(steps, this.#work, effects, waiting)
    await endTemporarySteps(steps, this.#work, effects, waiting)
    throwIfPaused(end)
    this.#requireFewErrors()
  }

  #isUnconfirmed(step: PlanStep) {
    const { state, seenBack } = this.#work.entry(step)
    return state === 'rolled-back' && seenBack === undefined
  }

  /** @param unwell nodes that failed, though their state is not final yet @throws TooManyErrors */
  #requireFewErrors(unwell: readonly PlanStep[] = []) {
    const { plan, policy } = this.#options
    const failed = plan.steps.filter(
      step => failedStates.has(this.#work.state(step)) || unwell.includes(step),
    )
    if (failed.length <= policy.maxErrors) return
    const sample = failed
      .slice(-3)
      .map(step => `${stepKey(step)}: ${this.#work.entry(step).why ?? this.#work.state(step)}`)
    throw new TooManyErrors(
      `${failed.length} of its nodes failed, where ${policy.maxErrors} may: ${sample.join('; ')}`,
    )
  }

  /** Starts no further wave and rolls this one back. Noted first, so that the next run continues the rollback after a crash. */
  async #stop(why: string | null) {
    await this.#note('stopped', why)
    await this.#options.journal.noteOver()
    try {
      await takeBackWave(this.#options)
    } catch (error) {
      if (!(error instanceof Paused)) throw error
      return this.#head
    }
    return this.#note('stopped', why, true)
  }

  /** The pause starts with the last transition of the wave before. */
  async #pauseAfter(wave: readonly PlanStep[]) {
    const { effects, policy, stop, patienceMs } = this.#options
    const begun = wave.map(step => this.#work.entry(step)).filter(entry => !isUnbegun(entry))
    if (begun.length === 0) return
    const last = Math.max(...begun.flatMap(({ at }) => Object.values(at)).map(Date.parse))
    const leftMs = last + policy.pauseMs - effects.clock.now().getTime()
    // A clock that was set back must not lengthen the pause.
    const waitMs = Math.min(leftMs, policy.pauseMs)
    if (waitMs > patienceMs)
      throw new Paused(
        `the pause after the wave before lasts until ${new Date(effects.clock.now().getTime() + waitMs).toISOString()}`,
      )
    if (waitMs > 0) await sleepOrPause(effects.clock, waitMs, stop)
  }

  #mayGoOn() {
    const { stop, end, approval, policy, effects, refusal } = this.#options
    throwIfPaused(stop)
    throwIfPaused(end)
    const why = whyNothingNew(approval, policy.auto, effects.clock.now()) ?? refusal
    if (why !== null) throw new Paused(why)
  }

  #loweredText() {
    const lowered = this.#options.plan.steps
      .filter(step => isTemporary(this.#work, step))
      .map(stepKey)
    return lowered.length === 0
      ? ''
      : `. Until the run goes on or is taken back, the thresholds of ${lowered.join(', ')} are lowered`
  }

  /** A process that lost a lease must no longer write about the run. */
  #requireLeases() {
    for (const cluster of this.#options.leases.keys()) this.#work.requireLease(cluster)
  }

  async #note(state: RunState, why: string | null, isEnd = false) {
    const endedAt = isEnd ? this.#options.effects.clock.now().toISOString() : null
    this.#head = { ...this.#head, state, why, endedAt }
    if (isEnd) await this.#options.journal.noteOver()
    await this.#options.journal.noteRun(this.#head)
    return this.#head
  }
}

/* The conditions for sending anything new. Begun steps are ended even if the conditions fail. */

/** Why the approval allows nothing new now, for people; null: new steps are allowed. @param auto the policy's automatic approval now */
function whyNothingNew({ by, until }: Approval, auto: AutoApproval | null, now: Date) {
  if (now.getTime() >= Date.parse(until)) return `the approval ended at ${until}`
  if (by !== byPolicy) return null
  if (!auto)
    return 'the policy has approved it, and approves nothing by itself any more (remediation.auto)'
  return isWindowOpen(auto.windows, now)
    ? null
    : `the policy approves only ${windowsText(auto.windows)}`
}
