/** The story of a plan: a saved fleet is audited, its findings (or an operator's settings) become files, and each is replayed before anyone approves it. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { durableFixes, originOf } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { nodeSubject } from '#judge/subject.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Plan } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { type ClusterRecord, isRawObject, type NodeRecord, type RawObject } from '#model/record.ts'
import type { Selection } from '#model/selection.ts'
import { FleetPods } from '#remediate/blast.ts'
import { whyNever } from '#remediate/never.ts'
import { type CohortFacts, type CohortKey, PlanBuilder, type PlanHead } from '#remediate/plan.ts'
import { withConfigurationOnDisk } from '#replay/configuration/configuration-on-disk.ts'
import { replay } from '#replay/replay.ts'
import { prune } from '#snapshot/prune.ts'
import { savedFleet } from './fleet.ts'
import { type ChosenFix, checkChanges, chosenFixes, ownFixes, type PlanChoice, settle, wantsFindings } from './plan-choice.ts'
import { isStatusKept, type Planned, type PlanRules, planNode } from './plan-node.ts'
import { changesOf } from './plan-start.ts'
import { savedAudit } from './saved-audit.ts'
import { rejectUnknownNames } from './selection-check.ts'
import { rules } from './shelves.ts'

export { approve } from '#remediate/approve.ts'
export { approvalText, parsePlan, planText } from '#remediate/plan-file.ts'
export { parseChange } from '#replay/configuration/configuration-change.ts'

export interface PlanRequest extends PlanChoice {
  allowActAtOnce: boolean
  selection: Selection
  policy: Policy
  version: string
}

export interface PlanResult {
  plan: Plan
  /** Broken lines of the snapshot. */
  inputErrors: string[]
  /** Nodes refused only because they told too little. */
  unread: number
}

/** @param file a snapshot; it is read several times, so that no fleet has to fit into memory @throws OperatorError */
export async function makePlan(file: string, request: PlanRequest): Promise<PlanResult> {
  const { policy, selection } = request
  checkChanges(request.changes)
  const fixes = wantsFindings(request) ? await fixesOf(file, request) : new Map<string, ChosenFix[]>()
  const fleet = await readFleet(file, selection)
  const builder = new PlanBuilder()
  const planRules: PlanRules = { policy, allowActAtOnce: request.allowActAtOnce, fleet: fleet.pods }
  const seen = new Set<string>()
  const identities: NodeIdentity[] = []
  const invalid: string[] = []
  let unread = 0
  for await (const read of savedFleet(file, selection)) {
    if (read.kind !== 'Node') continue
    // Where nobody asked the kubelet, what its files come to stands for what runs, as everywhere.
    const { record } = withConfigurationOnDisk(prune(read))
    const identity = nodeIdentity(record.node)
    const name = `${record.cluster}/${identity.name}`
    // As in an audit, only the first of two counts.
    if (seen.size === seen.add(name).size) continue
    identities.push(identity)
    const meant = fixes.get(name) ?? []
    const own = ownFixes(meant, () => nodeSubject(record, replay(record, fleet.head.takenAt)), policy)
    if (own.length === 0 && request.changes.length === 0) continue
    const running = runningOf(record)
    const { patch, findings, conflict } = settle(own, request.changes, running ?? {}, identity.kubeletVersion)
    if (conflict === null && Object.keys(patch).length === 0) {
      builder.takeUnchanged()
      continue
    }
    const key = cohortOf(record, identity, patch)
    const never = whyNever(identity)
    const node = {
      record,
      takenAt: fleet.head.takenAt,
      identity,
      running,
      patch,
      releaseVersion: fleet.releaseOf(record.cluster, identity),
    }
    const outcome: Planned =
      never !== null ? { state: 'never', why: never } : conflict !== null ? { state: 'refused', why: conflict } : planNode(node, planRules)
    if (outcome.because === 'unread') unread++
    if (outcome.because === 'invalid' && outcome.state === 'refused') invalid.push(`${name}: ${outcome.why}`)
    builder.take(identity.name, key, findings, factsOf(identity, patch, running ?? {}), outcome)
  }
  rejectUnknownNames(
    selection,
    identities.map(identity => ({ identity })),
  )
  const plan = builder.close(fleet.head, policy.remediation.wavePercents)
  if (plan.steps.length === 0 && invalid.length > 0)
    throw new OperatorError(`${invalid[0]}${invalid.length > 1 ? `; and so on ${invalid.length - 1} more nodes` : ''}. Nothing was planned`)
  return { plan, inputErrors: fleet.inputErrors, unread }
}

async function fixesOf(file: string, request: PlanRequest): Promise<Map<string, ChosenFix[]>> {
  const unknown = request.rules.find(rule => !rules.some(({ id }) => id === rule))
  if (unknown !== undefined)
    throw new OperatorError(`No rule is called ${JSON.stringify(unknown.slice(0, 80))}. highwater explain lists them all`)
  const { document } = await savedAudit(file, request)
  return chosenFixes(document.findings, request)
}

interface Fleet {
  head: PlanHead
  pods: FleetPods
  inputErrors: string[]
  /** Of the node's nodegroup, while nothing is changing it; null: not known. */
  releaseOf(cluster: string, identity: NodeIdentity): string | null
}

/** What one node alone does not tell: every pod of its cluster, whichever nodes were chosen. */
async function readFleet(file: string, { clusters }: Selection): Promise<Fleet> {
  const pods = new FleetPods()
  const inputErrors: string[] = []
  const releases = new Map<string, string>()
  let head: PlanHead | null = null
  for await (const record of savedFleet(file, { clusters, nodegroups: [], nodes: [] })) {
    if (record.kind === 'Malformed') inputErrors.push(`line ${record.line}: ${record.message}`)
    if (record.kind === 'Snapshot') head = { takenAt: record.takenAt, account: record.account ?? null, region: record.region ?? null }
    if (record.kind === 'Objects') pods.takeObjects(prune(record))
    if (record.kind === 'Node') pods.takeNode(prune(record))
    if (record.kind === 'Cluster') {
      pods.takeCluster(record)
      for (const [name, version] of releasesOf(record)) releases.set(`${record.cluster}/${name}`, version)
    }
  }
  if (head === null) throw new OperatorError(`${file} does not begin with a snapshot's first line, so it is not known when it was taken`)
  return { head, pods, inputErrors, releaseOf: (cluster, { group }) => releases.get(`${cluster}/${group.name}`) ?? null }
}

const releasesOf = ({ nodegroups }: ClusterRecord): [name: string, version: string][] =>
  (Array.isArray(nodegroups) ? nodegroups : []).flatMap(({ nodegroupName, releaseVersion }) =>
    typeof nodegroupName === 'string' && typeof releaseVersion === 'string' ? [[nodegroupName, releaseVersion]] : [],
  )

const runningOf = ({ configz }: NodeRecord): RawObject | null => (isRawObject(configz?.kubeletconfig) ? configz.kubeletconfig : null)

/** Nodes without a group are one of their cluster's, or each of them would go first. */
const cohortOf = ({ cluster }: NodeRecord, { group, amiFamily, kubeletVersion }: NodeIdentity, fields: RawObject): CohortKey => ({
  cluster,
  group: group.kind === 'Node' ? { kind: 'Cluster', namespace: null, name: cluster } : group,
  amiFamily,
  kubeletVersion: featuresOf(kubeletVersion).minor === null ? 'unknown' : `1.${featuresOf(kubeletVersion).minor}`,
  fields,
})

function factsOf(identity: NodeIdentity, patch: RawObject, running: RawObject): CohortFacts {
  const features = featuresOf(identity.kubeletVersion)
  return {
    features,
    isStatusKept: isStatusKept(running, features),
    durable: () => {
      const fields = changesOf(patch, running).flatMap(({ path: [field = ''], value }) =>
        value === undefined ? [] : [[field, value] as const],
      )
      return durableFixes(durableTargets, identity.group, [{ origin: originOf(identity), config: Object.fromEntries(fields) }])
    },
  }
}
