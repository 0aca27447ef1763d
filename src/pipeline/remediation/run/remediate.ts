/** Carries out a plan: reads its nodes anew, checks for objections, sends each wave, and reads each node again until the change is verified. */

import { untilItFails } from '#base/until-it-fails.ts'
import { KubernetesClient } from '#clients/kubernetes/kubernetes.ts'
import type { HeldApproval, Plan } from '#model/plan/plan.ts'
import type { RemediationRun } from '#model/plan/remediation.ts'
import { clusterIdentity } from '#remediate/cluster-identity.ts'
import { keepNotices } from '#remediate/notices.ts'
import { systemClock } from '#remediate/run/clock.ts'
import {
  type ApplyOptions,
  applyPlan,
  rollBack,
  runAsKept,
  type SessionOptions,
} from '#remediate/run/session.ts'
import { LiveNodes, type Planned } from './live-nodes.ts'
import type { RemediateOptions } from './options.ts'

/** @throws OperatorError before anything is sent, or if the run stopped early: the journal then says how to continue */
export function remediate(
  plan: Plan,
  approval: HeldApproval,
  options: RemediateOptions & Pick<ApplyOptions, 'resume' | 'skipChanged'>,
): Promise<RemediationRun> {
  const { resume, skipChanged } = options
  const { steps, cohorts } = plan
  const { allowActAtOnce } = approval.options
  return withNodes(plan.id, { steps, cohorts, allowActAtOnce }, options, session =>
    applyPlan(plan, approval, { ...session, resume, skipChanged }),
  )
}

/** Takes back what a run has changed, by its journal. @throws OperatorError as remediate */
export const takeBack = (
  run: string,
  options: RemediateOptions & { despiteErrors: boolean },
): Promise<RemediationRun> =>
  withNodes(run, { steps: [], cohorts: [], allowActAtOnce: false }, options, session =>
    rollBack(run, { ...session, despiteErrors: options.despiteErrors }),
  )

async function withNodes(
  run: string,
  planned: Planned,
  options: RemediateOptions,
  work: (session: SessionOptions) => Promise<RemediationRun>,
): Promise<RemediationRun> {
  const { policy, store, holder, stop, end, patienceMs, onEntry, onWait } = options
  const { clock = systemClock } = options
  const nodes = new LiveNodes(run, planned, options)
  const clusters = new LiveClusters(options)
  // If the list cannot be written, the run is still in its journal.
  const note = (kept: RemediationRun | null) =>
    keepNotices(store, { runs: kept === null ? [] : [kept] }, clock.now()).catch(() => undefined)
  try {
    const ended = await work({
      store,
      holder,
      stop,
      end,
      onWait,
      policy: policy.remediation,
      ...(patienceMs !== undefined && { patienceMs }),
      effects: options.effects?.(run) ?? {
        clock,
        send: (step, action, onSent) => nodes.send(step, action, onSent),
        before: steps => nodes.before(steps),
        verify: entries => nodes.verify(entries),
        verifyBack: steps => nodes.verifyBack(steps),
        imageUse: steps => nodes.imageUse(steps),
        isGone: step => nodes.isGone(step),
        present: steps => nodes.present(steps),
        identityOf: cluster => clusters.identityOf(cluster),
        onEntry,
      },
    })
    await note(ended)
    return ended
  } catch (error) {
    await note(await runAsKept(run, store).catch(() => null))
    throw error
  } finally {
    nodes.close()
    clusters.close()
  }
}

/** The API servers that a run calls itself, each connected once, to identify their clusters. */
class LiveClusters {
  readonly #options: RemediateOptions
  readonly #clients = new Map<string, Promise<KubernetesClient | null>>()
  readonly #open: KubernetesClient[] = []

  constructor(options: RemediateOptions) {
    this.#options = options
  }

  /** @throws if the API server does not answer, or the answer lacks the identity */
  async identityOf(cluster: string): Promise<string> {
    const { policy, end } = this.#options
    const kubernetes = await this.#clientOf(cluster)
    if (kubernetes === null) throw new Error('it was not found, or cannot be reached')
    return clusterIdentity(kubernetes, { signal: end, timeoutMs: policy.timeoutsMs.list })
  }

  close(): void {
    for (const client of this.#open) client.close()
  }

  #clientOf(cluster: string): Promise<KubernetesClient | null> {
    return untilItFails(this.#clients, cluster, () => this.#found(cluster))
  }

  async #found(cluster: string): Promise<KubernetesClient | null> {
    const { policy, targets } = this.#options
    for await (const { record, endpoint } of await targets([cluster])) {
      if (record.cluster !== cluster || endpoint === null) continue
      const client = new KubernetesClient(endpoint, { pace: policy.pace })
      this.#open.push(client)
      return client
    }
    return null
  }
}
