/** Takes one node at a time through the journal: commands it to change or to roll back until the outcome is known. Each step is noted before and after. */

import {
  type PlanStep,
  type StepEntry,
  type StepState,
  stepKey,
  type Verification,
} from '#model/plan.ts'
import type { PresentNode } from '#remediate/plan/approve.ts'
import type { ApplyAction } from './answer.ts'
import type { CommandResult } from './apply.ts'
import { type Conclusion, concludeApply, concludeRollback, resultText } from './conclude.ts'
import { type Journal, Overtaken } from './journal.ts'
import type { Lease } from './lease.ts'
import { type Clock, Paused } from './pausing.ts'

/** What blocks a change now, and what has to be known of the nodes before the change. */
export interface Before {
  /** Why nothing may be sent now. */
  reasons: string[]
  /** By `cluster/node`: why nothing may be sent to this node now. */
  nodes: ReadonlyMap<string, string>
  /** Nodes (`cluster/node`) that are changed after the others. Never all nodes that could be changed. */
  later: ReadonlySet<string>
  /** By cluster: checks that were not possible and do not block the change. */
  unasked: string[]
  /** By `cluster/node`: ready pods as `namespace/name`; null: not read. */
  readyPods: ReadonlyMap<string, string[] | null>
}

/** Use of an image filesystem, counted as image GC does. */
export interface ImageUse {
  usedPercent: number
  usedBytes: number
}

/** All effects of a run outside its journal. */
export interface Effects {
  clock: Clock
  send(
    step: PlanStep,
    action: ApplyAction,
    onSent: (commandId: string) => void,
  ): Promise<CommandResult>
  /** Reads the nodes anew; those that could not be read are left out. */
  present(steps: readonly PlanStep[]): Promise<PresentNode[]>
  /** Reads the nodes and their clusters anew. */
  before(steps: readonly PlanStep[]): Promise<Before>
  /** Reads the nodes anew. By `cluster/node`; a missing node could not be read. */
  verify(
    nodes: readonly { step: PlanStep; entry: StepEntry }[],
  ): Promise<ReadonlyMap<string, Verification>>
  /** Likewise: whether the nodes run as before their steps. */
  verifyBack(steps: readonly PlanStep[]): Promise<ReadonlyMap<string, Verification>>
  /** Likewise: use of the image filesystems. */
  imageUse(steps: readonly PlanStep[]): Promise<ReadonlyMap<string, ImageUse>>
  /** Whether a step's instance is no longer a node of its cluster, so nothing of the change is left. */
  isGone(step: PlanStep): Promise<boolean>
  /** Called for every transition and every new reason. */
  onEntry?: (entry: StepEntry) => void
}

export interface NodeWorkOptions {
  journal: Journal
  effects: Effects
  leases: ReadonlyMap<string, Pick<Lease, 'isHeld'>>
  entries: Map<string, StepEntry>
  /** Once aborted, nothing is waited for any more. */
  end: AbortSignal
}

/** Maximum commands to one node before the run gives it up for now. */
const tries = 3
const againAfterMs = 15_000

/** Whether the run may have written to the node. */
export const isTouched = ({ state }: StepEntry) => touched.has(state)
const touched = new Set<StepState>([
  'sending',
  'sent',
  'applied',
  'verified',
  'returning',
  'broken',
])
/** Whether nothing was ever sent to the node. */
export const isUnbegun = ({ state }: StepEntry) => state === 'pending' || state === 'skipped'

const isCommon = (result: CommandResult): result is CommandResult & { kind: 'unsent' } =>
  result.kind === 'unsent' && result.isCommon

export class NodeWork {
  readonly #options: NodeWorkOptions

  constructor(options: NodeWorkOptions) {
    this.#options = options
  }

  entry(step: PlanStep) {
    const entry = this.#options.entries.get(stepKey(step))
    if (!entry) throw new Error(`${stepKey(step)} is no node of this run`)
    return entry
  }

  /** Why the step is rolled back, or why it is in its state. */
  reason(step: PlanStep): string | null {
    const { cause, why } = this.entry(step)
    return cause ?? why
  }

  state(step: PlanStep): StepState {
    return this.entry(step).state
  }

  /**
   * Ends in `applied`, `restored`, `failed`, `skipped` or `broken`, or in `sending` or `sent` if the node did not answer.
   * @throws Paused if the account or SSM prevents sending: then no node is at fault, and a new node stays open
   */
  async apply(step: PlanStep, before: Pick<StepEntry, 'readyPods' | 'usedBytesBefore'>) {
    const { state } = this.entry(step)
    let isNew = isUnbegun(this.entry(step))
    let said: CommandResult | null = null
    for (let attempt = 0; attempt < tries; attempt++) {
      if (attempt > 0 && !(await this.#pause())) return
      this.requireLease(step.cluster)
      await this.note(step, { state: 'sending', why: null }, isNew ? before : { cause: undefined })
      said = await this.#send(step, 'apply')
      const conclusion = isCommon(said) ? null : concludeApply(said, isNew, step.oldSha256)
      if (conclusion) return this.#conclude(step, conclusion, said)
      isNew &&= said.kind === 'unsent'
      if (said.kind === 'unsent' && (await this.passOverGone(step))) return
      if (this.#options.end.aborted && isCommon(said)) break
      // The run has to end without knowing the outcome of this node: the next run reads it.
      if (this.#options.end.aborted) return
    }
    if (!said) return
    if (isCommon(said)) {
      // The node counts as not begun, because nothing was sent.
      if (isNew) await this.note(step, { state, why: said.why })
      throw new Paused(`nothing can be sent: ${said.why}`)
    }
    const isBroken = said.kind === 'answer' && said.answer.outcome === 'broken'
    const why = `after ${tries} commands it is not known what became of it: ${resultText(said)}`
    await this.#conclude(step, { state: isBroken ? 'broken' : this.state(step), why }, said)
  }

  /** Ends in `rolled-back`, `skipped` (its instance is gone) or `broken`; if the run has to end, it keeps its state. @param cause for people @throws Paused likewise */
  rollBack(step: PlanStep, cause: string) {
    return this.#goBack(step, cause, 'rolled-back')
  }

  /** Ends a planned return. The state stays `returning` if the node reports that it is back; else it becomes `skipped` or `broken`. */
  putBack(step: PlanStep) {
    return this.#goBack(step, this.reason(step) ?? 'as planned', 'returning')
  }

  async #goBack(step: PlanStep, cause: string, to: 'rolled-back' | 'returning') {
    const { end } = this.#options
    let said: CommandResult | null = null
    for (let attempt = 0; attempt < tries; attempt++) {
      if (attempt > 0 && !(await this.#pause())) return
      this.requireLease(step.cluster)
      if (attempt === 0 && to === 'rolled-back')
        await this.note(
          step,
          { state: this.state(step), why: `is being taken back: ${cause}` },
          { cause },
        )
      said = await this.#send(step, 'rollback')
      const conclusion = concludeRollback(said, step)
      if (conclusion?.state === 'broken')
        return this.#noteFailedReturn(step, cause, conclusion.why ?? resultText(said), said)
      if (conclusion) {
        const why = conclusion.why === null ? cause : `${cause}. ${conclusion.why}`
        return this.#conclude(step, { state: to, why }, said, why)
      }
      if (end.aborted) return
      if (said.kind === 'unsent' && (await this.passOverGone(step))) return
    }
    if (!said) return
    if (isCommon(said)) throw new Paused(`nothing can be sent: ${said.why}`)
    await this.#noteFailedReturn(step, cause, resultText(said), said)
  }

  #noteFailedReturn(step: PlanStep, cause: string, rollbackFailure: string, result: CommandResult) {
    const advice = 'Look at the node; highwater rollback asks it again'
    return this.#conclude(
      step,
      {
        state: 'broken',
        why: `${cause}. It could not be taken back: ${rollbackFailure}. ${advice}`,
      },
      result,
      cause,
    )
  }

  /** Skips a node whose instance is gone: it has not failed, and nothing is left to roll back. False: the instance exists, or that is unknown. */
  async passOverGone(step: PlanStep) {
    if (!(await this.#options.effects.isGone(step).catch(() => false))) return false
    await this.note(step, {
      state: 'skipped',
      why: 'its instance is gone, and with it all that was written',
    })
    return true
  }

  /** Writes to the journal, then to memory. @throws Overtaken, or what the store throws */
  async note(step: PlanStep, { state, why }: Conclusion, more: Partial<StepEntry> = {}) {
    const { journal, entries, effects } = this.#options
    const before = this.entry(step)
    const at =
      state === before.state
        ? before.at
        : { ...before.at, [state]: effects.clock.now().toISOString() }
    const entry = await journal.note({ ...before, ...more, state, why, at })
    entries.set(stepKey(step), entry)
    if (entry.state !== before.state || entry.why !== before.why) effects.onEntry?.(entry)
  }

  #conclude(step: PlanStep, conclusion: Conclusion, said: CommandResult, cause?: string) {
    return this.note(step, conclusion, {
      ...(said.kind === 'answer' && { answer: said.answer }),
      ...(cause !== undefined && { cause }),
    })
  }

  async #send(step: PlanStep, action: ApplyAction) {
    const notes: Promise<void>[] = []
    const result = await this.#options.effects.send(step, action, commandId => {
      const { state, why, commandIds } = this.entry(step)
      const conclusion: Conclusion =
        action === 'apply' ? { state: 'sent', why: null } : { state, why }
      const note = this.note(step, conclusion, { commandIds: [...commandIds, commandId] })
      // The note is awaited below; until then a rejection would be unhandled.
      note.catch(() => undefined)
      notes.push(note)
    })
    await Promise.all(notes)
    return result
  }

  /** False: the run has to end. */
  async #pause() {
    const { effects, end } = this.#options
    try {
      await effects.clock.sleep(againAfterMs, end)
      return true
    } catch (error) {
      if (end.aborted) return false
      throw error
    }
  }

  /** @throws Overtaken */
  requireLease(cluster: string) {
    if (!this.#options.leases.get(cluster)?.isHeld())
      throw new Overtaken(`the lease of cluster ${cluster} is lost: nothing more is sent`)
  }
}
