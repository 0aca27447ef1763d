/** The planned changes of one node: kubelet configuration first, then logrotate files, then images. */

import { OperatorError } from '#base/operator-error.ts'
import type { RawObject } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { durableFixes, originOf } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import type { DurableFix } from '#model/finding/finding.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'
import type { CohortFile, CohortImage } from '#model/plan/plan.ts'
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
import { type FleetImageDigests, wantedImages } from './wanted-images.ts'

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
) {
  const fixes = meant.filter(({ remedy }) => remedy === 'images')
  if (
    fixes.length === 0 ||
    (!isAsked && Object.keys(rules.policy.requiredImageSources).length === 0)
  )
    return []
  const subject = nodeSubject(node.record, replay(node.record, node.takenAt))
  const digestsOf = (name: string) => images.digestsOf(node.record.cluster, name)
  return wantedImages(subject, fixes, rules.policy, isAsked, digestsOf).map(wanted =>
    wishOf(
      node,
      { image: cohortImageOf(wanted) },
      wanted.findings,
      () => planImage({ ...node, wanted }, rules),
      () => imageText(wanted),
    ),
  )
}

/** A file that is replaced anyway is not edited for idle blocks. */
function logFileWishes(
  node: ReadNode,
  meant: readonly ChosenFix[],
  logFiles: FleetLogFiles,
  rules: PlanRules,
) {
  const { record, identity, takenAt } = node
  const [drifted, idle] = [idsOf(meant, 'log-files'), idsOf(meant, 'idle-log-blocks')]
  const wanted = drifted.length === 0 ? [] : logFiles.wantedOf(record, identity)
  const mended =
    idle.length === 0
      ? []
      : logFiles.withIdleBlocks(record, nodeSubject(record, replay(record, takenAt)))
  const others = mended.filter(({ path }) => !wanted.some(file => file.path === path))
  const wishFor = (file: WantedFile, findings: string[]) =>
    wishOf(
      node,
      { file: cohortFileOf(file) },
      findings,
      () => planLogFile({ ...node, wanted: file }, rules),
      () => logFileText(file),
    )
  return [...wanted.map(file => wishFor(file, drifted)), ...others.map(file => wishFor(file, idle))]
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
  return wishOf(
    node,
    { fields: patch },
    findings,
    () =>
      conflict === null ? planNode({ ...node, patch }, rules) : { state: 'refused', why: conflict },
    () => durableOf(identity, patch, running ?? {}),
  )
}

function pruneWish(node: ReadNode, wish: PruneWish, rules: PlanRules): Wish | 'unchanged' {
  const pruned = whyNever(node.identity) === null ? planPrune(node, wish, rules) : null
  if (pruned === 'unchanged') return pruned
  const outcome = () => pruned?.outcome ?? 'unchanged'
  return wishOf(node, { fields: pruned?.patch ?? {} }, [], outcome, () => [])
}

/** Reason why a second change of the same node is left for a later plan. */
export const laterText = ({ key: { file, image } }: Wish): string =>
  `${file?.path ?? image?.name ?? 'its configuration'} is otherwise than wanted, too: a plan changes one thing on a node. Make the next plan when this one is applied`

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
  plan: () => Planned | 'unchanged',
  durable: () => DurableFix[],
): Wish | 'unchanged' {
  const { group, amiFamily, kubeletVersion } = identity
  const never = whyNever(identity)
  const outcome: ReturnType<typeof plan> = never === null ? plan() : { state: 'never', why: never }
  if (outcome === 'unchanged') return outcome
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

function durableOf(identity: NodeIdentity, patch: RawObject, running: RawObject) {
  const fields = changesOf(patch, running).flatMap(({ path: [field = ''], value }) =>
    value === undefined ? [] : [[field, value] as const],
  )
  return durableFixes(durableTargets, identity.group, [
    { origin: originOf(identity), config: Object.fromEntries(fields) },
  ])
}
