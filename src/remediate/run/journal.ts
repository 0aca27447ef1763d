/**
 * What a run has done, in the store, for the run that continues after a crash. Each transition is written before and after its effect, and only
 * over the last known text. Unreadable entries are reported and the node is read; nothing is guessed.
 */

import pMap from 'p-map'
import * as z from 'zod'
import { OperatorError } from '#base/operator-error.ts'
import { parsedJson } from '#base/raw-object.ts'
import { oneLine } from '#clients/failure.ts'
import type { Store } from '#clients/store/store.ts'
import {
  type Approval,
  approverOf,
  type HeldApproval,
  type Plan,
  type PlanStep,
  type RemediationRun,
  runStates,
  type StepEntry,
  stepKey,
  stepStates,
} from '#model/plan.ts'
import { approvalText, parseBegunPlan, planText } from '#remediate/plan/file.ts'
import { Unsealed } from '#remediate/seal.ts'
import { answerForm } from './answer.ts'

/** A run without its nodes. */
export type RunHead = Omit<RemediationRun, 'schema' | 'steps' | 'leftAlone'>

const headSchema = 'highwater.run/1'
const entrySchema = 'highwater.step/1'
const commandIdsKept = 20
const readAtOnce = 10
const rounds = 5

/** Another process writes to the same run, so this process has to stop at once. */
export class Overtaken extends Error {}

/** The head of a run that continues under another approval. */
export function withResumer(head: RunHead, approval: Approval) {
  const { approvedBy, resumedBy = [] } = head
  const by = approverOf(approval)
  return by === approvedBy || resumedBy.includes(by)
    ? head
    : { ...head, resumedBy: [...resumedBy, by] }
}

/** The entry of a node that was not begun. */
export const pendingStep = ({ cluster, node, instanceId }: PlanStep): StepEntry => ({
  cluster,
  node,
  instanceId,
  wave: 0,
  state: 'pending',
  why: null,
  commandIds: [],
  answer: null,
  readyPods: null,
  at: {},
})

const time = z.string().refine(written => !Number.isNaN(Date.parse(written)), 'a time as RFC 3339')
const text = z.string().max(4000)
const headForm = z.strictObject({
  schema: z.literal(headSchema),
  writer: text,
  head: z.strictObject({
    run: text,
    plan: text,
    approvedBy: text,
    resumedBy: z.array(text).optional(),
    startedAt: time,
    endedAt: time.nullable(),
    state: z.enum(runStates),
    why: text.nullable(),
    unasked: z.array(text).optional(),
    clusters: z.record(text, text),
    notBack: z.array(text).optional(),
  }),
})
const entryForm = z.strictObject({
  schema: z.literal(entrySchema),
  writer: text,
  run: text,
  entry: z.strictObject({
    cluster: text,
    node: text,
    instanceId: text,
    wave: z.int().min(0),
    state: z.enum(stepStates),
    why: text.nullable(),
    cause: text.optional(),
    commandIds: z.array(text),
    answer: answerForm.nullable(),
    readyPods: z.array(text).nullable(),
    usedBytesBefore: z.number().nullable().optional(),
    seenBack: z.boolean().optional(),
    at: z.partialRecord(z.enum(stepStates), time),
  }),
})

export class Journal {
  readonly #store: Store
  readonly #run: string
  readonly #writer: string
  /** Texts in the store as this process knows them: it overwrites no other text. */
  readonly #known = new Map<string, string>()
  /** Keys of entries without a valid seal, in a run that is rolled back: these are overwritten. */
  readonly #unsealed = new Set<string>()

  /** @param writer unique for each process, so that a process recognises its own text */
  constructor(store: Store, run: string, writer: string) {
    this.#store = store
    this.#run = run
    this.#writer = writer
  }

  /** Null: there is no such run. @throws OperatorError if the stored text is no run */
  async head(): Promise<RunHead | null> {
    const key = this.#key('run.json')
    const written = await this.#read(key)
    if (written === null) return null
    const found = headForm.safeParse(parsedJson(written))
    if (!found.success || found.data.head.run !== this.#run)
      throw this.#unreadable(key, found.error?.issues[0]?.message)
    return found.data.head
  }

  /** @throws OperatorError if the plan is missing, or was changed since it was made */
  async plan(): Promise<Plan> {
    const key = this.#key('plan.json')
    const written = await this.#read(key)
    if (written === null) throw this.#unreadable(key, 'it is not there')
    return parseBegunPlan(written, `${this.#store.location}/${key}`)
  }

  /** Writes a new run. The head comes last, so a run that has a head is complete. */
  async begin(
    plan: Plan,
    approval: HeldApproval,
    startedAt: string,
    clusters: Record<string, string>,
  ) {
    await this.#store.write(this.#key('plan.json'), planText(plan))
    const approved = approval.sealed ?? approvalText(approval)
    await this.#store.write(this.#key('approval.json'), approved)
    const head: RunHead = {
      run: this.#run,
      plan: plan.digest,
      approvedBy: approverOf(approval),
      startedAt,
      endedAt: null,
      state: 'running',
      why: null,
      clusters,
    }
    await this.noteRun(head)
    return head
  }

  /** @throws Overtaken, or what the store throws */
  noteRun(head: RunHead) {
    return this.#write(this.#key('run.json'), {
      schema: headSchema,
      writer: this.#writer,
      head: { ...head, why: shortReason(head.why) },
    })
  }

  /** @throws Overtaken, or what the store throws */
  async note(entry: StepEntry): Promise<StepEntry> {
    const kept = {
      ...entry,
      why: shortReason(entry.why),
      ...(entry.cause !== undefined && { cause: oneLine(entry.cause, 1500) }),
      commandIds: entry.commandIds.slice(-commandIdsKept),
    }
    await this.#write(this.#entryKey(entry), {
      schema: entrySchema,
      writer: this.#writer,
      run: this.#run,
      entry: kept,
    })
    return kept
  }

  /**
   * By `cluster/node`. Nodes without a stored entry were not begun.
   * @param isGoingBack an entry without a valid seal then does not stop a rollback: the node itself knows what the run did there
   * @throws Unsealed otherwise
   */
  async entries(steps: readonly PlanStep[], isGoingBack: boolean): Promise<Map<string, StepEntry>> {
    const there = new Set(await Array.fromAsync(this.#store.list(this.#key('steps/'))))
    const begun = steps.filter(step => there.has(this.#entryKey(step)))
    const entries = await pMap(
      begun,
      async step => {
        const written = await this.#read(this.#entryKey(step)).catch((error: unknown) => {
          if (!isGoingBack || !(error instanceof Unsealed)) throw error
          this.#unsealed.add(this.#entryKey(step))
          return null
        })
        return this.#entry(step, written)
      },
      { concurrency: readAtOnce },
    )
    return new Map(entries.map(entry => [stepKey(entry), entry]))
  }

  /** Whether the run ended, was stopped or is rolled back. Restoring an older journal does not change the answer. */
  isOver() {
    return this.#store.wasWritten(this.#overKey)
  }

  /** From now on, nothing new is sent for the run. */
  async noteOver() {
    const mark = { schema: 'highwater.over/1', run: this.#run }
    await this.#store.create(this.#overKey, `${JSON.stringify(mark)}\n`)
  }

  /** Writes the whole run, for people and other programs. @returns the run */
  async report(run: RemediationRun) {
    await this.#store.write(this.#key('report.json'), `${JSON.stringify(run, null, 1)}\n`)
    return run
  }

  /** A node whose entry is unreadable, or is that of another node, counts as touched. */
  #entry(step: PlanStep, written: string | null): StepEntry {
    const { run, entry } = entryForm.safeParse(parsedJson(written ?? '')).data ?? {}
    const isIts = run === this.#run && entry !== undefined && stepKey(entry) === stepKey(step)
    if (isIts && entry.instanceId === step.instanceId) return entry
    const why = `its entry in the journal cannot be read (${this.#store.location}/${this.#entryKey(step)}), so it is not known what was done there`
    return { ...pendingStep(step), state: 'broken', why }
  }

  #key(name: string) {
    return `remediation/runs/${this.#run}/${name}`
  }

  get #overKey() {
    return `remediation/over/${this.#run}.json`
  }

  /** Names of clusters may contain slashes and colons. */
  #entryKey({ cluster, node }: Pick<PlanStep, 'cluster' | 'node'>) {
    return this.#key(`steps/${encodeURIComponent(cluster)}/${encodeURIComponent(node)}.json`)
  }

  async #read(key: string) {
    const found = await this.#store.read(key)
    if (!found) return null
    const written = found.body.toString('utf8')
    this.#known.set(key, written)
    return written
  }

  async #write(key: string, content: object) {
    const next = `${JSON.stringify(content)}\n`
    const isUnsealed = this.#unsealed.delete(key)
    if (isUnsealed) await this.#store.write(key, next)
    else await this.#writeOver(key, next, this.#known.get(key))
    this.#known.set(key, next)
  }

  /** @param known the text that is overwritten; undefined: there is none */
  async #writeOver(key: string, next: string, known: string | undefined) {
    for (let round = 0; round < rounds; round++) {
      if (known === undefined && (await this.#store.create(key, next))) return
      const found = await this.#store.read(key)
      const present = found?.body.toString('utf8')
      // Also true if the answer to our own write was lost.
      if (present === next) return
      if (!found || present !== known)
        throw new Overtaken(`another process writes to run ${this.#run} (${key}): this one stops`)
      if (await this.#store.replace(key, next, found.version)) return
    }
    throw new Error(
      `${this.#store.location}/${key} could not be written: it was changed again and again`,
    )
  }

  #unreadable(key: string, why = 'it is of another run') {
    return new OperatorError(
      `The journal of run ${this.#run} cannot be read: ${this.#store.location}/${key}: ${oneLine(why, 200)}. Nothing was sent. Put back what lay there (a bucket with versions still has it)`,
      { isBadInput: false },
    )
  }
}

const shortReason = (why: string | null) => (why === null ? null : oneLine(why, 1500))
