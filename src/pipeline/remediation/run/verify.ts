/** Verifies a plan: reads its nodes anew, replays them, and compares them with the promise of each step. */

import type { ClusterRecord, NodeInput } from '#model/input/record.ts'
import {
  type Plan,
  type PlanStep,
  stepKey,
  type Verification,
  type VerificationReport,
  verificationSchema,
} from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { withoutFiles } from '#pipeline/remediation/plan/node.ts'
import { stateOf } from '#pipeline/remediation/plan/state.ts'
import { kubeletStartedAt, notYetDoubt, verifyStep } from '#remediate/verify/verify.ts'
import { replay } from '#replay/replay.ts'
import { type FreshOptions, freshRecords, recordKey } from './fresh.ts'

/** Known facts about the applied change. */
export interface Applied {
  /** Time at which the change was seen to be done, RFC 3339. */
  at: string
  /** `namespace/name` of pods that were ready before; null: not known. */
  readyPods: readonly string[] | null
}

/** @param fresh from `freshRecords`, with the time of its reading */
export function verifyNode(
  step: PlanStep,
  fresh: NodeInput,
  policy: Policy,
  applied: Applied,
): Verification {
  const at = fresh.at ?? applied.at
  const present = { ...fresh, host: withoutFiles(fresh.host) }
  const replayed = stateOf(present, replay(present, at), policy)
  return verifyStep(step, fresh, replayed, applied.readyPods, at, applied.at)
}

/**
 * For a plan that was carried out by hand: neither the time nor the earlier state is known.
 * @param steps the requested steps of the plan
 * @param onNode after each node that was read
 * @throws OperatorError and the errors of the source
 */
export async function verifyPlan(
  plan: Plan,
  steps: readonly PlanStep[],
  options: FreshOptions,
  onNode: () => void,
): Promise<VerificationReport> {
  const byKey = new Map(steps.map(step => [stepKey(step), step]))
  const found = new Map<string, Verification>()
  const clusters = new Map<string, ClusterRecord>()
  for await (const record of freshRecords(steps, options)) {
    if (record.kind === 'Cluster') clusters.set(record.cluster, record)
    if (record.kind !== 'Node') continue
    const step = byKey.get(recordKey(record))
    if (!step) continue
    found.set(stepKey(step), verifyRecord(plan, step, record, options.policy))
    onNode()
  }
  const nodes = steps.map(step => {
    const { cluster, node } = step
    return { cluster, node, ...(found.get(stepKey(step)) ?? missingNode(clusters.get(cluster))) }
  })
  const count = (state: Verification['state']) => nodes.filter(one => one.state === state).length
  return {
    schema: verificationSchema,
    plan: plan.digest,
    counts: { verified: count('verified'), notYet: count('not-yet'), wrong: count('wrong') },
    nodes,
  }
}

function verifyRecord(plan: Plan, step: PlanStep, record: NodeInput, policy: Policy) {
  // Node data from before the plan says nothing about the change.
  if (Date.parse(record.at ?? '') <= Date.parse(plan.createdAt))
    return notYetDoubt(
      `it was read at ${record.at}, before the plan was made: read it after the change`,
    )
  return verifyNode(step, record, policy, { at: changedAt(plan, record), readyPods: null })
}

function missingNode(cluster: ClusterRecord | undefined): Verification {
  if (!cluster) return notYetDoubt('its cluster was not found, or not reached')
  const error = (cluster.errors ?? []).find(({ what }) => what === 'cluster' || what === 'nodes')
  return {
    state: 'not-yet',
    why: error
      ? `the node was not read: ${error.message}`
      : 'the node was not found: it may be gone',
  }
}

/** The last start of the node's kubelet if it was after the plan, else the plan's time. A start after the reading shows a wrong clock. */
function changedAt({ createdAt }: Plan, record: NodeInput) {
  const started = Date.parse(kubeletStartedAt(record) ?? '')
  const isSince = started > Date.parse(createdAt) && started <= Date.parse(record.at ?? '')
  return isSince ? new Date(started).toISOString() : createdAt
}
