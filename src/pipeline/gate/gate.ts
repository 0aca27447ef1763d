/** What changed configuration files would do to the nodes of a snapshot. The files change nothing here: each node is replayed with and without them. */

import { basename, normalize } from 'node:path'
import type { TextBudget } from '#base/foreign-text.ts'
import { OperatorError } from '#base/operator-error.ts'
import { nodeKey } from '#base/text/node-key.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { fieldOf } from '#facts/kubelet/fields.ts'
import { type NodeFindingChange, nodeFindingChanges } from '#judge/compare/delta/node-changes.ts'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { severityRank } from '#judge/run/outcome.ts'
import type { Family, Finding } from '#model/finding/finding.ts'
import type { GateDocument, GateFile, UnreadFileKind } from '#model/gate.ts'
import {
  type ClusterInput,
  isOf,
  type KubeletSource,
  type ObjectsInput,
} from '#model/input/cluster-input.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { Selection } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { NodePrediction } from '#model/prediction/prediction.ts'
import { savedFleet } from '#pipeline/audit/fleet.ts'
import { unknownTime } from '#pipeline/audit/judge-records.ts'
import { replay } from '#replay/replay.ts'
import { clusterInput, nodeInput, objectsInput } from '#snapshot/input.ts'
import { openBudget, readChangedFile } from './changed-file.ts'
import { type ChangedFile, type ChangedPart, fileProblem, type Place } from './changed-part.ts'
import { patchTargets } from './documents.ts'
import {
  added,
  changeOf,
  changesOf,
  type NodeChange,
  type NodeProblem,
  newRefusals,
  placeOfFinding,
  settingsInstead,
  startsAtOnce,
  valuesOf,
} from './node-change.ts'
import { type NodePlace, Problems, verdictOf } from './problems.ts'
import {
  type GroupOption,
  isOfGroup,
  isReachable,
  type Reach,
  type ReachedNode,
  reachOf,
} from './reach.ts'
import { settingPaths } from './settings.ts'

export interface GateText {
  /** As the operator writes the path. */
  file: string
  /** Empty: the change deletes it. */
  text: string
  /** The same file before the change. Null: it is new, or no base is given. */
  base: string | null
  /** It is not changed, and read for what it says of the others. */
  isContext?: boolean
}

export interface GateOptions {
  texts: readonly GateText[]
  groups: readonly GroupOption[]
  /** Whether the bases count. */
  hasBase: boolean
  selection: Selection
  policy: Policy
  version: string
}

interface Survey {
  takenAt: string
  nodes: ReachedNode[]
  /** Settings of each EC2NodeClass, by cluster and name. */
  classes: ReadonlyMap<string, KubeletSource[]>
  /** Managed nodegroups on an image of EKS, by cluster and name. */
  ofEksImage: ReadonlySet<string>
}

interface Part extends ChangedPart {
  reach: Reach
}

/** The changed files, and what they were before. */
interface Change {
  head: Part[]
  base: Part[]
  hasBase: boolean
  causes: Map<string, Place>
}

/** @throws OperatorError */
export async function gate(snapshot: string, options: GateOptions): Promise<GateDocument> {
  const survey = await surveyOf(snapshot, options.selection)
  const { texts, groups, hasBase, version } = options
  const unmatched = groups.find(({ group }) => !survey.nodes.some(node => isOfGroup(node, group)))
  if (unmatched)
    throw new OperatorError(`--group ${unmatched.group}: no node of ${snapshot} is of this name`)
  const budget = openBudget()
  const files = readFiles(texts, budget)
  const before = texts.flatMap(({ base, ...text }) =>
    base === null ? [] : [{ ...text, text: base }],
  )
  const bases = hasBase ? readFiles(before, budget) : []
  const change: Change = {
    head: partsOf(files, options, survey),
    base: partsOf(bases, options, survey).map(part => ({ ...part, lineOf: () => 1 })),
    hasBase,
    causes: new Map(),
  }
  const problems = new Problems()
  const known = files.map(file => withUnreadBase(file, bases))
  addFileProblems(problems, known, bases)
  addUnknownReach(problems, change)
  const reached = await judgeNodes(snapshot, { options, survey, change, problems })
  const list = problems.list()
  return {
    schema: 'highwater.gate/1',
    version,
    takenAt: survey.takenAt,
    verdict: verdictOf(list),
    comparedWith: hasBase ? 'base' : 'running',
    files: known.map(file => fileOf(file, change, reached)),
    groups: problems.groups(),
    problems: list,
  }
}

/** What sets nothing now may have set something in a form that cannot be read. */
function withUnreadBase(file: ChangedFile, bases: readonly ChangedFile[]): ChangedFile {
  const base = bases.find(each => each.file === file.file)
  return file.parts.length > 0 || !base?.unread ? file : { ...file, unread: base.unread }
}

function readFiles(texts: readonly Omit<GateText, 'base'>[], budget: TextBudget): ChangedFile[] {
  const targets = patchTargets(texts.filter(isKustomizationFile), budget)
  return texts
    .filter(({ isContext }) => isContext !== true)
    .map(({ file, text }) => readChangedFile(file, text, budget, targets.get(normalize(file))))
}

/** Source: kustomize, pkg/konfig RecognizedKustomizationFileNames */
export const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']
const isKustomizationFile = ({ file }: Pick<GateText, 'file'>) =>
  kustomizationNames.includes(basename(file))

/** The first reading: which nodes there are. @throws OperatorError if there is none, or the snapshot is not whole */
async function surveyOf(snapshot: string, selection: Selection): Promise<Survey> {
  const nodes: ReachedNode[] = []
  const classes = new Map<string, KubeletSource[]>()
  const ofEksImage = new Set<string>()
  let takenAt = unknownTime
  for await (const record of savedFleet(snapshot, selection)) {
    if (record.kind === 'Malformed')
      throw new OperatorError(
        `${snapshot} is not whole, so nodes may be missing: line ${record.line}: ${record.message}`,
      )
    if (record.kind === 'Snapshot') takenAt = record.takenAt
    if (record.kind === 'Cluster') {
      const { cluster, nodegroups } = clusterInput(record)
      for (const { nodegroupName = '', amiType = 'CUSTOM' } of nodegroups ?? [])
        if (amiType !== 'CUSTOM') ofEksImage.add(nodeKey(cluster, nodegroupName))
    }
    if (record.kind === 'Node') nodes.push(reachedNode(record.cluster, record.node))
    if (record.kind === 'Objects') addClasses(classes, objectsInput(record))
  }
  if (nodes.length === 0) throw new OperatorError(`${snapshot} has no node that could be judged`)
  return { takenAt, nodes: nodes.filter(isReachable), classes, ofEksImage }
}

function addClasses(
  classes: Map<string, KubeletSource[]>,
  { cluster, resource, items }: ObjectsInput,
) {
  for (const item of items) {
    if (!isOf('ec2nodeclasses.karpenter.k8s.aws', resource, item)) continue
    const { userData, kubelet } = item.spec ?? {}
    const sources = [...(userData ?? []), ...(kubelet ? [{ config: kubelet }] : [])]
    classes.set(nodeKey(cluster, item.metadata?.name ?? ''), sources)
  }
}

const reachedNode = (cluster: string, node: KubernetesNode): ReachedNode => ({
  cluster,
  identity: nodeIdentity(node),
  nodeClass: node.metadata?.labels?.['karpenter.k8s.aws/ec2nodeclass'] ?? null,
})

const partsOf = (
  files: readonly ChangedFile[],
  { groups }: GateOptions,
  { nodes }: Survey,
): Part[] =>
  files.flatMap(({ parts }) =>
    parts.map(part => ({
      ...part,
      lineOf: onceForEach(part.lineOf),
      reach: reachOf(part, groups, nodes),
    })),
  )

/** The nodes of a group have the same problems. */
function onceForEach(lineOf: ChangedPart['lineOf']): ChangedPart['lineOf'] {
  const lines = new Map<string | null, number>()
  return path => {
    const line = lines.get(path) ?? lineOf(path)
    lines.set(path, line)
    return line
  }
}

/** Problems that a file already had before the change do not count. */
function addFileProblems(
  problems: Problems,
  files: readonly ChangedFile[],
  bases: readonly ChangedFile[],
) {
  for (const { file, problems: own, unread, unreadLine = 1 } of files) {
    if (unread !== null && !own.some(({ kind }) => kind === 'unread')) {
      const text = `Not read: ${unread}. ${neededInstead[unread]}.`
      problems.add({ file, ...fileProblem('unread', unreadLine, text) }, null)
    }
    const before = bases.find(base => base.file === file)?.problems ?? []
    for (const problem of added(own, before, ({ kind, field }) => [kind, field]))
      problems.add({ ...problem, file }, null)
  }
}

/** Parts whose nodes are not known, so nothing of them is judged but what any kubelet refuses. */
function addUnknownReach(problems: Problems, { head, base }: Change) {
  const isUnknown = ({ reach, ...part }: Part) =>
    reach.unknown !== undefined && settingPaths(part).length + (part.volumes ?? []).length > 0
  const unknown = added(head.filter(isUnknown), base, ({ file, config, flags, volumes = [] }) => [
    ...[file, config, flags],
    volumes.map(({ path, written }) => [path, written]),
  ])
  for (const { file, kind, lineOf, reach } of unknown) {
    const text = `The nodes of this ${kind} are not known: ${reach.unknown}.`
    problems.add({ file, ...fileProblem('unread', lineOf(null), text) }, null)
  }
}

interface Judging {
  options: GateOptions
  survey: Survey
  change: Change
  problems: Problems
}

/** The second reading: each node that a file reaches. @returns the number of nodes by the file's path */
async function judgeNodes(snapshot: string, judging: Judging) {
  const { options, survey, change, problems } = judging
  const judgement = openChangeJudgement(options.policy, survey.takenAt)
  const reached = new Map<string, number>()
  const stands = standIns(judging)
  for (const { kind, text, ...at } of newRefusals(stands.get(null) ?? [], change.base, null))
    problems.add({ kind, text, ...placeOfProblem(at) }, null)
  const changed = new Map<string, ChangedNode>()
  for await (const record of savedFleet(snapshot, options.selection)) {
    if (record.kind === 'Cluster') judgement.takeCluster(clusterInput(record))
    if (record.kind === 'Objects') judgement.takeObjects(objectsInput(record))
    if (record.kind !== 'Node') continue
    const node = reachedNode(record.cluster, record.node)
    const partsReaching = (parts: readonly Part[]) =>
      isReachable(node) ? parts.filter(({ reach }) => reach.has(node)) : []
    const parts = { head: partsReaching(change.head), base: partsReaching(change.base) }
    const files = new Set([...parts.head, ...parts.base].map(({ file }) => file))
    const key = nodeKey(record.cluster, node.identity.name)
    const tried = stands.get(key) ?? []
    if (tried.length > 0) tryParts(judging, nodeInput(record), tried)
    if (files.size === 0 || changed.has(key)) continue
    for (const file of files) reached.set(file, (reached.get(file) ?? 0) + 1)
    changed.set(key, judgeNode(judging, judgement, { input: nodeInput(record), node, parts }))
  }
  const findings = Map.groupBy(judgement.close(), ({ finding: { cluster }, node }) =>
    nodeKey(cluster, node),
  )
  const blame = openBlame(options.policy, survey.takenAt)
  for (const [key, node] of changed) addEffects(problems, blame, node, findings.get(key) ?? [])
  return reached
}

interface ChangedNode {
  place: NodePlace
  change: NodeChange
  /** What starts at once, and thresholds that are gone. */
  atOnce: NodeProblem[]
}

/** A finding that reports what starts at once explains it; the others are effects of their own. */
function addEffects(
  problems: Problems,
  blame: Blame,
  { place, change, atOnce }: ChangedNode,
  findings: readonly NodeFindingChange[],
) {
  const effectOf = ({ finding, change: kind }: NodeFindingChange) =>
    kind === 'worse' ? atOnce.find(one => one.kind === effects.get(finding.rule)) : undefined
  const byEffect = Map.groupBy(findings, effectOf)
  for (const effect of atOnce) {
    const { kind, text, most, ...at } = effect
    const own = (byEffect.get(effect) ?? []).map(({ finding }) => finding)
    const [worst] = own.toSorted(bySeverity)
    const { rule, severity } = worst ?? { rule: null, severity: null }
    const detail = own.map(({ consequence }) => consequence).join(' ') || null
    const values = valuesOf(change, at.path)
    problems.add({ kind, text, most, detail, rule, severity, values, ...placeOfProblem(at) }, place)
  }
  for (const { finding, change: kind } of byEffect.get(undefined) ?? []) {
    const { rule, severity, title, consequence } = finding
    const isBetter = kind === 'better'
    const text = isBetter ? `Ends: ${title}.` : `${title}.`
    const detail = isBetter ? null : consequence
    const at = placeOfProblem(blame(finding, change, isBetter))
    const values = valuesOf(change, at.field)
    const instead = isBetter ? [] : settingsInstead(finding, change, at.field)
    problems.add({ kind, rule, severity, text, detail, values, instead, ...at }, place)
  }
}

/** @param ends whether the change ends the finding */
type Blame = (finding: Finding, change: NodeChange, ends: boolean) => Place

/** The setting that a finding comes from; the nodes of a subject share it. */
function openBlame(policy: Policy, takenAt: string): Blame {
  const places = new Map<string, Place>()
  return (finding, change, ends) => {
    const { rule: id, cluster, subject } = finding
    const key = JSON.stringify([id, cluster, subject, ends])
    const known = places.get(key)
    if (known !== undefined && change.parts.includes(known.part)) return known
    const own = changeRules.filter(rule => rule.id === id)
    const isAsAfter = (input: NodeInput) => {
      const judgement = openJudgement(own, policy, { refusalsOf: null })
      judgement.take(input, replay(input, takenAt))
      const { findings } = judgement.close(takenAt)
      return findings.some(one => bySeverity(one, finding) <= 0) !== ends
    }
    const place = placeOfFinding(finding, change, isAsAfter)
    places.set(key, place)
    return place
  }
}

interface ReachedInput {
  input: NodeInput
  node: ReachedNode
  /** Those that reach the node. */
  parts: Pick<Change, 'head' | 'base'>
}

function judgeNode(
  { change, survey, problems }: Judging,
  judgement: ChangeJudgement,
  { input, node, parts }: ReachedInput,
): ChangedNode {
  const { cluster, identity, nodeClass } = node
  const { owner, group } = identity
  const place = { cluster, ...identity }
  problems.reach(place)
  const isWhole = !change.hasBase && parts.head.some(part => part.isWhole)
  const sources = isWhole ? survey.classes.get(nodeKey(cluster, nodeClass ?? '')) : []
  const declared = (sources ?? []).flatMap(settingPaths)
  const isAppended =
    owner === 'karpenter' ||
    (owner === 'managed-nodegroup' && survey.ofEksImage.has(nodeKey(cluster, group.name)))
  const nodeChange = changeOf(input, { ...change, ...parts, declared, isAppended })
  for (const { kind, text, ...at } of nodeChange.problems)
    problems.add({ kind, text, ...placeOfProblem(at) }, place)
  for (const path of new Set([...nodeChange.paths].map(fieldOf)))
    for (const { field, values } of changesOf(nodeChange, path))
      problems.change(place, field, values)
  const { before, after, disk } = nodeChange
  if (disk !== null) problems.change(place, disk.path, disk.values)
  const atOnce =
    before === null || after === null ? [] : startsAtOnce(judgement.take(before, after), nodeChange)
  return { place, change: nodeChange, atOnce }
}

const placeOfProblem = ({ part, path, line }: Pick<NodeProblem, 'part' | 'path' | 'line'>) => ({
  file: part.file,
  field: path,
  line: line ?? part.lineOf(path),
})

/** Parts that reach no node are tried on another one: its kubelet refuses what theirs would refuse. Null: no node has such an image. */
function standIns({ change: { head }, survey: { nodes } }: Judging) {
  const unreached = head.filter(({ reach }) => !nodes.some(node => reach.has(node)))
  return Map.groupBy(unreached, part => {
    const node = standInOf(part, nodes)
    return node === undefined ? null : nodeKey(node.cluster, node.identity.name)
  })
}

function standInOf({ amiFamily, by }: Part, nodes: readonly ReachedNode[]) {
  const family = by === 'bottlerocket' ? 'Bottlerocket' : amiFamily
  const isLike = ({ identity }: ReachedNode) =>
    (identity.amiFamily === 'Bottlerocket') === (family === 'Bottlerocket')
  return nodes.find(({ identity }) => identity.amiFamily === family) ?? nodes.find(isLike)
}

function tryParts({ change, problems }: Judging, input: NodeInput, parts: readonly Part[]) {
  const base = change.base.filter(({ file }) => parts.some(part => part.file === file))
  for (const head of Map.groupBy(parts, ({ reach }) => reach.how).values()) {
    const tried = changeOf(input, { ...change, head, base, declared: [], isAppended: true })
    for (const { kind, text, isLostOnEachNode, ...at } of tried.problems)
      if (kind === 'refused' || (isLostOnEachNode && at.part.amiFamily !== undefined))
        problems.add({ kind, text, ...placeOfProblem(at) }, null)
  }
}

function fileOf(
  { file, problems, unread }: ChangedFile,
  { head, base }: Change,
  reached: ReadonlyMap<string, number>,
): GateFile {
  const partsOfFile = (parts: readonly Part[]) => parts.filter(part => part.file === file)
  const now = partsOfFile(head)
  const own = now.length > 0 ? now : partsOfFile(base)
  const kinds = [...new Set(own.map(({ kind }) => kind))]
  const how = [...new Set(own.map(({ reach }) => reach.how))].join('; ')
  return {
    file,
    kinds,
    nodes: reached.get(file) ?? 0,
    unread,
    reach: own.length > 0 ? how : withoutParts({ problems, unread }),
  }
}

function withoutParts({ problems, unread }: Pick<ChangedFile, 'problems' | 'unread'>): string {
  if (unread !== null) return `not read: ${unread}`
  return problems.length > 0
    ? 'not judged: see its problems'
    : 'it sets nothing of a kubelet: ignored'
}

const neededInstead: Record<UnreadFileKind, string> = {
  Terraform: 'Run terraform plan, and give the output of terraform show -json as a file',
  HCL: 'Give the user data that it renders as a file',
  CDK: 'Give the template that it synthesizes, or its user data as a file',
  CloudFormation: 'Give the user data of its launch template as a file',
  template: 'Give the rendered file, for example the output of helm template',
}

/** They compare nodes with their past or their peers, or say what was read: no change of a setting is judged by them. */
const otherFamilies: ReadonlySet<Family> = new Set(['drift', 'coverage', 'cluster-gc'])
/** A kubelet that takes the files has started again. */
const comparesWithStart = ({ cause }: (typeof rules)[number]) =>
  cause.kind === 'world' && cause.event === 'not-restarted'
/** They compare a disk with what the snapshot declares, which the change replaces. */
const comparesWithDeclared = ({ cause }: (typeof rules)[number]) => cause.kind === 'device'
const changeRules = rules.filter(
  rule =>
    !otherFamilies.has(rule.family) && !comparesWithStart(rule) && !comparesWithDeclared(rule),
)
const effects = new Map(changeRules.map(({ id, effect }) => [id, effect]))

const bySeverity = (a: Finding, b: Finding) => severityRank(a.severity) - severityRank(b.severity)

type ChangeJudgement = ReturnType<typeof openChangeJudgement>

/** @param takenAt time of the snapshot */
function openChangeJudgement(policy: Policy, takenAt: string) {
  const openChange = () => openJudgement(changeRules, policy, { allNodes: true })
  const [old, now] = [openChange(), openChange()]
  return {
    takeCluster(input: ClusterInput): void {
      for (const judgement of [old, now]) judgement.takeCluster(input)
    },
    takeObjects(input: ObjectsInput): void {
      for (const judgement of [old, now]) judgement.takeObjects(input)
    },
    take(before: NodeInput, after: NodeInput): Record<'before' | 'after', NodePrediction> {
      const predictions = { before: replay(before, takenAt), after: replay(after, takenAt) }
      old.take(before, predictions.before)
      now.take(after, predictions.after)
      return predictions
    },
    /** Findings that only one of both has, or that have another severity; one entry for each node. */
    close: (): NodeFindingChange[] =>
      nodeFindingChanges(old.close(takenAt).findings, now.close(takenAt).findings),
  }
}
