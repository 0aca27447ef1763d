/** The use case of a plan: audits a saved fleet, turns findings or given settings into files, and replays each change. */

import { messageOf, OperatorError } from '#base/operator-error.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { durableFixes, originOf } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { rules } from '#judge/rules/index.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import type { DurableFix } from '#model/finding/finding.ts'
import type { NodeIdentity, ReadMode, Selection } from '#model/input/record.ts'
import {
  actsAtOnce,
  type Plan,
  type PlanCohort,
  type PlannedSnapshot,
  type ReportedPlan,
} from '#model/plan/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { PlanBeside } from '#model/report.ts'
import { rejectUnknownNames, savedFleet } from '#pipeline/audit/fleet.ts'
import { savedAudit } from '#pipeline/audit/saved/saved-findings.ts'
import { planText } from '#remediate/plan/file.ts'
import { whyNever } from '#remediate/plan/never.ts'
import { FleetPods } from '#remediate/pods.ts'
import { withConfigurationOnDisk } from '#replay/configuration/threshold-origins.ts'
import { nodeInput } from '#snapshot/prune.ts'
import { type NodeOutcome, PlanBuilder, type Wish } from './builder.ts'
import {
  type ChosenFix,
  checkChanges,
  chosenFixes,
  type NodeProposals,
  type PlanChoice,
  type RemedyKind,
  settle,
  wantsFindings,
} from './choice.ts'
import { FleetImageDigests, imageText, planImage, wantedImages } from './images.ts'
import {
  cohortFileOf,
  FleetLogFiles,
  logFileText,
  planLogFile,
  type WantedFile,
} from './log-files.ts'
import {
  changesOf,
  isStatusKept,
  type PlanRules,
  planNode,
  type ReadNode,
  readNode,
  refusedNode,
  releasesOf,
} from './node.ts'
import { type PruneWish, planPrune } from './prune.ts'

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
    pruneWish === null && wantsFindings(request)
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
    const name = `${record.cluster}/${identity.name}`
    // As in an audit, only the first of two records of a node counts.
    if (seen.has(name)) continue
    seen.add(name)
    identities.push(identity)
    const releaseVersion = fleet.releaseOf(record.cluster, identity)
    const node = readNode({ record, takenAt: fleet.head.takenAt, identity, releaseVersion })
    const wishes = wishesOf(node, fixes.get(name) ?? [], fleet, request, planRules)
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
        invalid.push(`${name}: ${outcome.why}`)
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
  const { document } = await savedAudit(file, {
    ...request,
    onFound({ rule, finding, proposals: variants }) {
      if (rule.kind !== 'node') return
      const ofNodes = variants.flatMap(({ nodes, config }) =>
        nodes.map(node => [node, config] as const),
      )
      proposals.set(finding.id, new Map(ofNodes))
    },
  })
  return chosenFixes(document.findings, request, proposals)
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
      for (const [name, version] of releasesOf(record))
        releases.set(`${record.cluster}/${name}`, version)
    }
  }
  if (head === null)
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

/* The wished changes of one node: kubelet configuration first, then logrotate files, then images. */

/** Knowledge that needs all nodes of the fleet. */
interface FleetKnowledge {
  logFiles: FleetLogFiles
  images: FleetImageDigests
}

type PlanWish = PlanChoice & { prune?: PruneWish | null }

/** @throws OperatorError for options that exclude each other, or fields that no plan may change */
function checkRequest({ rules, findings, changes, prune }: PlanWish): void {
  checkChanges(changes)
  if (prune && rules.length + findings.length + changes.length > 0)
    throw new OperatorError(
      '--prune-images is a plan of its own: lowered thresholds are put back, and what --rule, --finding and --set ask for stays',
    )
}

const idsOf = (fixes: readonly ChosenFix[], kind: RemedyKind): string[] =>
  fixes.flatMap(({ id, remedy }) => (remedy === kind ? [id] : []))

/** Empty: no change is planned. */
function wishesOf(
  node: ReadNode,
  fixes: readonly ChosenFix[],
  { logFiles, images }: FleetKnowledge,
  { changes, prune, rules: named, findings }: PlanWish,
  rules: PlanRules,
): (Wish | 'unchanged')[] {
  if (prune) return [pruneWish(node, prune, rules)]
  const configuration = fixes.filter(({ remedy }) => remedy === 'configuration')
  const isConfigured = configuration.length > 0 || changes.length > 0
  const isAsked = named.length + findings.length > 0
  return [
    ...(isConfigured ? [configurationWish(node, configuration, changes, rules)] : []),
    ...logFileWishes(node, fixes, logFiles, rules),
    ...imageWishes(node, fixes, images, isAsked, rules),
  ]
}

const subjectOf = (node: ReadNode) => nodeSubject(node.record, node.prediction())

function imageWishes(
  node: ReadNode,
  fixes: readonly ChosenFix[],
  images: FleetImageDigests,
  isAsked: boolean,
  rules: PlanRules,
) {
  const imageFixes = fixes.filter(({ remedy }) => remedy === 'images')
  const hasSources = Object.keys(rules.policy.requiredImageSources).length > 0
  if (imageFixes.length === 0 || (!isAsked && !hasSources)) return []
  const digestsOf = (name: string) => images.digestsOf(node.record.cluster, name)
  return wantedImages(subjectOf(node), imageFixes, rules.policy, isAsked, digestsOf).map(
    ({ name, findings, ...found }) => {
      if ('why' in found) return wishOf(node, {}, findings, () => refusedNode(found.why))
      const image = { name, source: found.source }
      return wishOf(
        node,
        { image },
        findings,
        () => planImage(node, image, rules),
        () => [imageText(image)],
      )
    },
  )
}

/** A file that is replaced anyway is not edited for idle blocks. */
function logFileWishes(
  node: ReadNode,
  fixes: readonly ChosenFix[],
  logFiles: FleetLogFiles,
  rules: PlanRules,
) {
  const { record, identity } = node
  const [drifted, idle] = [idsOf(fixes, 'log-files'), idsOf(fixes, 'idle-log-blocks')]
  const wanted = drifted.length === 0 ? [] : logFiles.wantedOf(record, identity)
  const mended = idle.length === 0 ? [] : logFiles.withIdleBlocks(record, subjectOf(node))
  const others = mended.filter(({ path }) => !wanted.some(file => file.path === path))
  const wishFor = (file: WantedFile, findings: string[]) =>
    'why' in file
      ? wishOf(node, {}, findings, () => refusedNode(file.why))
      : wishOf(
          node,
          { file: cohortFileOf(file) },
          findings,
          () => planLogFile(node, file, rules),
          () => logFileText(file),
        )
  return [...wanted.map(file => wishFor(file, drifted)), ...others.map(file => wishFor(file, idle))]
}

function configurationWish(
  node: ReadNode,
  fixes: readonly ChosenFix[],
  changes: PlanChoice['changes'],
  rules: PlanRules,
) {
  const { patch, findings, conflict } = settle(fixes, changes, node)
  if (conflict !== null)
    return wishOf(node, { fields: patch }, findings, () => ({ state: 'refused', why: conflict }))
  if (Object.keys(patch).length === 0) return 'unchanged'
  return wishOf(
    node,
    { fields: patch },
    findings,
    () => planNode(node, patch, rules),
    () => {
      const config = Object.fromEntries(
        changesOf(patch, node).flatMap(({ path: [field = ''], value }) =>
          value === undefined ? [] : [[field, value] as const],
        ),
      )
      const { identity } = node
      return durableFixes(durableTargets, identity.group, [{ origin: originOf(identity), config }])
    },
  )
}

function pruneWish(node: ReadNode, wish: PruneWish, rules: PlanRules) {
  const pruned = whyNever(node.identity) === null ? planPrune(node, wish, rules) : null
  if (pruned === 'unchanged') return pruned
  return wishOf(node, { fields: pruned?.patch }, [], () => pruned?.outcome ?? 'unchanged')
}

/** Reason why a second change of the same node is left for a later plan. */
const laterText = ({ cohort: { file, image } }: Wish): string =>
  `${file?.path ?? image?.name ?? 'its configuration'} is otherwise than wanted, too: a plan changes one thing on a node. Make the next plan when this one is applied`

/** Nodes without a group form one group per cluster; otherwise each of these nodes would be a canary. */
function wishOf(
  { record: { cluster }, identity, running }: ReadNode,
  { fields = {}, ...place }: Partial<Pick<PlanCohort, 'fields' | 'file' | 'image'>>,
  findings: readonly string[],
  plan: () => NodeOutcome | 'unchanged',
  durable: () => DurableFix[] = () => [],
): Wish | 'unchanged' {
  const { group, amiFamily, kubeletVersion } = identity
  const never = whyNever(identity)
  const outcome: ReturnType<typeof plan> = never === null ? plan() : { state: 'never', why: never }
  if (outcome === 'unchanged') return outcome
  const features = featuresOf(kubeletVersion)
  return {
    cohort: {
      cluster,
      group: group.kind === 'Node' ? { kind: 'Cluster', namespace: null, name: cluster } : group,
      amiFamily,
      kubeletVersion: features.minor === null ? 'unknown' : `1.${features.minor}`,
      fields,
      ...place,
    },
    findings,
    durable,
    isStatusKept: isStatusKept(running ?? {}, features),
    outcome,
  }
}
