/** The second reading of a snapshot: each node that the changed files reach, replayed and judged with and without them. */

import { nodeKey } from '#base/text.ts'
import { fieldOf } from '#facts/kubelet/fields.ts'
import { type NodeFindingChange, nodeFindingChanges } from '#judge/compare/delta/node-changes.ts'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { severityRank } from '#judge/run/outcome.ts'
import type { Finding } from '#model/finding.ts'
import type { ClusterInput, NodeInput, ObjectsInput, Selection } from '#model/input/record.ts'
import { asItIs } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { openPreparing } from '#replay/prepare.ts'
import { replay } from '#replay/replay.ts'
import { clusterInput, nodeInput, objectsInput } from '#snapshot/input.ts'
import {
  changeOf,
  changesOf,
  isReadable,
  type NodeChange,
  type NodeProblem,
  newRefusals,
  type Parts,
  placeByTrials,
  placeOfFinding,
  settingsInstead,
  startedWith,
  startsAtOnce,
  valuesOf,
} from './node-change.ts'
import type { NodePlace, Problems } from './problems.ts'
import type { Reach, ReachedNode } from './reach.ts'
import type { Starts } from './rollout.ts'
import { settingPaths } from './settings.ts'
import { placedRecords, type Survey } from './survey.ts'
import type { ChangedPart, Place } from './user-data-parts.ts'

export interface Part extends ChangedPart {
  reach: Reach
}

/** The changed files, and what they were before. */
export interface Change {
  head: Part[]
  base: Part[]
  hasBase: boolean
  causes: Map<string, Place>
  starts: Starts
}

export interface Judging {
  snapshot: string
  selection: Selection
  policy: Policy
  survey: Survey
  change: Change
  problems: Problems
}

/** @returns `reached`: number of nodes by the file's path; `standIns`: the node that a part without nodes was tried on; `waived`: rules */
export async function judgeNodes(judging: Judging) {
  const { snapshot, selection, policy, survey, problems } = judging
  const judgement = openChangeJudgement(policy, survey.takenAt)
  const nodes = reachedNodes(judging)
  const standIns = openStandIns(judging)
  const isNeeded = (place: number) => nodes.has(place) || standIns.isWanted(survey.nodes.get(place))
  const changed = new Map<string, ChangedNode>()
  const firstOfGroups = new Map<string, { place: number; input: NodeInput }>()
  const takenGroups = new Set<string>()
  const same = new Map<number, string>()
  const records = placedRecords(snapshot, selection, (record, place) =>
    record.kind === 'Node' && !isNeeded(place) ? null : record,
  )
  for await (const [record, place] of records) {
    if (record.kind === 'Cluster') judgement.takeCluster(clusterInput(record))
    if (record.kind === 'Objects') judgement.takeObjects(objectsInput(record))
    if (record.kind !== 'Node') continue
    const input = withoutFalsePressure(nodeInput(record))
    const own = survey.nodes.get(place)
    if (own) standIns.take(own, input)
    const node = nodes.get(place)
    if (!node) continue
    const key = nodeKey(input.cluster, node.node.identity.name)
    if (changed.has(key)) continue
    const judged = judgeNode(judging, judgement, { ...node, input, place })
    changed.set(key, judged)
    const group = findingGroup(node.node)
    if (!firstOfGroups.has(group) && firstOfGroups.size < mostKept)
      firstOfGroups.set(group, { place, input })
    if (judged.isTaken) takenGroups.add(group)
    if (judged.isSame) same.set(place, group)
  }
  const beside = [...same].filter(([, group]) => takenGroups.has(group)).map(([place]) => place)
  await readAgain(judging, new Set(beside), (place, input) => {
    const node = nodes.get(place)
    const { before } = node ? changeOf(input, partsOn(judging, node)) : {}
    if (before) judgement.take(input, before, before)
  })
  const { changes, waived } = judgement.close()
  const findings = Map.groupBy(changes, ({ finding: { cluster }, node }) => nodeKey(cluster, node))
  const effects = [...changed].map(([key, node]) => effectsOn(node, findings.get(key) ?? []))
  const blame = openBlame()
  for (const { node, alone } of effects) for (const one of alone) blame.take(node, one)
  await blameByTrials(judging, blame, nodes, firstOfGroups.values())
  for (const effect of effects) addEffects(problems, blame, effect)
  return { reached: nodesByFile(changed.values()), standIns: standIns.end(), waived }
}

/** Without conditions that are false: they say nothing of a kubelet with other settings. */
function withoutFalsePressure(input: NodeInput): NodeInput {
  const { status } = input.node
  const conditions = status?.conditions?.filter(
    ({ type, status }) => !type?.endsWith('Pressure') || status !== 'False',
  )
  return {
    ...input,
    node: { ...input.node, status: { ...status, ...(conditions && { conditions }) } },
  }
}

/** Nodes whose findings may be one: those of a group, and all of a cluster that are in none. */
const findingGroup = ({ cluster, identity: { group } }: ReachedNode) =>
  JSON.stringify([cluster, group.kind === 'Node' ? null : group])

/** The nodes at some places of the snapshot, in its order. */
async function readAgain(
  { snapshot, selection }: Judging,
  places: ReadonlySet<number>,
  take: (place: number, input: NodeInput) => unknown,
) {
  if (places.size === 0) return
  let left = places.size
  const records = placedRecords(snapshot, selection, (record, place) =>
    record.kind === 'Node' && places.has(place) ? record : null,
  )
  for await (const [record, place] of records) {
    if (record.kind !== 'Node') continue
    take(place, withoutFalsePressure(nodeInput(record)))
    if (--left === 0) return
  }
}

interface ReachedBy {
  node: ReachedNode
  /** Those that reach the node. */
  parts: Pick<Change, 'head' | 'base'>
  /** Equal for nodes that the same parts reach. */
  key: string
}

/** By their place in the snapshot. */
function reachedNodes({ survey, change }: Judging): ReadonlyMap<number, ReachedBy> {
  const nodes = new Map<number, ReachedBy>()
  const partsOf = (parts: readonly Part[], node: ReachedNode) =>
    [...parts.entries()].filter(([, { reach }]) => reach.has(node))
  for (const [place, node] of survey.nodes) {
    const [head, base] = [partsOf(change.head, node), partsOf(change.base, node)]
    if (head.length + base.length === 0) continue
    const key = [head, base].map(parts => parts.map(([index]) => index).join()).join('/')
    const parts = { head: head.map(([, part]) => part), base: base.map(([, part]) => part) }
    nodes.set(place, { node, parts, key })
  }
  return nodes
}

function nodesByFile(changed: Iterable<ChangedNode>): ReadonlyMap<string, number> {
  const reached = new Map<string, number>()
  for (const { parts } of changed)
    for (const file of new Set([...parts.head, ...parts.base].map(part => part.file)))
      reached.set(file, (reached.get(file) ?? 0) + 1)
  return reached
}

interface ChangedNode extends ReachedBy {
  place: number
  named: NodePlace
  change: NodeChange
  /** What starts at once, and thresholds that are gone. */
  atOnce: NodeProblem[]
  /** Its kubelet starts as it would without the change. */
  isSame: boolean
  /** It is judged with and without the change. */
  isTaken: boolean
}

function judgeNode(
  judging: Judging,
  judgement: ChangeJudgement,
  { input, ...reached }: ReachedBy & { input: NodeInput; place: number },
): ChangedNode {
  const { problems } = judging
  const { cluster, identity } = reached.node
  const named = { cluster, ...identity }
  problems.reach(named)
  const { before, after, ...change } = changeOf(input, partsOn(judging, reached))
  for (const { kind, text, otherLine = null, ...at } of change.problems)
    problems.add({ kind, text, otherLine, ...placeOfProblem(at) }, named)
  for (const path of new Set([...change.paths].map(fieldOf)))
    for (const { field, values } of changesOf(change, path)) problems.change(named, field, values)
  const { disk } = change
  if (disk) problems.change(named, disk.path, disk.values)
  const isSame = before !== null && before === after
  const isTaken = before !== null && after !== null && !isSame
  const atOnce = isTaken ? startsAtOnce(judgement.take(input, before, after), change) : []
  return { ...reached, named, change, atOnce, isSame, isTaken }
}

function partsOn({ change, survey }: Judging, { node, parts }: ReachedBy): Parts {
  const { cluster, identity, nodeClass } = node
  const { owner, group } = identity
  const known = survey.classes.get(nodeKey(cluster, nodeClass ?? ''))
  const isWhole = !change.hasBase && parts.head.some(part => part.isWhole)
  const declared = isWhole ? (known?.sources ?? []).flatMap(settingPaths) : []
  const isRemoved = [parts.head, parts.base].map(own => own.some(part => part.removesKubelet))
  const removed = isRemoved[0] && !isRemoved[1] ? (known?.ownPaths ?? null) : []
  const isAppended =
    owner === 'karpenter' ||
    (owner === 'managed-nodegroup' && survey.ofEksImage.has(nodeKey(cluster, group.name)))
  const volumes = isWhole ? (known?.volumes ?? []) : []
  return { ...change, ...parts, declared, removed, volumes, isAppended }
}

const placeOfProblem = ({ part, path, line }: Pick<NodeProblem, 'part' | 'path' | 'line'>) => ({
  file: part.file,
  field: path,
  line: line ?? part.lineOf(path),
})

interface NodeEffects {
  node: ChangedNode
  /** What starts at once, with the findings that report it. */
  atOnce: [effect: NodeProblem, findings: Finding[]][]
  /** The others are effects of their own. */
  alone: NodeFindingChange[]
}

function effectsOn(node: ChangedNode, findings: readonly NodeFindingChange[]): NodeEffects {
  const effectOf = ({ finding, change: kind }: NodeFindingChange) =>
    kind === 'worse' ? node.atOnce.find(one => one.kind === effects.get(finding.rule)) : undefined
  const byEffect = Map.groupBy(findings, effectOf)
  return {
    node,
    atOnce: node.atOnce.map(effect => [
      effect,
      (byEffect.get(effect) ?? []).map(({ finding }) => finding),
    ]),
    alone: byEffect.get(undefined) ?? [],
  }
}

function addEffects(problems: Problems, blame: Blame, { node, atOnce, alone }: NodeEffects) {
  const { named, change } = node
  for (const [{ kind, text, most, ...at }, own] of atOnce) {
    const [worst] = own.toSorted(bySeverity)
    const { rule, severity } = worst ?? { rule: null, severity: null }
    const detail = own.map(({ consequence }) => consequence).join(' ') || null
    const values = valuesOf(change, at.path)
    problems.add({ kind, text, most, detail, rule, severity, values, ...placeOfProblem(at) }, named)
  }
  for (const one of alone) {
    const { finding, change: kind } = one
    const { rule, severity, title, consequence } = finding
    const isBetter = kind === 'better'
    const text = isBetter ? `No longer: ${title}.` : `${title}.`
    const detail = isBetter ? null : consequence
    const at = placeOfProblem(blame.placeOf(node, one))
    const values = valuesOf(change, at.field)
    const instead = isBetter ? [] : settingsInstead(finding, change, at.field)
    problems.add({ kind, rule, severity, text, detail, values, instead, ...at }, named)
  }
}

interface Trial {
  node: ChangedNode
  found: NodeFindingChange
}

type Blame = ReturnType<typeof openBlame>

/** The setting that a finding comes from; the nodes of a subject that the same parts reach share it. */
function openBlame() {
  const places = new Map<string, Place | null>()
  const trials: Trial[] = []
  const keyOf = ({ key }: ChangedNode, { finding, change }: NodeFindingChange) =>
    JSON.stringify([finding.rule, finding.cluster, finding.subject, change, key])
  return {
    take(node: ChangedNode, found: NodeFindingChange) {
      const key = keyOf(node, found)
      if (places.has(key)) return
      const place = placeOfFinding(found.finding, node.change)
      places.set(key, place)
      if (!place) trials.push({ node, found })
    },
    /** Those whose setting only a replay of the node shows. */
    trials,
    settle: ({ node, found }: Trial, place: Place) => places.set(keyOf(node, found), place),
    placeOf(node: ChangedNode, found: NodeFindingChange) {
      const place = places.get(keyOf(node, found))
      if (!place) throw new Error('a finding has no place')
      return place
    },
  }
}

/** Of the first node of each group, which most findings of the group are on. */
const mostKept = 32

/** On the few nodes on which settings are tried one by one: those that were kept, then by a third reading. All inputs would take a gigabyte. */
async function blameByTrials(
  judging: Judging,
  blame: Blame,
  nodes: ReadonlyMap<number, ReachedBy>,
  kept: Iterable<{ place: number; input: NodeInput }>,
) {
  const { policy, survey } = judging
  const byPlace = Map.groupBy(blame.trials, ({ node }) => node.place)
  const tryOn = (place: number, input: NodeInput) => {
    const node = nodes.get(place)
    if (!node || !byPlace.has(place)) return
    const after = startedWith(input, partsOn(judging, node))
    const prepare = openPreparing(input)
    for (const trial of byPlace.get(place) ?? []) {
      const { finding, change: kind } = trial.found
      const own = changeRules.filter(({ id }) => id === finding.rule)
      const isAsAfter = (tried: NodeInput) => {
        const judgement = openJudgement(own, policy, { refusalsOf: null, keep: null })
        judgement.take(tried, replay(tried, survey.takenAt, asItIs, prepare))
        const { findings } = judgement.close(survey.takenAt)
        return findings.some(one => bySeverity(one, finding) <= 0) !== (kind === 'better')
      }
      const trialsOf = { input, after, isAsAfter }
      blame.settle(trial, placeByTrials(finding, trial.node.change, trialsOf))
    }
    byPlace.delete(place)
  }
  for (const { place, input } of kept) tryOn(place, input)
  await readAgain(judging, new Set(byPlace.keys()), tryOn)
}

/** Parts that reach no node are tried on another one that was read: its kubelet refuses what theirs would refuse. */
function openStandIns({ change, survey, problems }: Judging) {
  const nodes = [...survey.nodes.values()]
  const unreached = change.head.filter(({ reach }) => !nodes.some(node => reach.has(node)))
  const found = new Map<Part, { node: ReachedNode; input: NodeInput; fit: number }>()
  const isBetter = (part: Part, node: ReachedNode) =>
    standInScore(part, node) > (found.get(part)?.fit ?? 0)
  return {
    /** Whether the node may be a better one. */
    isWanted: (node: ReachedNode | undefined) =>
      node !== undefined && unreached.some(part => isBetter(part, node)),
    take(node: ReachedNode, input: NodeInput) {
      const own = unreached.filter(part => isBetter(part, node))
      if (own.length === 0 || !isReadable(input)) return
      for (const part of own) found.set(part, { node, input, fit: standInScore(part, node) })
    },
    end(): ReadonlyMap<Part, ReachedNode> {
      const byInput = Map.groupBy(unreached, part => found.get(part)?.input ?? null)
      for (const [input, parts] of byInput)
        if (!input) addUntried(problems, change, parts)
        else tryParts(problems, change, { input, parts })
      return new Map([...found].map(([part, { node }]) => [part, node]))
    },
  }
}

/** 0: it cannot stand in. The image counts most, then the cluster. */
function standInScore({ amiFamily, by, image, target }: Part, { cluster, identity }: ReachedNode) {
  const family = by === 'bottlerocket' ? 'Bottlerocket' : (amiFamily ?? image)
  const isLike = (identity.amiFamily === 'Bottlerocket') === (family === 'Bottlerocket')
  const ofImage = identity.amiFamily === family ? 3 : Number(isLike)
  return ofImage === 0 ? 0 : ofImage + Number(target.cluster === cluster)
}

function addUntried(problems: Problems, { base }: Change, parts: readonly Part[]) {
  for (const { kind, text, ...at } of newRefusals(parts, base, null))
    problems.add({ kind, text, ...placeOfProblem(at) })
  for (const part of parts) {
    if (part.reach.unknown !== undefined || !setsSomething(part)) continue
    const text = `Not judged: no node has this ${part.kind}, and none that could have it was read.`
    problems.add({ kind: 'unread', text, ...placeOfProblem({ part, path: null }) })
  }
}

export const setsSomething = (part: Part) =>
  settingPaths(part).length + (part.volumes ?? []).length > 0

function tryParts(
  problems: Problems,
  change: Change,
  { input, parts }: { input: NodeInput; parts: readonly Part[] },
) {
  const base = change.base.filter(({ file }) => parts.some(part => part.file === file))
  // Theirs may be larger machines.
  const { capacity, ...status } = input.node.status ?? {}
  const ofAnySize = { ...input, node: { ...input.node, status } }
  for (const head of Map.groupBy(parts, ({ reach }) => reach.how).values()) {
    const tried = changeOf(ofAnySize, {
      ...change,
      head,
      base,
      declared: [],
      removed: [],
      volumes: [],
      isAppended: true,
    })
    for (const { kind, text, otherLine = null, isLostOnEachNode, ...at } of tried.problems)
      if (kind === 'refused' || (isLostOnEachNode && at.part.amiFamily !== undefined))
        problems.add({ kind, text, otherLine, ...placeOfProblem(at) })
  }
}

const changeRules = rules.filter(
  ({ family, cause }) =>
    // They compare nodes with their past or their peers, or say what was read: no change of a setting is judged by them.
    !['drift', 'coverage', 'cluster-gc'].includes(family) &&
    // They compare files with those of the last start: a kubelet that takes the change has started again.
    !(cause.kind === 'world' && cause.event === 'not-restarted') &&
    // They compare a disk with what the snapshot declares, which the change replaces.
    cause.kind !== 'device',
)
const effects = new Map(changeRules.map(({ id, effect }) => [id, effect]))

const bySeverity = (a: Finding, b: Finding) => severityRank(a.severity) - severityRank(b.severity)

type ChangeJudgement = ReturnType<typeof openChangeJudgement>

/** @param takenAt time of the snapshot */
function openChangeJudgement(policy: Policy, takenAt: string) {
  const options = { allNodes: true, hasHistory: false, keep: null }
  const openChange = () => openJudgement(changeRules, policy, options)
  const [old, now] = [openChange(), openChange()]
  return {
    takeCluster(input: ClusterInput) {
      for (const judgement of [old, now]) judgement.takeCluster(input)
    },
    takeObjects(input: ObjectsInput) {
      for (const judgement of [old, now]) judgement.takeObjects(input)
    },
    take(asRead: NodeInput, before: NodeInput, after: NodeInput) {
      const prepare = openPreparing(asRead)
      const replayed = (input: NodeInput) => replay(input, takenAt, asItIs, prepare)
      const first = replayed(before)
      const predictions = { before: first, after: after === before ? first : replayed(after) }
      old.take(before, predictions.before)
      now.take(after, predictions.after)
      return predictions
    },
    /** Findings that only one of both has, or that have another severity; one entry for each node. */
    close() {
      const [before, after] = [old.close(takenAt), now.close(takenAt)]
      const waived = nodeFindingChanges(before.waived, after.waived)
        .filter(({ change }) => change === 'worse')
        .map(({ finding }) => finding.rule)
      return {
        changes: nodeFindingChanges(before.findings, after.findings),
        waived: [...new Set(waived)].sort(),
      }
    },
  }
}
