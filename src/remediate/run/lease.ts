/**
 * One apply at a time for each cluster: a lease in the store, renewed while a run works. Clocks of different machines are not compared where that
 * could matter: a run that finds a lease taken watches whether it is renewed. After one whole duration without a renewal the run takes the lease over.
 */

import pMap from 'p-map'
import * as z from 'zod'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { parsedJson } from '#base/raw-object.ts'
import { hourMs } from '#base/units.ts'
import { oneLine } from '#clients/failure.ts'
import type { Store } from '#clients/store/store.ts'
import type { Plan } from '#model/plan.ts'
import type { Clock } from './pausing.ts'

export interface LeaseOptions {
  store: Store
  /** The plan's name of the cluster, for people. */
  cluster: string
  /** The cluster's identity, by which the lease is named. */
  identity: string
  run: string
  /** The holder: unique for each process. */
  holder: string
  ttlMs: number
  clock: Clock
  signal: AbortSignal
  /** The lease as it was first seen; absent: it is read now. */
  seen?: Sighting | null
  /** Called once, if the lease has to be waited for. */
  onWait?: (text: string) => void
}

/** The text of a lease, and when it was first seen. A renewal would change the text. */
export interface Sighting {
  text: string
  sinceMs: number
}

const leaseSchema = z.object({
  schema: z.literal('highwater.lease/1'),
  /** Null: the lease was released. */
  holder: z.string().nullable(),
  /** The holder's name of the cluster. */
  cluster: z.string().optional(),
  run: z.string(),
  ttlMs: z.number(),
  /** `renewedAt` and `expiresAt` are RFC 3339, by the holder's clock. */
  renewedAt: z.string(),
  expiresAt: z.string().refine(time => !Number.isNaN(Date.parse(time))),
})
type LeaseText = z.infer<typeof leaseSchema>

/** Synchronized clocks differ by less. A lease that expired longer ago is not waited for. */
const skewMs = 15 * 60_000
const longestTtlMs = hourMs
const rounds = 5

export const leaseKey = (identity: string) =>
  `remediation/leases/${encodeURIComponent(identity)}.json`

/** A lease that is held until it is released or lost. */
export class Lease {
  readonly #options: LeaseOptions
  readonly #ended = new AbortController()
  readonly #lost = new AbortController()
  readonly #renewing: Promise<void>
  #validUntilMs: number

  constructor(options: LeaseOptions, validUntilMs: number) {
    this.#options = options
    this.#validUntilMs = validUntilMs
    this.#renewing = this.#keep()
  }

  /** Aborted when the lease is lost; the reason is for people. */
  get lost() {
    return this.#lost.signal
  }

  /** Whether this process is still the only holder. */
  isHeld() {
    return (
      !this.#lost.signal.aborted &&
      this.#options.clock.elapsedMs() < this.#validUntilMs - this.#options.ttlMs / 6
    )
  }

  /** Another run may take the lease at once. If the store cannot be reached, the lease expires. */
  async release() {
    this.#ended.abort()
    await this.#renewing
    if (this.#lost.signal.aborted) return
    await this.#replace(textOf(this.#options, null)).catch(() => false)
  }

  async #keep() {
    const { clock, ttlMs, cluster } = this.#options
    while (!this.#lost.signal.aborted) {
      try {
        await clock.sleep(ttlMs / 3, this.#ended.signal)
      } catch {
        return
      }
      const askedMs = clock.elapsedMs()
      const next = textOf(this.#options, this.#options.holder)
      const isOurs = await this.#replace(next).catch(() => null)
      if (isOurs === true) this.#validUntilMs = askedMs + ttlMs
      if (isOurs === false)
        this.#lost.abort(
          new Error(`the lease of cluster ${cluster} was taken over by another apply`),
        )
      if (isOurs === null && clock.elapsedMs() >= this.#validUntilMs)
        this.#lost.abort(
          new Error(
            `the lease of cluster ${cluster} could not be renewed in time: the store did not answer`,
          ),
        )
    }
  }

  /** False: another run has the lease by now. @throws what the store throws */
  async #replace(next: string) {
    const { store, identity } = this.#options
    const key = leaseKey(identity)
    for (let round = 0; round < rounds; round++) {
      const found = await store.read(key)
      if (!found || parseLease(found.body.toString('utf8'))?.holder !== this.#options.holder)
        return false
      if (await store.replace(key, next, found.version)) return true
    }
    throw new Error(`${store.location}/${key} was changed again and again`)
  }
}

/** Waits while it is unknown whether the holder still lives. @throws OperatorError if another run holds the lease, or what the store throws */
export async function takeLease(options: LeaseOptions) {
  const { store, cluster, identity, holder, clock, ttlMs, signal } = options
  const key = leaseKey(identity)
  let seen = options.seen ?? null
  let isSaid = false
  for (;;) {
    signal.throwIfAborted()
    const askedMs = clock.elapsedMs()
    const mine = textOf(options, holder)
    if (await store.create(key, mine)) return new Lease(options, askedMs + ttlMs)
    const found = await store.read(key)
    if (!found) continue
    const text = found.body.toString('utf8')
    const lease = parseLease(text)
    // Our own lease: the answer to the write was lost.
    const isFree =
      lease?.holder === holder ||
      (lease !== null &&
        (lease.holder === null || Date.parse(lease.expiresAt) + skewMs < clock.now().getTime()))
    if (!isFree && seen && seen.text !== text)
      throw new OperatorError(
        `Cluster ${cluster} is being changed by another apply (${runOf(lease, cluster)}, heard at ${oneLine(lease?.renewedAt ?? 'an unknown time', 40)}). Nothing was sent. Wait until it has ended`,
        { isBadInput: false },
      )
    seen ??= { text, sinceMs: clock.elapsedMs() }
    const unheardMs = Math.max(ttlMs, Math.min(lease?.ttlMs ?? 0, longestTtlMs))
    if (isFree || clock.elapsedMs() - seen.sinceMs >= unheardMs) {
      if (await store.replace(key, mine, found.version)) return new Lease(options, askedMs + ttlMs)
      continue
    }
    if (!isSaid)
      options.onWait?.(
        `the lease of cluster ${options.cluster} is held (${runOf(lease, options.cluster)}): waiting up to ${Math.ceil(options.ttlMs / 1000)} s to see whether that apply still lives`,
      )
    isSaid = true
    await clock.sleep(ttlMs / 6, signal)
  }
}

/** @param cluster our name of the cluster */
const runOf = (lease: LeaseText | null, cluster: string) => {
  if (!lease) return 'an unreadable one'
  const called =
    lease.cluster === undefined || lease.cluster === cluster
      ? ''
      : `, which calls it ${oneLine(lease.cluster, 200)}`
  return `run ${oneLine(lease.run, 64)}${called}`
}

function textOf({ cluster, run, ttlMs, clock }: LeaseOptions, holder: string | null) {
  const now = clock.now()
  const lease: LeaseText = {
    schema: 'highwater.lease/1',
    holder,
    cluster,
    run,
    ttlMs,
    renewedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + ttlMs).toISOString(),
  }
  return `${JSON.stringify(lease)}\n`
}

/** Null: the text is not a lease of highwater. */
const parseLease = (text: string) => leaseSchema.safeParse(parsedJson(text)).data ?? null

/* The leases of all clusters of a plan, by the identity of the cluster, not by its name. */

const atOnce = 10

/**
 * The journal of a begun run contains the identities, so the run can continue or be rolled back while an API server is away.
 * @param known by the plan's cluster names; null: the run is new. A cluster that it lacks is named by its name
 * @throws OperatorError if a cluster's identity is unknown
 */
export async function identitiesOf(
  plan: Plan,
  known: Readonly<Record<string, string>> | null,
  identityOf: (cluster: string) => Promise<string>,
): Promise<Record<string, string>> {
  const found = await pMap(
    [...new Set(plan.steps.map(({ cluster }) => cluster))].sort(),
    async (cluster): Promise<[string, string]> => {
      if (known) return [cluster, known[cluster] ?? cluster]
      try {
        return [cluster, await identityOf(cluster)]
      } catch (error) {
        throw new OperatorError(
          `Which cluster ${cluster} is was not read, and so not whether another apply changes it: ${messageOf(error)}. Nothing was sent. It takes list on namespaces (highwater permissions --remediate)`,
          { isBadInput: false, cause: error },
        )
      }
    },
    { concurrency: atOnce },
  )
  return Object.fromEntries(found)
}

/**
 * @param into by the plan's names. If a lease cannot be taken, the leases taken before are in it and have to be released
 * @throws OperatorError if another run holds a lease, or what the store throws
 */
export async function takeLeases(
  identities: Readonly<Record<string, string>>,
  into: Map<string, Lease>,
  options: Omit<LeaseOptions, 'cluster' | 'identity' | 'seen'>,
) {
  const { store, clock } = options
  const named = Map.groupBy(Object.entries(identities), ([, identity]) => identity)
  // One fixed order, so that two runs that want several clusters do not wait for each other.
  const wanted = [...named].sort(([a], [b]) => (a < b ? -1 : 1))
  // All at once, so that the leases of a crashed run are waited for together.
  const sightings = await pMap(
    wanted,
    async ([identity]) => {
      const found = await store.read(leaseKey(identity))
      return found && { text: found.body.toString('utf8'), sinceMs: clock.elapsedMs() }
    },
    { concurrency: atOnce },
  )
  for (const [index, [identity, names]] of wanted.entries()) {
    const clusters = names.map(([cluster]) => cluster)
    const lease = await takeLease({
      ...options,
      cluster: clusters.join(', '),
      identity,
      seen: sightings[index],
    })
    for (const cluster of clusters) into.set(cluster, lease)
  }
}
