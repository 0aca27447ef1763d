/** The wished changes of one node: kubelet configuration first, then logrotate files, then images. */

import { OperatorError } from '#base/operator-error.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { durableFixes, originOf } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import type { DurableFix } from '#model/finding.ts'
import type { PlanCohort } from '#model/plan.ts'
import { whyNever } from '#remediate/plan/never.ts'
import type { NodeOutcome, Wish } from './builder.ts'
import { type ChosenFix, checkChanges, type PlanChoice, type RemedyKind, settle } from './choice.ts'
import { type FleetImageDigests, imageText, planImage, wantedImages } from './images.ts'
import {
  cohortFileOf,
  type FleetLogFiles,
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
  refusedNode,
} from './node.ts'
import { type PruneWish, planPrune } from './prune.ts'

/** Knowledge that needs all nodes of the fleet. */
interface FleetKnowledge {
  logFiles: FleetLogFiles
  images: FleetImageDigests
}

type PlanWish = PlanChoice & { prune?: PruneWish | null }

/** @throws OperatorError for options that exclude each other, or fields that no plan may change */
export function checkRequest({ rules, findings, changes, prune }: PlanWish) {
  checkChanges(changes)
  if (prune && rules.length + findings.length + changes.length > 0)
    throw new OperatorError(
      '--prune-images is a plan of its own: lowered thresholds are put back, and what --rule, --finding and --set ask for stays',
    )
}

const idsOf = (fixes: readonly ChosenFix[], kind: RemedyKind) =>
  fixes.flatMap(({ id, remedy }) => (remedy === kind ? [id] : []))

/** Empty: no change is planned. */
export function wishesOf(
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
export const laterText = ({ cohort: { file, image } }: Wish) =>
  `${file?.path ?? image?.name ?? 'its configuration'} is otherwise than wanted, too: a plan changes one thing on a node. Make the next plan when this one is applied`

/** Nodes without a group form one group per cluster; otherwise each of these nodes would be a canary. */
function wishOf(
  { record: { cluster }, identity, running }: ReadNode,
  { fields = {}, ...place }: Partial<PlanCohort>,
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
