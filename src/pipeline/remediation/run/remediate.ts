/** Carries out a plan: reads its nodes anew, checks for objections, sends each wave, and reads each node again until the change is verified. */

import { untilItFails } from '#base/until-it-fails.ts'
import { KubernetesClient } from '#clients/kubernetes/kubernetes.ts'
import type { AwsPlace, ClusterTarget } from '#discover/discover.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { type NodeInput, promisedSources } from '#model/input/record.ts'
import {
  type HeldApproval,
  type Plan,
  type PlanStep,
  type RemediationRun,
  stepKey,
} from '#model/plan.ts'
import { addReleases } from '#pipeline/remediation/plan/node.ts'
import { whyNotNow } from '#pipeline/remediation/plan/step-now.ts'
import { clusterIdentity } from '#remediate/cluster-identity.ts'
import { keepNotices } from '#remediate/notices.ts'
import type { PresentNode } from '#remediate/plan/approve.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import { readyPodsOf } from '#remediate/pods.ts'
import { settingsSha256 } from '#remediate/remedies/set-bottlerocket.ts'
import { Applier } from '#remediate/run/apply.ts'
import { blockersOf } from '#remediate/run/blockers.ts'
import { type Clock, systemClock } from '#remediate/run/pausing.ts'
import {
  type ApplyOptions,
  applyPlan,
  readKeptRun,
  rollBack,
  type SessionOptions,
} from '#remediate/run/session.ts'
import { hashOnDisk, kubeletStartedAt, verifyBack } from '#remediate/verify/verify.ts'
import { replay } from '#replay/replay.ts'
import { type FreshOptions, freshClusters, freshRecords, recordKey } from './fresh.ts'
import type { RemediateOptions } from './options.ts'
import { verifyNode } from './verify.ts'

/** @throws OperatorError before anything is sent, or if the run stopped early: the journal then says how to continue */
export function remediate(
  plan: Plan,
  approval: HeldApproval,
  options: RemediateOptions & Pick<ApplyOptions, 'resume' | 'skipChanged'>,
) {
  const { resume, skipChanged } = options
  const { steps, cohorts } = plan
  const { allowActAtOnce } = approval.options
  return withNodes(plan.id, { steps, cohorts, allowActAtOnce }, options, session =>
    applyPlan(plan, approval, { ...session, resume, skipChanged }),
  )
}

/** Takes back what a run has changed, by its journal. @throws OperatorError as remediate */
export const takeBack = (run: string, options: RemediateOptions & { despiteErrors: boolean }) =>
  withNodes(run, { steps: [], cohorts: [], allowActAtOnce: false }, options, session =>
    rollBack(run, { ...session, despiteErrors: options.despiteErrors }),
  )

async function withNodes(
  run: string,
  planned: Planned,
  options: RemediateOptions,
  work: (session: SessionOptions) => Promise<RemediationRun>,
) {
  const { policy, store, holder, stop, end, patienceMs, onWait } = options
  const nodes = new LiveNodes(run, planned, options)
  // If the list cannot be written, the run is still in its journal.
  const note = (kept: RemediationRun | null) =>
    keepNotices(store, { runs: kept ? [kept] : [] }, nodes.clock.now()).catch(() => undefined)
  try {
    const ended = await work({
      store,
      holder,
      stop,
      end,
      onWait,
      policy: policy.remediation,
      patienceMs,
      effects: options.effects?.(run) ?? nodes,
    })
    await note(ended)
    return ended
  } catch (error) {
    await note(await readKeptRun(run, store).catch(() => null))
    throw error
  } finally {
    nodes.close()
  }
}

/* The nodes of a plan and their clusters as they are now: sends commands by SSM, and reads the nodes anew each time. */

type LiveEffects = SessionOptions['effects']

/** The steps that may be sent. Empty for a rollback, which sends no new step. */
interface Planned extends Pick<Plan, 'steps' | 'cohorts'> {
  /** The option --allow-act-at-once, as approved. */
  allowActAtOnce: boolean
}

/** Its effects are fields, because callers take single ones. */
class LiveNodes implements LiveEffects {
  readonly clock: Clock
  readonly onEntry: LiveEffects['onEntry']
  readonly #run: string
  readonly #planned: Planned
  readonly #options: RemediateOptions
  /** By role and region: SSM's limits apply to an account and region, whatever the cluster. */
  readonly #appliers = new Map<string, Applier>()
  readonly #targets = new Map<string, Promise<ClusterTarget | null>>()
  readonly #clients = new Map<string, KubernetesClient>()

  constructor(run: string, planned: Planned, options: RemediateOptions) {
    this.#run = run
    this.#planned = planned
    this.#options = options
    this.clock = options.clock ?? systemClock
    this.onEntry = options.onEntry
  }

  readonly send: LiveEffects['send'] = async (step, ...command) => {
    const target = await this.#targetOf(step.cluster).catch((error: Error) => error.message)
    const place = typeof target === 'string' ? target : target?.place
    const found = place ?? `it is not known in which account and region cluster ${step.cluster} is`
    if (typeof found === 'string') return { kind: 'unsent', why: found, isCommon: true } as const
    return this.#applierOf(found).send(step, ...command)
  }

  readonly before: LiveEffects['before'] = async steps => {
    const names = new Set(steps.map(({ cluster }) => cluster))
    const others = this.#planned.steps.filter(
      step => names.has(step.cluster) && !steps.includes(step),
    )
    const clusters = await freshClusters(steps, { ...this.#fresh, depth: 'pods' })
    // The number of NotReady nodes among all nodes shows whether something else is wrong with the cluster.
    const rest = await freshClusters(others, { ...this.#fresh, depth: 'nodes' })
    const before = {
      reasons: [] as string[],
      nodes: new Map<string, string>(),
      later: new Set<string>(),
      unasked: [] as string[],
      readyPods: new Map<string, string[] | null>(),
    }
    for (const [cluster, fresh] of clusters) {
      const own = steps.filter(step => step.cluster === cluster)
      const all = { ...fresh, nodes: [...fresh.nodes, ...(rest.get(cluster)?.nodes ?? [])] }
      const blockers = blockersOf(own, all, this.#options.policy.remediation, this.clock.now())
      before.unasked.push(...blockers.unasked.map(why => `${cluster}: ${why}`))
      before.reasons.push(...blockers.cluster.map(why => `${cluster}: ${why}`))
      for (const [node, why] of blockers.nodes) before.nodes.set(stepKey({ cluster, node }), why)
      for (const node of blockers.later) before.later.add(stepKey({ cluster, node }))
      for (const record of fresh.nodes) before.readyPods.set(recordKey(record), readyPodsOf(record))
    }
    return before
  }

  readonly verify: LiveEffects['verify'] = entries => {
    const entryOf = new Map(entries.map(({ step, entry }) => [step, entry]))
    return this.#readEach([...entryOf.keys()], (step, record) => {
      const entry = entryOf.get(step)
      const at = entry?.at.applied ?? this.clock.now().toISOString()
      const readyPods = entry?.readyPods ?? null
      return verifyNode(step, record, this.#options.policy, { at, readyPods })
    })
  }

  readonly verifyBack: LiveEffects['verifyBack'] = steps => this.#readEach(steps, verifyBack)

  readonly imageUse: LiveEffects['imageUse'] = steps =>
    this.#readEach(steps, (_, record) => {
      const imagefs = replay(record, record.at ?? this.clock.now().toISOString()).filesystems
        .imagefs
      const { usedPercent = null, capacityBytes = null, availableBytes = null } = imagefs ?? {}
      return usedPercent === null || capacityBytes === null || availableBytes === null
        ? null
        : { usedPercent, usedBytes: capacityBytes - availableBytes }
    })

  /** Whether the node is deleted. True only if the node list of its cluster is complete: a silent node is not deleted. */
  readonly isGone: LiveEffects['isGone'] = async step => {
    const fresh = (await freshClusters([step], { ...this.#fresh, depth: 'nodes' })).get(
      step.cluster,
    )
    const isListed =
      fresh?.cluster != null &&
      !(fresh.cluster.errors ?? []).some(({ what }) => what === 'nodes' || what === 'cluster')
    return (
      isListed &&
      fresh.nodes.every(({ node }) => instanceIdOf(nodeIdentity(node)) !== step.instanceId)
    )
  }

  readonly present: LiveEffects['present'] = async steps => {
    const present = await this.#readEach(steps, (step, record, releases): PresentNode => {
      const { cluster, node, method } = step
      const sha256 =
        method === 'bottlerocket' ? settingsSha256(record.host) : hashOnDisk(step, record)
      const identity = nodeIdentity(record.node)
      const isAsPlannedOrUnread = sha256 === null || sha256 === step.newSha256
      const release = releases.get(`${cluster}/${identity.group.name}`) ?? null
      return {
        cluster,
        node,
        instanceId: instanceIdOf(identity) ?? 'none that is known',
        sha256,
        unread: whyUnread(record),
        kubeletStartedAt: kubeletStartedAt(record),
        objection: isAsPlannedOrUnread ? null : this.#objectionTo(step, record, release),
      }
    })
    return [...present.values()]
  }

  #objectionTo(step: PlanStep, record: NodeInput, releaseVersion: string | null) {
    const { cohorts, allowActAtOnce } = this.#planned
    const cohort = cohorts.find(({ id }) => id === step.cohort)
    const now = { step, cohort, record, allowActAtOnce, policy: this.#options.policy }
    const why = whyNotNow({ ...now, releaseVersion })
    // A plan from a kubeconfig has no release, and uses the file location that every release reads.
    return why === null || releaseVersion === null
      ? why
      : whyNotNow({ ...now, releaseVersion: null }) && why
  }

  /** @throws if the API server does not answer, or the answer lacks the identity */
  readonly identityOf: LiveEffects['identityOf'] = async cluster => {
    const { policy, end } = this.#options
    const endpoint = (await this.#targetOf(cluster))?.endpoint ?? null
    if (!endpoint) throw new Error('it was not found, or cannot be reached')
    const client =
      this.#clients.get(cluster) ?? new KubernetesClient(endpoint, { pace: policy.pace })
    this.#clients.set(cluster, client)
    return clusterIdentity(client, { signal: end, timeoutMs: policy.timeoutsMs.list })
  }

  close() {
    for (const each of [...this.#appliers.values(), ...this.#clients.values()]) each.close()
  }

  get #fresh(): FreshOptions {
    const { policy, end, read } = this.#options
    return { policy, signal: end, read }
  }

  /**
   * Results by `cluster/node`, for the nodes that were read.
   * @param resultOf also gets the AMI releases by `cluster/nodegroup`
   */
  async #readEach<Found>(
    steps: readonly PlanStep[],
    resultOf: (
      step: PlanStep,
      record: NodeInput,
      releases: ReadonlyMap<string, string>,
    ) => Found | null,
  ) {
    const byKey = new Map(steps.map(step => [stepKey(step), step]))
    const releases = new Map<string, string>()
    const found = new Map<string, Found>()
    for await (const record of freshRecords(steps, this.#fresh)) {
      if (record.kind === 'Cluster') addReleases(releases, record)
      if (record.kind !== 'Node') continue
      const step = byKey.get(recordKey(record))
      const one = step ? resultOf(step, record, releases) : null
      if (one !== null) found.set(recordKey(record), one)
    }
    return found
  }

  #targetOf(cluster: string) {
    return untilItFails(this.#targets, cluster, async () => {
      for await (const target of await this.#options.targets([cluster]))
        if (target.record.cluster === cluster) return target
      return null
    })
  }

  /** The key is role and region: each discovery makes new place objects. */
  #applierOf(place: AwsPlace) {
    const { policy, end } = this.#options
    const key = `${place.roleArn ?? 'own'} ${place.region}`
    const applier =
      this.#appliers.get(key) ??
      new Applier({
        ...place,
        requestsPerSecond: policy.pace.ssmRequestsPerSecond,
        run: this.#run,
        timeoutSeconds: policy.remediation.timeoutSeconds,
        answerTimeoutMs: policy.remediation.answerTimeoutMs,
        signal: end,
      })
    this.#appliers.set(key, applier)
    return applier
  }
}

/** Why the node's disk was not read; null: no reason is known. */
function whyUnread({ mode, errors }: NodeInput) {
  if (!promisedSources[mode].includes('host'))
    return `that takes mode ssm or both, and its cluster is read in mode ${mode}`
  return errors.find(({ what }) => what === 'host')?.message ?? null
}
