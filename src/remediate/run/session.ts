/** Applies a plan or rolls a run back: makes all checks before anything is sent, takes the leases, and keeps the journal. */

import * as z from 'zod'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { parsedJson } from '#base/raw-object.ts'
import { firstReasons } from '#base/text.ts'
import type { Store } from '#clients/store/store.ts'
import {
  type Approval,
  type HeldApproval,
  type LeftAlone,
  type Plan,
  type RemediationRun,
  remediationSchema,
  type StepEntry,
  stepKey,
} from '#model/plan.ts'
import type { RemediationPolicy } from '#model/policy.ts'
import { byPolicy, changedSince, checkApproval } from '#remediate/plan/approve.ts'
import { Journal, pendingStep, type RunHead, withResumer } from './journal.ts'
import { identitiesOf, type Lease, takeLeases } from './lease.ts'
import type { Effects } from './node-work.ts'
import { runWaves } from './run.ts'
import { chunksOf, rollBackRun } from './take-back.ts'

export interface SessionOptions {
  store: Store
  /** The holder: unique for each process. */
  holder: string
  effects: Effects & {
    /** The cluster's identity, independent of its name. @throws if it cannot be read */
    identityOf(cluster: string): Promise<string>
  }
  policy: RemediationPolicy
  /** Once aborted, nothing more is sent; commands under way are waited for. */
  stop: AbortSignal
  /** Once aborted, nothing is waited for any more. */
  end: AbortSignal
  /** A longer pause between waves ends the call, but not the run; absent: all are waited for. */
  patienceMs?: number
  /** Called with a text for people while another run is waited for. */
  onWait?: (text: string) => void
}

export interface ApplyOptions extends SessionOptions {
  resume: boolean
  /** True: nodes that changed since the plan are skipped; false: they refuse the plan. */
  skipChanged: boolean
}

const namedNodes = 5
/** Nodes that are read together before anything is sent. */
const readAtOnce = 200

/** Applies a plan. A finished run is only reported. @throws OperatorError; the journal has the commands sent */
export async function applyPlan(
  plan: Plan,
  approval: HeldApproval,
  options: ApplyOptions,
): Promise<RemediationRun> {
  const { store, effects, holder, policy } = options
  if (plan.steps.length === 0)
    throw new OperatorError(`Plan ${plan.id} changes no node: there is nothing to apply`)
  const journal = new Journal(store, plan.id, holder)
  const known = await journal.head()
  const refusal = refusalOf(plan, approval, known, effects.clock.now().toISOString(), policy)
  // Begun steps may always be ended; new steps need the approval.
  if (refusal && (!known || approval.plan !== plan.digest)) throw refusal
  if (known && known.plan !== plan.digest)
    throw new OperatorError(
      `${store.location} has a run ${plan.id} of another plan: its digest is ${known.plan}. Use another store`,
    )
  if (known && known.endedAt !== null) return keptRun(plan, known, journal)
  if (known?.state === 'rolled-back') {
    if (options.resume) return rollBack(plan.id, options)
    throw new OperatorError(
      `Run ${plan.id} is being taken back, and that is not at its end: ${rollbackCommand(plan)} or --resume goes on with it`,
    )
  }
  if (known && !options.resume)
    throw new OperatorError(
      `Run ${plan.id} was begun at ${known.startedAt} and is not at its end: --resume goes on with it${rollbackHint(plan)}`,
    )
  return withLeases(plan, options, known, `--resume goes on with it${rollbackHint(plan)}`, held =>
    continueRun(plan, approval, journal, refusal?.message ?? null, options, held),
  )
}

interface Held {
  leases: ReadonlyMap<string, Lease>
  end: AbortSignal
  identities: Record<string, string>
}

/** @param refusal why nothing new may be sent; null: sending is allowed */
async function continueRun(
  plan: Plan,
  approval: HeldApproval,
  journal: Journal,
  refusal: string | null,
  options: ApplyOptions,
  { leases, end, identities }: Held,
): Promise<RemediationRun> {
  const { effects, policy, store } = options
  // Read anew: another run might have ended while this one waited for the lease.
  const now = await journal.head()
  const entries = await entriesOf(plan, journal, false)
  if (now && (now.endedAt !== null || now.state === 'rolled-back'))
    return documentOf(plan, now, entries)
  const over = (await journal.isOver())
    ? `Run ${plan.id} is over: it was stopped, rolled back or at its end. Its journal says otherwise, so an older one was put back. Nothing new is sent. Make the plan anew, and find out who can write below remediation/`
    : null
  if (!now && over !== null) throw new OperatorError(over, { isBadInput: false })
  if (!now && !options.skipChanged) await requireUnchanged(plan, { ...options, end })
  const head = now
    ? withResumer(now, approval)
    : await journal.begin(plan, approval, effects.clock.now().toISOString(), identities)
  const run = { ...options, plan, approval, journal, head, leases, end }
  const { auto } = policy
  const isCounted = approval.by === byPolicy && auto !== null
  const ended = await runWaves({
    ...run,
    entries,
    refusal: over ?? refusal,
    patienceMs: options.patienceMs ?? Number.POSITIVE_INFINITY,
    ofToday: async nodes =>
      isCounted
        ? beginToday(store, plan.id, nodes, auto.nodesPerDay, effects.clock.now())
        : new Set(nodes),
  })
  return journal.report(documentOf(plan, ended, entries))
}

/** Rollbacks and reports of finished runs need no approval. */
function refusalOf(
  plan: Plan,
  approval: Approval,
  known: RunHead | null,
  now: string,
  { auto }: RemediationPolicy,
) {
  if (
    (known !== null &&
      known.endedAt === null &&
      (known.state === 'stopped' || known.state === 'rolled-back')) ||
    (known && known.endedAt !== null && approval.plan === plan.digest)
  )
    return null
  try {
    checkApproval(plan, approval, now, auto)
    return null
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
}

/** Needs only the journal. A run without a journal is marked as over, so its plan is withdrawn. @throws OperatorError */
export async function rollBack(run: string, options: SessionOptions & { despiteErrors?: boolean }) {
  const { store, holder, despiteErrors = false } = options
  if (!/^[a-f0-9]{16}$/.test(run))
    throw new OperatorError(
      `${JSON.stringify(run.slice(0, 80))} is no run: a run is called by 16 hexadecimal characters`,
    )
  const journal = new Journal(store, run, holder)
  const known = await journal.head()
  if (!known) {
    await journal.noteOver()
    throw new OperatorError(
      `${store.location} has no run ${run}: nothing of it was ever sent, or it lies in another store. Its plan is withdrawn here: it can no longer be applied`,
    )
  }
  const plan = await journal.plan()
  return withLeases(
    plan,
    options,
    known,
    `${rollbackCommand(plan)} goes on with it`,
    async ({ leases, end }) => {
      const head = await journal.head()
      if (!head || head.plan !== plan.digest || plan.id !== run)
        throw new OperatorError(
          `The journal of run ${run} in ${store.location} has the plan of another run. Nothing was sent`,
          { isBadInput: false },
        )
      const entries = await entriesOf(plan, journal, true)
      const taken = { ...options, plan, journal, head, entries, leases, end }
      const ended = await rollBackRun({ ...taken, despiteErrors })
      return journal.report(documentOf(plan, ended, entries))
    },
  )
}

const rollbackCommand = ({ id }: Plan) => `highwater rollback ${id}`
const rollbackHint = (plan: Plan) => `, ${rollbackCommand(plan)} takes it back`

/** Checks as many nodes as time allows. If time ends, the run begins and pauses; its next start reads each node just before the change. @throws OperatorError */
async function requireUnchanged(plan: Plan, { effects, stop, end }: ApplyOptions) {
  const changed: LeftAlone[] = []
  for (const steps of chunksOf(plan.steps, readAtOnce)) {
    if (stop.aborted || end.aborted) break
    const present = await effects.present(steps).catch((error: unknown) => {
      if (!end.aborted) throw error
      return null
    })
    // A reading that was cut short does not show that a node is gone.
    if (present && !end.aborted) changed.push(...changedSince({ steps }, present))
  }
  if (changed.length === 0) return
  const reasons = changed.map(({ cluster, node, why }) => `${cluster}/${node}: ${why}`)
  throw new OperatorError(
    `Plan ${plan.id} no longer fits ${changed.length} of its ${plan.steps.length} nodes: ${firstReasons(reasons, namedNodes)}. Nothing was sent. Make the plan anew, or pass these over with --skip-changed`,
  )
}

/** The run in the journal; null: there is no such run. @throws OperatorError if it cannot be read */
export async function readKeptRun(run: string, store: Store): Promise<RemediationRun | null> {
  const journal = new Journal(store, run, 'no writer')
  const head = await journal.head()
  if (!head) return null
  return keptRun(await journal.plan(), head, journal)
}

async function keptRun(plan: Plan, head: RunHead, journal: Journal): Promise<RemediationRun> {
  return documentOf(plan, head, await entriesOf(plan, journal, false))
}

/** An entry for every node of the plan. */
async function entriesOf(
  plan: Plan,
  journal: Journal,
  isGoingBack: boolean,
): Promise<Map<string, StepEntry>> {
  const known = await journal.entries(plan.steps, isGoingBack)
  const waves = new Map(plan.waves.flatMap((wave, index) => wave.map(key => [key, index] as const)))
  return new Map(
    plan.steps.map(step => {
      const key = stepKey(step)
      return [key, { ...(known.get(key) ?? pendingStep(step)), wave: waves.get(key) ?? 0 }]
    }),
  )
}

function documentOf(
  plan: Plan,
  head: RunHead,
  entries: ReadonlyMap<string, StepEntry>,
): RemediationRun {
  const isOver = head.endedAt !== null
  return {
    schema: remediationSchema,
    ...head,
    steps: plan.steps.map(step => {
      const entry = entries.get(stepKey(step)) as StepEntry
      return isOver && entry.state === 'pending'
        ? { ...entry, state: 'skipped', why: 'the run ended before it came to it' }
        : entry
    }),
    leftAlone: [...plan.never, ...plan.refused],
  }
}

async function withLeases(
  plan: Plan,
  options: SessionOptions,
  known: RunHead | null,
  goesOn: string,
  work: (held: Held) => Promise<RemediationRun>,
) {
  const { store, holder, effects, policy, stop, onWait } = options
  const { clock, identityOf } = effects
  const leases = new Map<string, Lease>()
  try {
    const identities = await identitiesOf(plan, known?.clusters ?? null, identityOf)
    const ttlMs = policy.leaseTtlMs
    const lease = { store, run: plan.id, holder, ttlMs, clock, signal: stop, onWait }
    await takeLeases(identities, leases, lease)
    const lost = [...leases.values()].map(one => one.lost)
    return await work({ leases, end: AbortSignal.any([options.end, ...lost]), identities })
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `Run ${plan.id} broke off: ${messageOf(error)}. The journal in ${store.location} knows what was sent: ${goesOn}`,
      { isBadInput: false, cause: error },
    )
  } finally {
    for (const one of new Set(leases.values())) await one.release()
  }
}

/*
 * Nodes begun on a day under the policy's own approval. Each node takes one numbered place of the day, an object that is created once and never
 * changed. So two parallel runs together keep the daily limit, and there is no older count to put back.
 */

const placeSchema = z.object({
  schema: z.literal('highwater.begun/1'),
  run: z.string(),
  /** `cluster/node` */
  node: z.string(),
})

/** The day is in UTC. */
const placeKey = (now: Date, place: number) =>
  `remediation/begun/${now.toISOString().slice(0, 10)}/${place}.json`

/**
 * Nodes are noted before anything is sent, so a node whose run died counts, and counts once.
 * @param nodes `cluster/node`, in the order in which they are wanted
 * @returns the nodes that may be begun today
 * @throws what the store throws, and OperatorError if a place was deleted or cannot be read
 */
export async function beginToday(
  store: Store,
  run: string,
  nodes: readonly string[],
  nodesPerDay: number,
  now: Date,
): Promise<ReadonlySet<string>> {
  const may = new Set<string>()
  const wanted = new Set(nodes)
  let place = 0
  for (; place < nodesPerDay; place++) {
    const taken = await placeAt(store, placeKey(now, place))
    if (!taken) break
    if (taken.run === run && wanted.delete(taken.node)) may.add(taken.node)
  }
  for (const node of wanted) {
    const takeNext = () => takePlace(store, placeKey(now, place++), { run, node })
    // Another run may take a place first; then the next one is free.
    while (place < nodesPerDay && !may.has(node)) if (await takeNext()) may.add(node)
  }
  return may
}

/** Null: the place is free. */
async function placeAt(store: Store, key: string) {
  let found = await store.read(key)
  if (!found) {
    if (!(await store.wasWritten(key))) return null
    // Another run may have written it between the two questions.
    found = await store.read(key)
    if (!found) throw uncountedError(`${store.location}/${key} was deleted`)
  }
  const place = placeSchema.safeParse(parsedJson(found.body))
  if (!place.data) throw uncountedError(`${store.location}/${key} names no node`)
  return place.data
}

/** False: another run took it. */
async function takePlace(store: Store, key: string, place: { run: string; node: string }) {
  if ((await placeAt(store, key)) !== null) return false
  const text = `${JSON.stringify({ schema: 'highwater.begun/1', ...place })}\n`
  return store.create(key, text)
}

const uncountedError = (why: string) =>
  new OperatorError(
    `${why}: how many nodes were begun today is unknown, so the policy begins no more before 00:00 UTC`,
    { isBadInput: false },
  )
