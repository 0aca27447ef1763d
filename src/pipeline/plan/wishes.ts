/** The planned changes of one node: kubelet configuration first, then logrotate files, then images. */
import { featuresOf } from '#facts/kubelet/features.ts'
import { durableFixes, originOf } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { nodeSubject } from '#judge/subject.ts'
import type { DurableFix } from '#model/finding.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { CohortFile, CohortImage } from '#model/plan.ts'
import type { RawObject } from '#model/record.ts'
import { whyNever } from '#remediate/plan/never.ts'
import type { CohortFacts, CohortKey } from '#remediate/plan/plan.ts'
import { replay } from '#replay/replay.ts'
import {
  type ChosenFix,
  checkChanges,
  ownFixes,
  type PlanChoice,
  type RemedyKind,
  settle,
} from './choice.ts'
import {
  cohortFileOf,
  cohortImageOf,
  imageText,
  logFileText,
  planImage,
  planLogFile,
} from './image.ts'
import type { FleetLogFiles, WantedFile } from './log-files.ts'
import { isStatusKept, type NodeToPlan, type Planned, type PlanRules, planNode } from './node.ts'
import { type PruneWish, planPrune } from './prune.ts'
import { changesOf } from './start.ts'
import { type FleetImageDigests, type WantedImage, wantedImages } from './wanted-images.ts'

export interface Wish {
  key: CohortKey
  /** Ids of the findings that the change ends. */
  findings: string[]
  facts: CohortFacts
  outcome: Planned
}

/** Knowledge that needs all nodes of the fleet. */
interface FleetKnowledge {
  logFiles: FleetLogFiles
  images: FleetImageDigests
}

type Wished = PlanChoice & { prune?: PruneWish | null }
type ReadNode = Omit<NodeToPlan, 'patch'>

/** @throws OperatorError for options that exclude each other, or fields that no plan may change */
export function checkRequest({ rules, findings, changes, prune }: Wished): void {
  checkChanges(changes)
  if (prune && rules.length + findings.length + changes.length > 0)
    throw new OperatorError(
      '--prune-images is a plan of its own: lowered thresholds are put back, and what --rule, --finding and --set ask for stays',
    )
}

export const idsOf = (fixes: readonly ChosenFix[], kind: RemedyKind): string[] =>
  fixes.flatMap(({ id, remedy }) => (remedy === kind ? [id] : []))

/** Empty: no change is planned. */
export function wishesOf(
  node: ReadNode,
  meant: readonly ChosenFix[],
  { logFiles, images }: FleetKnowledge,
  { changes, prune, rules: named, findings }: Wished,
  rules: PlanRules,
): (Wish | 'unchanged')[] {
  if (prune) return [pruneWish(node, prune, rules)]
  const { record } = node
  const configuration = meant.filter(({ remedy }) => remedy === 'configuration')
  const own = ownFixes(
    configuration,
    () => nodeSubject(record, replay(record, node.takenAt)),
    rules.policy,
  )
  return [
    ...(own.length > 0 || changes.length > 0 ? [configurationWish(node, own, changes, rules)] : []),
    ...logFileWishes(node, meant, logFiles, rules),
    ...imageWishes(node, meant, images, named.length + findings.length > 0, rules),
  ]
}

function imageWishes(
  node: ReadNode,
  meant: readonly ChosenFix[],
  images: FleetImageDigests,
  isAsked: boolean,
  rules: PlanRules,
): (Wish | 'unchanged')[] {
  const fixes = meant.filter(({ remedy }) => remedy === 'images')
  if (
    fixes.length === 0 ||
    (!isAsked && Object.keys(rules.policy.requiredImageSources).length === 0)
  )
    return []
  const subject = nodeSubject(node.record, replay(node.record, node.takenAt))
  const digestsOf = (name: string) => images.digestsOf(node.record.cluster, name)
  return wantedImages(subject, fixes, rules.policy, isAsked, digestsOf).map(wanted =>
    imageWish(node, wanted, rules),
  )
}

function imageWish(node: ReadNode, wanted: WantedImage, rules: PlanRules): Wish | 'unchanged' {
  const outcome = neverOf(node) ?? planImage({ ...node, wanted }, rules)
  if (outcome === 'unchanged') return outcome
  const key = { image: cohortImageOf(wanted) }
  return wishOf(node, key, wanted.findings, outcome, () => imageText(wanted))
}

/** A file that is replaced anyway is not edited for idle blocks. */
function logFileWishes(
  node: ReadNode,
  meant: readonly ChosenFix[],
  logFiles: FleetLogFiles,
  rules: PlanRules,
): Wish[] {
  const { record, identity, takenAt } = node
  const [drifted, idle] = [idsOf(meant, 'log-files'), idsOf(meant, 'idle-log-blocks')]
  const wanted = drifted.length === 0 ? [] : logFiles.wantedOf(record, identity)
  const mended =
    idle.length === 0
      ? []
      : logFiles.withIdleBlocks(record, nodeSubject(record, replay(record, takenAt)))
  const others = mended.filter(({ path }) => !wanted.some(file => file.path === path))
  return [
    ...wanted.map(file => logFileWish(node, file, drifted, rules)),
    ...others.map(file => logFileWish(node, file, idle, rules)),
  ]
}

function configurationWish(
  node: ReadNode,
  own: readonly ChosenFix[],
  changes: PlanChoice['changes'],
  rules: PlanRules,
): Wish | 'unchanged' {
  const { identity, running } = node
  const { patch, findings, conflict } = settle(own, changes, running ?? {}, identity.kubeletVersion)
  if (conflict === null && Object.keys(patch).length === 0) return 'unchanged'
  const outcome: Planned =
    neverOf(node) ??
    (conflict === null ? planNode({ ...node, patch }, rules) : { state: 'refused', why: conflict })
  const durable = () => durableOf(identity, patch, running ?? {})
  return wishOf(node, { fields: patch }, findings, outcome, durable)
}

function pruneWish(node: ReadNode, wish: PruneWish, rules: PlanRules): Wish | 'unchanged' {
  const never = neverOf(node)
  const pruned = never === null ? planPrune(node, wish, rules) : { patch: {}, outcome: never }
  if (pruned === 'unchanged') return pruned
  return wishOf(node, { fields: pruned.patch }, [], pruned.outcome, () => [])
}

function logFileWish(
  node: ReadNode,
  wanted: WantedFile,
  findings: string[],
  rules: PlanRules,
): Wish {
  const outcome = neverOf(node) ?? planLogFile({ ...node, wanted }, rules)
  const key = { file: cohortFileOf(wanted) }
  return wishOf(node, key, findings, outcome, () => logFileText(wanted))
}

/** Reason why a second change of the same node is left for a later plan. */
export const laterText = ({ key: { file, image } }: Wish): string =>
  `${file?.path ?? image?.name ?? 'its configuration'} is otherwise than wanted, too: a plan changes one thing on a node. Make the next plan when this one is applied`

function neverOf({ identity }: ReadNode): Planned | null {
  const why = whyNever(identity)
  return why === null ? null : { state: 'never', why }
}

interface WishedChange {
  fields?: RawObject
  file?: CohortFile | null
  image?: CohortImage | null
}

/** Nodes without a group form one group per cluster; otherwise each of these nodes would be a canary. */
function wishOf(
  { record: { cluster }, identity, running }: ReadNode,
  { fields = {}, file, image }: WishedChange,
  findings: string[],
  outcome: Planned,
  durable: () => DurableFix[],
): Wish {
  const { group, amiFamily, kubeletVersion } = identity
  const features = featuresOf(kubeletVersion)
  return {
    key: {
      cluster,
      group: group.kind === 'Node' ? { kind: 'Cluster', namespace: null, name: cluster } : group,
      amiFamily,
      kubeletVersion: features.minor === null ? 'unknown' : `1.${features.minor}`,
      fields,
      ...(file && { file }),
      ...(image && { image }),
    },
    findings,
    facts: { features, isStatusKept: isStatusKept(running ?? {}, features), durable },
    outcome,
  }
}

function durableOf(identity: NodeIdentity, patch: RawObject, running: RawObject): DurableFix[] {
  const fields = changesOf(patch, running).flatMap(({ path: [field = ''], value }) =>
    value === undefined ? [] : [[field, value] as const],
  )
  return durableFixes(durableTargets, identity.group, [
    { origin: originOf(identity), config: Object.fromEntries(fields) },
  ])
}
