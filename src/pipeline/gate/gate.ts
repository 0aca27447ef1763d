/** What changed configuration files would do to the nodes of a snapshot. The files change nothing here: each node is replayed with and without them. */

import type { TextBudget } from '#base/foreign-text.ts'
import { OperatorError } from '#base/operator-error.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { declaredNode } from '#judge/drift/declared.ts'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { type Family, type Finding, severities } from '#model/finding/finding.ts'
import type { GateDocument, GateFile } from '#model/gate.ts'
import type { ClusterInput } from '#model/input/cluster-input.ts'
import type { ObjectsInput } from '#model/input/cluster-objects.ts'
import { InputErrors } from '#model/input/input-errors.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { Selection } from '#model/input/selection.ts'
import type { Policy } from '#model/policy.ts'
import type { NodePrediction } from '#model/prediction/prediction.ts'
import { savedFleet } from '#pipeline/audit/fleet.ts'
import { unknownTime } from '#pipeline/audit/judge-records.ts'
import { replay } from '#replay/replay.ts'
import { clusterInput, nodeInput, objectsInput } from '#snapshot/input.ts'
import { openBudget, readChangedFile } from './changed-file.ts'
import type { ChangedFile, ChangedPart } from './file-reading.ts'
import { lineOf } from './lines.ts'
import { changeOf, type NodeChange, placeOfFinding, startsAtOnce, valuesOf } from './node-change.ts'
import { type NodePlace, Problems, verdictOf } from './problems.ts'
import {
  type GroupOption,
  isOfGroup,
  isReachable,
  type Reach,
  type ReachedNode,
  reachOf,
} from './reach.ts'

export interface GateText {
  /** As the operator writes the path. */
  file: string
  text: string
  /** The same file before the change. Null: it is new, or no base is given. */
  base: string | null
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
  inputErrors: string[]
}

interface Part extends ChangedPart {
  reach: Reach
}

/** The changed files, and what they were before. */
interface Change {
  head: Part[]
  base: Part[]
  hasBase: boolean
  textOf: ReadonlyMap<string, string>
  causes: Parameters<typeof changeOf>[2]['causes']
  /** The lines of settings that earlier nodes named. */
  lines: Map<string, number>
}

/** @throws OperatorError */
export async function gate(snapshot: string, options: GateOptions): Promise<GateDocument> {
  const survey = await surveyOf(snapshot, options.selection)
  const { texts, groups, hasBase, version } = options
  const unmatched = groups.find(({ group }) => !survey.nodes.some(node => isOfGroup(node, group)))
  if (unmatched)
    throw new OperatorError(`--group ${unmatched.group}: no node of ${snapshot} is of this name`)
  const budget = openBudget()
  const files = texts.map(({ file, text }) => readChangedFile(file, text, budget))
  const change: Change = {
    head: partsOf(files, options, survey),
    base: partsOf(baseFiles(texts, budget), options, survey),
    hasBase,
    textOf: new Map(texts.map(({ file, text }) => [file, text])),
    causes: new Map(),
    lines: new Map(),
  }
  const problems = new Problems()
  addFileProblems(problems, files, hasBase ? baseFiles(texts, budget) : [], change)
  const reached = await judgeNodes(snapshot, { options, survey, change, problems })
  const list = problems.list()
  return {
    schema: 'highwater.gate/1',
    version,
    takenAt: survey.takenAt,
    verdict: verdictOf(list),
    comparedWith: hasBase ? 'base' : 'running',
    files: files.map(file => fileOf(file, change.head, reached)),
    groups: problems.groups(),
    problems: list,
    inputErrors: survey.inputErrors,
  }
}

const baseFiles = (texts: readonly GateText[], budget: TextBudget) =>
  texts.flatMap(({ file, base }) => (base === null ? [] : [readChangedFile(file, base, budget)]))

/** The first reading: which nodes there are. @throws OperatorError if there is none */
async function surveyOf(snapshot: string, selection: Selection): Promise<Survey> {
  const nodes: ReachedNode[] = []
  const errors = new InputErrors()
  let takenAt = unknownTime
  for await (const record of savedFleet(snapshot, selection)) {
    if (record.kind === 'Malformed') errors.add(`line ${record.line}: ${record.message}`)
    if (record.kind === 'Snapshot') takenAt = record.takenAt
    if (record.kind === 'Node') nodes.push(reachedNode(record.cluster, record.node))
  }
  if (nodes.length === 0) throw new OperatorError(`${snapshot} has no node that could be judged`)
  return { takenAt, nodes: nodes.filter(isReachable), inputErrors: errors.list() }
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
    parts.map(part => ({ ...part, reach: reachOf(part, groups, nodes) })),
  )

/** Problems that a file already had before the change do not count. */
function addFileProblems(
  problems: Problems,
  files: readonly ChangedFile[],
  bases: readonly ChangedFile[],
  { textOf }: Change,
) {
  for (const { file, problems: own } of files) {
    const before = bases.find(base => base.file === file)?.problems ?? []
    for (const problem of own) {
      const { field, text } = problem
      if (before.some(other => other.text === text && other.field === field)) continue
      const line =
        field === null
          ? problem.line
          : lineOf(
              textOf.get(file) ?? '',
              { from: problem.line, to: Number.MAX_SAFE_INTEGER },
              field,
            )
      problems.add({ ...problem, file, line }, null)
    }
  }
}

interface Judging {
  options: GateOptions
  survey: Survey
  change: Change
  problems: Problems
}

/** The second reading: each node that a file reaches. @returns the number of nodes by part */
async function judgeNodes(snapshot: string, judging: Judging) {
  const { options, survey, change } = judging
  const judgement = openChangeJudgement(options.policy, survey.takenAt)
  const reached = new Map<Part, number>()
  const stands = standIns(judging)
  const changed = new Map<string, { place: NodePlace; change: NodeChange }>()
  for await (const record of savedFleet(snapshot, options.selection)) {
    if (record.kind === 'Cluster') judgement.takeCluster(clusterInput(record))
    if (record.kind === 'Objects') judgement.takeObjects(objectsInput(record))
    if (record.kind !== 'Node') continue
    const node = reachedNode(record.cluster, record.node)
    const parts = isReachable(node) ? change.head.filter(({ reach }) => reach.has(node)) : []
    const key = keyOf(record.cluster, node.identity.name)
    const tried = stands.get(key) ?? []
    if (tried.length > 0) tryParts(judging, nodeInput(record), tried)
    if (parts.length === 0 || changed.has(key)) continue
    for (const part of parts) reached.set(part, (reached.get(part) ?? 0) + 1)
    const place = { cluster: record.cluster, ...node.identity }
    const input = nodeInput(record)
    changed.set(key, {
      place,
      change: judgeNode(judging, judgement, { input, node, place, parts }),
    })
  }
  for (const { finding, node, change: kind } of judgement.close()) {
    const found = changed.get(keyOf(finding.cluster, node))
    if (found === undefined) continue
    const { rule, severity, title, consequence } = finding
    const text = kind === 'better' ? `Ends: ${title}.` : `${title}. ${consequence}`
    const at = placed(placeOfFinding(finding, found.change), change)
    const values = valuesOf(found.change, at.field)
    judging.problems.add({ kind, rule, severity, text, values, ...at }, found.place)
  }
  return reached
}

interface ReachedInput {
  input: NodeInput
  node: ReachedNode
  place: NodePlace
  parts: Part[]
}

function judgeNode(
  { change, problems }: Judging,
  judgement: ChangeJudgement,
  { input, node, place, parts }: ReachedInput,
) {
  problems.reach(place)
  const base = change.base.filter(({ reach }) => reach.has(node))
  const nodeChange = changeBy(parts, base, change, input)
  for (const { kind, text, ...at } of nodeChange.problems)
    problems.add({ kind, text, ...placed(at, change) }, place)
  const { before, after } = nodeChange
  if (before === null || after === null) return nodeChange
  const predictions = judgement.take(before, after)
  for (const { kind, text, ...at } of startsAtOnce(predictions, nodeChange))
    problems.add(
      { kind, text, values: valuesOf(nodeChange, at.path), ...placed(at, change) },
      place,
    )
  return nodeChange
}

/** What the parts of the files change on one node. */
const changeBy = (
  head: readonly Part[],
  base: readonly Part[],
  { hasBase, causes }: Change,
  input: NodeInput,
) => changeOf(input, declaredOf(input), { head, base, hasBase, causes })

type Place = Pick<Parameters<Problems['add']>[0], 'file' | 'line' | 'field'>

const placed = (
  { part, path }: { part: ChangedPart; path: string | null },
  change: Change,
): Place => ({
  file: part.file,
  field: path,
  line: path === null ? part.lines.from : lineOfSetting(part, path, change),
})

function lineOfSetting({ file, lines }: ChangedPart, path: string, change: Change) {
  const key = JSON.stringify([file, lines.from, path])
  const line = change.lines.get(key) ?? lineOf(change.textOf.get(file) ?? '', lines, path)
  change.lines.set(key, line)
  return line
}

/** Parts that reach no node are tried on another one: its kubelet refuses what theirs would refuse. */
function standIns({ change: { head }, survey: { nodes } }: Judging): ReadonlyMap<string, Part[]> {
  const unreached = head.filter(({ reach }) => !nodes.some(node => reach.has(node)))
  const stands = unreached.flatMap(part => {
    const isBottlerocket = part.source?.source === 'bottlerocket'
    const node = nodes.find(
      ({ identity }) => (identity.amiFamily === 'Bottlerocket') === isBottlerocket,
    )
    return node === undefined ? [] : [{ part, key: keyOf(node.cluster, node.identity.name) }]
  })
  const byKey = Map.groupBy(stands, ({ key }) => key)
  return new Map([...byKey].map(([key, group]) => [key, group.map(({ part }) => part)]))
}

const keyOf = (cluster: string, name: string) => JSON.stringify([cluster, name])

function tryParts({ change, problems }: Judging, input: NodeInput, parts: readonly Part[]) {
  const base = change.base.filter(({ file }) => parts.some(part => part.file === file))
  for (const each of Map.groupBy(parts, ({ reach }) => reach.how).values()) {
    const tried = changeBy(each, base, change, input)
    for (const { kind, text, ...at } of tried.problems)
      if (kind === 'refused') problems.add({ kind, text, ...placed(at, change) }, null)
  }
}

const declaredOf = (input: NodeInput) =>
  declaredNode({ identity: nodeIdentity(input.node), node: input.node })

function fileOf(
  { file, parts, problems, isTemplate }: ChangedFile,
  head: readonly Part[],
  reached: ReadonlyMap<Part, number>,
): GateFile {
  const own = head.filter(part => part.file === file)
  const kinds = [...new Set(parts.map(({ kind }) => kind))]
  const isOther = parts.length === 0 && problems.length === 0
  const how = [...new Set(own.map(({ reach }) => reach.how))].join('; ')
  return {
    file,
    kinds,
    nodes: Math.max(0, ...own.map(part => reached.get(part) ?? 0)),
    reach: isOther ? ignoredWords(isTemplate) : how,
  }
}

const ignoredWords = (isTemplate = false): string =>
  isTemplate
    ? 'it is a template, not judged: judge the rendered file'
    : 'it sets nothing of a kubelet: ignored'

/** They compare nodes with their past or their peers, or say what was read: no change of a setting is judged by them. */
const otherFamilies: ReadonlySet<Family> = new Set(['drift', 'coverage', 'cluster-gc'])
/** A kubelet that takes the files has started again. */
const comparesWithStart = ({ cause }: (typeof rules)[number]) =>
  cause.kind === 'world' && cause.event === 'not-restarted'
const changeRules = rules.filter(
  rule => !otherFamilies.has(rule.family) && !comparesWithStart(rule),
)

interface ChangedFinding {
  finding: Finding
  /** The node's name. */
  node: string
  change: 'worse' | 'better'
}

interface ChangeJudgement {
  takeCluster(input: ClusterInput): void
  takeObjects(input: ObjectsInput): void
  take(before: NodeInput, after: NodeInput): Record<'before' | 'after', NodePrediction>
  /** Findings that only one of both has, or that have another severity; one entry for each node. */
  close(): ChangedFinding[]
}

/** @param takenAt time of the snapshot */
function openChangeJudgement(policy: Policy, takenAt: string): ChangeJudgement {
  const open = () => openJudgement(changeRules, policy, { allNodes: true })
  const [old, now] = [open(), open()]
  return {
    takeCluster(input) {
      for (const judgement of [old, now]) judgement.takeCluster(input)
    },
    takeObjects(input) {
      for (const judgement of [old, now]) judgement.takeObjects(input)
    },
    take(before, after) {
      const predictions = { before: replay(before, takenAt), after: replay(after, takenAt) }
      old.take(before, predictions.before)
      now.take(after, predictions.after)
      return predictions
    },
    close: () => changes(old.close(takenAt).findings, now.close(takenAt).findings),
  }
}

function changes(before: readonly Finding[], after: readonly Finding[]): ChangedFinding[] {
  const [old, now] = [byNode(before), byNode(after)]
  const rank = (finding: Finding | undefined) =>
    finding === undefined ? severities.length : severities.indexOf(finding.severity)
  const worse = [...now].filter(([key, { finding }]) => rank(finding) < rank(old.get(key)?.finding))
  const worseFamilies = new Set(worse.map(([, one]) => familyOnNode(one)))
  // What ends because something worse of its family takes its place is not better.
  const better = [...old].filter(
    ([key, one]) =>
      rank(one.finding) < rank(now.get(key)?.finding) && !worseFamilies.has(familyOnNode(one)),
  )
  return [
    ...worse.map(([, one]) => ({ ...one, change: 'worse' as const })),
    ...better.map(([, one]) => ({ ...one, change: 'better' as const })),
  ]
}

type FindingOnNode = Pick<ChangedFinding, 'finding' | 'node'>

const familyOnNode = ({ finding: { cluster, family }, node }: FindingOnNode) =>
  JSON.stringify([cluster, node, family])

const byNode = (findings: readonly Finding[]): Map<string, FindingOnNode> =>
  new Map(
    findings.flatMap(finding =>
      finding.nodes.sample.map(
        node => [JSON.stringify([finding.rule, finding.cluster, node]), { finding, node }] as const,
      ),
    ),
  )
