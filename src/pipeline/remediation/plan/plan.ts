/** The use case of a plan: audits a saved fleet, turns findings or given settings into files, and replays each change. */

import { messageOf, OperatorError } from '#base/operator-error.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { rules } from '#judge/rules/index.ts'
import type { Finding } from '#model/finding.ts'
import {
  type NodeIdentity,
  type ReadMode,
  type Selection,
  selectsAllNodes,
  selectsNode,
} from '#model/input/record.ts'
import {
  actsAtOnce,
  type Plan,
  type PlannedSnapshot,
  type ReportedPlan,
  stepKey,
} from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { PlanBeside } from '#model/report.ts'
import { rejectUnknownNames, savedFleet } from '#pipeline/audit/fleet.ts'
import { savedAudit } from '#pipeline/audit/saved/saved-findings.ts'
import { planText } from '#remediate/plan/file.ts'
import { FleetPods } from '#remediate/pods.ts'
import { withConfigurationOnDisk } from '#replay/configuration/configuration-on-disk.ts'
import { nodeInput } from '#snapshot/input.ts'
import { PlanBuilder } from './builder.ts'
import {
  type ChosenFix,
  chosenFixes,
  type NodeProposals,
  type PlanChoice,
  wantsFindings,
} from './choice.ts'
import { FleetImageDigests } from './images.ts'
import { FleetLogFiles } from './log-files.ts'
import { addReleases, type PlanRules, readNode } from './node.ts'
import type { PruneWish } from './prune.ts'
import { checkRequest, laterText, wishesOf } from './wishes.ts'

export interface PlanRequest extends PlanChoice {
  allowActAtOnce: boolean
  /** Prunes images instead of applying findings or changes. */
  prune?: PruneWish | null
  selection: Selection
  policy: Policy
  version: string
  signal?: AbortSignal
}

export interface PlanResult {
  plan: Plan
  /** Broken lines of the snapshot. */
  inputErrors: string[]
  /** Number of nodes refused only because too little of them was read. */
  unread: number
}

/** @param file a snapshot; it is read several times, so that no fleet has to fit into memory @throws OperatorError */
export async function makePlan(file: string, request: PlanRequest): Promise<PlanResult> {
  const { policy, selection, prune: pruneWish = null } = request
  checkRequest(request)
  const fixes =
    !pruneWish && wantsFindings(request)
      ? await fixesOf(file, request)
      : new Map<string, ChosenFix[]>()
  const fleet = await readFleet(file, request)
  const builder = new PlanBuilder()
  const planRules: PlanRules = { policy, allowActAtOnce: request.allowActAtOnce, fleet: fleet.pods }
  const seen = new Set<string>()
  const identities: NodeIdentity[] = []
  const invalid: string[] = []
  let unread = 0
  for await (const read of savedFleet(file, selection, request.signal)) {
    if (read.kind !== 'Node') continue
    // If configz is unread, the configuration on disk replaces the running one, as in an audit.
    const { input: record } = withConfigurationOnDisk(nodeInput(read))
    const identity = nodeIdentity(record.node)
    const key = stepKey({ cluster: record.cluster, node: identity.name })
    // As in an audit, only the first of two records of a node counts.
    if (seen.has(key)) continue
    seen.add(key)
    identities.push(identity)
    const releaseVersion = fleet.releaseOf(record.cluster, identity)
    const node = readNode({ record, takenAt: fleet.head.takenAt, identity, releaseVersion })
    const wishes = wishesOf(node, fixes.get(key) ?? [], fleet, request, planRules)
    if (wishes.every(wish => wish === 'unchanged')) {
      if (wishes.length > 0) builder.takeUnchanged()
      continue
    }
    let hasStep = false
    for (const wish of wishes) {
      if (wish === 'unchanged') continue
      const { outcome } = wish
      if (outcome.because === 'unread') unread++
      if (outcome.because === 'invalid' && outcome.state === 'refused')
        invalid.push(`${key}: ${outcome.why}`)
      if (hasStep && outcome.state === 'planned')
        builder.takeLater(record.cluster, identity.name, laterText(wish))
      else builder.take(identity.name, wish)
      hasStep ||= outcome.state === 'planned'
      if (outcome.state === 'never') break
    }
  }
  rejectUnknownNames(
    selection,
    identities.map(identity => ({ identity })),
  )
  const plan = builder.close(fleet.head, policy.remediation.wavePercents)
  if (plan.steps.length === 0 && invalid.length > 0)
    throw new OperatorError(
      `${invalid[0]}${invalid.length > 1 ? `; and so on ${invalid.length - 1} more` : ''}. Nothing was planned`,
    )
  return { plan, inputErrors: fleet.inputErrors, unread }
}

async function fixesOf(file: string, request: PlanRequest) {
  const unknown = request.rules.find(rule => !rules.some(({ id }) => id === rule))
  if (unknown !== undefined)
    throw new OperatorError(
      `No rule is called ${JSON.stringify(unknown.slice(0, 80))}. highwater explain lists them all`,
    )
  const proposals: NodeProposals = new Map()
  // Whole clusters, as in a report: what another node shows decides too which fields are safe to set here.
  const { document, nodes } = await savedAudit(file, {
    ...request,
    selection: { ...request.selection, nodegroups: [], nodes: [] },
    onFound({ rule, finding, proposals: variants }) {
      if (rule.kind !== 'node') return
      const ofNodes = variants.flatMap(({ nodes, config }) =>
        nodes.map(node => [node, config] as const),
      )
      proposals.set(finding.id, new Map(ofNodes))
    },
  })
  const selected = new Set(
    nodes
      .filter(({ identity }) => selectsNode(request.selection, identity))
      .map(({ cluster, identity }) => stepKey({ cluster, node: identity.name })),
  )
  const isOfSelected = ({ cluster, nodes }: Finding) =>
    selectsAllNodes(request.selection) ||
    nodes.sample.some(node => selected.has(stepKey({ cluster, node })))
  return chosenFixes(document.findings.filter(isOfSelected), request, proposals)
}

interface Fleet {
  head: PlannedSnapshot
  pods: FleetPods
  logFiles: FleetLogFiles
  images: FleetImageDigests
  inputErrors: string[]
  /** AMI release of the node's nodegroup, if no update is in progress; null: unknown. */
  releaseOf(cluster: string, identity: NodeIdentity): string | null
}

/** Knowledge beyond one node: all pods, logrotate files and images of the clusters, whichever nodes are selected. */
async function readFleet(
  file: string,
  { selection: { clusters }, policy, signal }: PlanRequest,
): Promise<Fleet> {
  const pods = new FleetPods()
  const logFiles = new FleetLogFiles(policy)
  const images = new FleetImageDigests()
  const inputErrors: string[] = []
  const releases = new Map<string, string>()
  const modes: Record<string, ReadMode> = {}
  let head: PlannedSnapshot | null = null
  for await (const record of savedFleet(file, { clusters, nodegroups: [], nodes: [] }, signal)) {
    if (record.kind === 'Malformed') inputErrors.push(`line ${record.line}: ${record.message}`)
    if (record.kind === 'Snapshot')
      head = {
        takenAt: record.takenAt,
        account: record.account ?? null,
        region: record.region ?? null,
      }
    if (record.kind === 'Objects') pods.takeObjects(record)
    if (record.kind === 'Node') {
      const node = nodeInput(record)
      if (record.mode !== undefined) modes[record.cluster] = record.mode
      pods.takeNode(node)
      logFiles.takeNode(node, nodeIdentity(node.node))
      images.takeNode(node)
    }
    if (record.kind === 'Cluster') {
      pods.takeCluster(record)
      addReleases(releases, record)
    }
  }
  if (!head)
    throw new OperatorError(
      `${file} does not begin with a snapshot's first line, so it is not known when it was taken`,
    )
  return {
    head: { ...head, modes },
    pods,
    logFiles,
    images,
    inputErrors,
    releaseOf: (cluster, { group }) => releases.get(`${cluster}/${group.name}`) ?? null,
  }
}

/* A plan of all plannable findings of an audit. It reads the snapshot three more times and never fails the audit. */

export interface PlanBesideOptions {
  policy: Policy
  selection: Selection
  version: string
  /** Ends planning early enough to publish. */
  signal?: AbortSignal
  /** Options after `highwater approve plan.json --digest …`. */
  approveOptions?: string
  /** Stores the plan in a second place. */
  keep?: (plan: Plan) => Promise<unknown>
}

/** File name of the plan beside a report. */
const planName = 'plan.json'

/** @param snapshot of the audit; null: not written. Never throws. */
export async function planBeside(
  snapshot: string | null,
  options: PlanBesideOptions,
): Promise<PlanBeside> {
  const { policy, selection, version, signal, approveOptions = '', keep } = options
  if (snapshot === null) return failedPlan('the snapshot that it would be made of was not kept')
  try {
    const choice = { rules: [], findings: [], changes: [], allowActAtOnce: false, selection }
    const { plan } = await makePlan(snapshot, { ...choice, policy, version, signal })
    if (plan.steps.length > 0) await keep?.(plan)
    return {
      reported: reportedOf(plan, approveOptions),
      file: { name: planName, contentType: 'application/json', body: planText(plan) },
    }
  } catch (error) {
    return failedPlan(messageOf(error))
  }
}

const failedPlan = (why: string): PlanBeside => ({ reported: { state: 'failed', why }, file: null })

function reportedOf(plan: Plan, approveOptions: string): ReportedPlan {
  const { id, digest, steps, waves, never, refused, unchanged } = plan
  const acting = steps.some(actsAtOnce) ? ' --allow-act-at-once' : ''
  return {
    state: 'made',
    id,
    digest,
    nodes: steps.length,
    waves: waves.length,
    never: never.length,
    refused: refused.length,
    unchanged,
    command: `highwater approve ${planName} --digest ${digest}${acting} --by "YOUR NAME"${approveOptions}`,
  }
}
