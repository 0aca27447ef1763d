/**
 * Compares two audits. A finding is new, worse, better, fixed or undecidable. It is not new if the
 * earlier audit may have missed it. It is not fixed if the later audit may have missed it, or if its
 * nodes were deleted. Some documents name only part of a finding's nodes. Node counts then set
 * bounds, and the comparison reports as open what these bounds do not decide.
 */

import { byText } from '#base/text/text-order.ts'
import { severityRank } from '#judge/run/outcome.ts'
import { nameLength, plural, shorten } from '#judge/text.ts'
import {
  type Change,
  type ChangedFinding,
  type ClusterChange,
  type ComparedFinding,
  type ComparedRun,
  changes,
  type Delta,
  type DeltaNote,
  type DiffDocument,
  type FindingState,
  type MetNode,
  type NotReadNow,
} from '#model/finding/delta.ts'
import type { Confidence, NodeSample } from '#model/finding/finding.ts'
import type { AuditedNode } from '#model/report.ts'
import {
  doubts,
  isDrift,
  isPartial,
  isPresent,
  isReplaced,
  type Knowledge,
  keyOf,
  knowledgeOf,
  type Nodes,
  nodeCount,
  nodeNames,
  otherDrift,
  placesOf,
  statesIn,
  successors,
  undecidedCount,
} from './run-knowledge.ts'

export function compareRuns(old: ComparedRun, now: ComparedRun): Delta {
  const [then, today] = [knowledgeOf(old, 'before'), knowledgeOf(now, 'now')]
  const [before, after] = [findingsOf(old), findingsOf(now)]
  const findings: ChangedFinding[] = []
  const unchanged = { open: 0, waived: 0, inDoubt: 0 }
  for (const id of new Set([...after.keys(), ...before.keys()])) {
    const pair = { before: before.get(id), after: after.get(id) }
    const { change, why, isInDoubt } = verdictOn(pair, then, today)
    if (change !== 'unchanged') findings.push(changedFinding(id, pair, change, why))
    else {
      unchanged[pair.after?.waived ? 'waived' : 'open']++
      if (isInDoubt) unchanged.inDoubt++
    }
  }
  const [oldNodes, newNodes] = [old.nodes, now.nodes]
  const missingFrom = (all: ComparedRun['nodes'], other: Knowledge) =>
    (all ?? [])
      // An incomplete list does not prove that a node is missing.
      .filter(({ cluster, name }) => !isPresent(other, cluster, name) && !isPartial(other, cluster))
      .map(({ cluster, name: node }) => ({ cluster, node }))
      .toSorted(byNode)
  const areNamed = oldNodes !== null && newNodes !== null
  return {
    clusters: clusterChanges(old, now),
    findings: findings.toSorted(byChange),
    unchanged,
    nodes: {
      gone: areNamed ? missingFrom(oldNodes, today) : null,
      come: areNamed ? missingFrom(newNodes, then) : null,
      notReadNow: notReadNow(now, old, today),
    },
    notes: [
      ...notesOn(old, now).map(text => ({ cluster: null, text })),
      ...partialNotes('OLD', old, then),
      ...partialNotes('NEW', now, today),
    ],
  }
}

/** The findings as `highwater.diff/1` lists them. */
export const findingsByChange = ({ findings }: Delta): DiffDocument['findings'] =>
  Object.fromEntries(
    changes.map(change => [
      change,
      findings.flatMap(({ change: its, ...finding }) => (its === change ? [finding] : [])),
    ]),
  ) as DiffDocument['findings']

const findingsOf = ({ document: { findings, waived } }: ComparedRun) =>
  new Map([...findings, ...waived].map(finding => [finding.id, finding]))

const sampleSize = 20

const stateOf = (finding: ComparedFinding | undefined): FindingState | null =>
  finding
    ? {
        severity: finding.severity,
        confidence: finding.confidence,
        nodes: cut(finding.nodes),
        waived: finding.waived,
      }
    : null
const cut = ({ count, sample }: NodeSample): NodeSample => ({
  count,
  sample: sample.slice(0, sampleSize),
})

function changedFinding(
  id: string,
  { before, after }: Pair,
  change: Change,
  why: string[],
): ChangedFinding {
  const { rule, cluster, subject, title } = (after ?? before)!
  const states = { before: stateOf(before), after: stateOf(after) }
  return { change, id, rule, cluster, subject, title, ...states, why }
}

const worstOf = ({ before, after }: ChangedFinding) =>
  severityRank((after ?? before)?.severity ?? 'info')
const byChange = (a: ChangedFinding, b: ChangedFinding) =>
  changes.indexOf(a.change) - changes.indexOf(b.change) ||
  worstOf(a) - worstOf(b) ||
  byText(a.rule, b.rule) ||
  byText(a.cluster, b.cluster) ||
  byText(a.subject.name, b.subject.name) ||
  byText(a.id, b.id)

type OnNode = { cluster: string; node: string | null }
const byNode = (a: OnNode, b: OnNode) =>
  byText(a.cluster, b.cluster) || byText(a.node ?? '', b.node ?? '')

function clusterChanges(old: ComparedRun, now: ComparedRun): ClusterChange[] {
  const stateIn = ({ document: { clusters } }: ComparedRun, name: string) => {
    const found = clusters.find(cluster => cluster.name === name)
    return found ? { grade: found.grade, coverage: found.coverage } : null
  }
  const names = new Set(
    [old, now].flatMap(({ document }) => document.clusters.map(each => each.name)),
  )
  return [...names]
    .toSorted(byText)
    .map(name => ({ name, before: stateIn(old, name), after: stateIn(now, name) }))
}

/** Nodes and clusters that this run read incompletely. Fargate nodes cannot be read at all. */
function notReadNow(
  { document, nodes }: ComparedRun,
  old: ComparedRun,
  today: Knowledge,
): NotReadNow[] {
  const coverageThen = new Map(
    old.nodes?.map(({ cluster, name, coverage }) => [keyOf(cluster, name), coverage]),
  )
  const entry = (
    cluster: string,
    node: string | null,
    coverage: NotReadNow['coverage'],
    reason: string,
  ): NotReadNow => ({
    cluster,
    node,
    coverage,
    before: coverageThen.get(keyOf(cluster, node)) ?? null,
    reason,
  })
  const listedNow = document.notAudited.filter(({ cause }) => cause !== 'fargate')
  const partly = (nodes ?? []).filter(
    ({ coverage, isFargate }) => coverage === 'partlyRead' && !isFargate,
  )
  return [
    ...listedNow.map(({ cluster, node, reason }) =>
      entry(
        cluster,
        node,
        node === null && nodeCount(today, cluster) > 0 ? 'partlyRead' : 'notRead',
        reason,
      ),
    ),
    ...partly.map(({ cluster, name, missed }) =>
      entry(cluster, name, 'partlyRead', missed || 'not all of its sources are there'),
    ),
  ].toSorted((a, b) => byNode(a, b) || byText(a.reason, b.reason))
}

const withoutNodes = {
  OLD: 'new nodes cannot be distinguished from nodes that existed before',
  NEW: 'deleted nodes cannot be distinguished from fixed nodes',
}

function notesOn(old: ComparedRun, now: ComparedRun) {
  const notes: string[] = []
  const [before, after] = [old.document, now.document]
  if (Date.parse(before.run.takenAt) > Date.parse(after.run.takenAt))
    notes.push(
      `OLD was taken after NEW (${before.run.takenAt}, ${after.run.takenAt}): were they given the wrong way round?`,
    )
  const known = new Set(before.clusters.map(({ name }) => name))
  if (
    before.clusters.length > 0 &&
    after.clusters.length > 0 &&
    !after.clusters.some(({ name }) => known.has(name))
  )
    notes.push('OLD and NEW have no cluster in common')
  for (const [name, { document, nodes }] of [['OLD', old] as const, ['NEW', now] as const]) {
    if (nodes === null)
      notes.push(
        `${name} is a findings.json: ${withoutNodes[name]}; its severities and waivers are those of its day`,
      )
    const others = (name === 'OLD' ? after : before).run.rules.filter(
      rule => !document.run.rules.includes(rule),
    )
    if (others.length > 0)
      notes.push(`${name} was not judged by the rules ${others.toSorted(byText).join(', ')}`)
  }
  return notes
}

const partialNotes = (
  name: string,
  { document, nodes }: ComparedRun,
  known: Knowledge,
): DeltaNote[] =>
  document.clusters
    .filter(({ name: cluster }) => nodes !== null && isPartial(known, cluster))
    .map(({ name: cluster }) => ({
      cluster,
      text: `${name} may not list every node of ${cluster}: none of them is taken for ${name === 'OLD' ? 'come' : 'gone'}`,
    }))

/* A node of an audit, for comparisons of audits. */

/** Names the node as findings do. */
export const metNode = ({ cluster, identity, coverage, errors }: AuditedNode): MetNode => ({
  cluster: shorten(cluster),
  name: shorten(identity.name, nameLength),
  group: { ...identity.group, name: shorten(identity.group.name, nameLength) },
  coverage,
  isFargate: identity.owner === 'fargate',
  missed: shorten(errors.map(({ what, message }) => `${what}: ${message}`).join('; ')),
})

export interface Pair {
  before: ComparedFinding | undefined
  after: ComparedFinding | undefined
}

interface Verdict {
  change: Change | 'unchanged'
  why: string[]
  isInDoubt?: boolean
}

function verdictOn({ before, after }: Pair, then: Knowledge, today: Knowledge): Verdict {
  if (after === undefined)
    return before === undefined
      ? { change: 'unchanged', why: [] }
      : vanishedVerdict(before, then, today)
  if (before === undefined) return appearedVerdict(after, then, today)
  if (after.waived && before.waived) return { change: 'unchanged', why: [] }
  const { change, why, isInDoubt } = changeVerdict(before, after, then, today)
  if (after.waived) return { change: 'waivedSince', why: [waiverText(after.waived), ...why] }
  if (before.waived)
    return { change: 'waiverExpired', why: [waiverEnd(after, before.waived), ...why] }
  return { change, why, isInDoubt }
}

const waiverText = ({ until, reason }: NonNullable<ComparedFinding['waived']>) =>
  `waived until ${until}: ${reason}`

/** An expired waiver stays in the finding's evidence. A waiver deleted from the policy does not. */
const waiverEnd = (
  { evidence }: ComparedFinding,
  { until }: NonNullable<ComparedFinding['waived']>,
) => {
  const trace = evidence.find(({ kind }) => kind === 'waiver')
  return trace
    ? `the waiver ${trace.value}`
    : `the waiver, until ${until}, is no longer in the policy`
}

function vanishedVerdict(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  const { passing, absent, notFailing, failing, undecided, open } = statesIn(today, finding)
  const waived = finding.waived ? ['it was waived: the waiver can go'] : []
  const left = absent.count > 0 ? [`gone: ${nodeNames(absent)}`] : []
  if (undecided.count + open.count > 0) {
    const mended = passing.count > 0 ? [`no longer on ${nodeNames(passing)}`] : []
    return {
      change: 'cannotTell',
      why: [...doubts(today, finding, { undecided, open }), ...mended, ...left],
    }
  }
  const movedTo = movedAway(finding, passing, then, today)
  if (movedTo !== null) return { change: 'moved', why: [...waived, movedTo, ...left] }
  if (passing.count > 0) return { change: 'fixed', why: [...waived, ...left] }
  if (failing.count > 0 && finding.nodes.count === 0)
    return { change: 'moved', why: [placesMoved(finding, then, today)] }
  if (failing.count > 0)
    return { change: 'moved', why: [`${nodeNames(failing)} now fail as part of another subject`] }
  if (notFailing.count > 0) return { change: 'fixedOrGone', why: waived }
  return {
    change: isReplaced(finding, then, today) ? 'replaced' : 'gone',
    why: [...waived, ...successors(today, finding)],
  }
}

function appearedVerdict(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  if (finding.waived)
    return { change: 'waivedSince', why: ['it was not there before', waiverText(finding.waived)] }
  const { passing, absent, notFailing, failing, undecided, open } = statesIn(then, finding)
  const unseen =
    undecided.count > 0 ? doubts(then, finding, { undecided, open: { count: 0, names: [] } }) : []
  const isKnown =
    passing.count > 0 && absent.count + notFailing.count + open.count + undecided.count === 0
  const moved = isKnown ? movedHere(finding, passing, then, today) : null
  if (moved !== null) return { change: 'moved', why: [moved] }
  if (passing.count + absent.count + notFailing.count > 0) {
    const came = absent.count > 0 ? [`on nodes that came since: ${nodeNames(absent)}`] : []
    return { change: 'new', why: [...came, ...unseen] }
  }
  if (open.count > 0)
    return { change: 'cannotTell', why: doubts(then, finding, { undecided, open }) }
  if (undecided.count > 0) return { change: 'newlySeen', why: unseen }
  if (finding.nodes.count > 0)
    return {
      change: 'moved',
      why: [`${nodeNames(failing)} failed before, as part of another subject`],
    }
  const why = [placesMoved(finding, then, today)]
  return {
    change:
      finding.places !== undefined && placesOf(today, finding) > placesOf(then, finding)
        ? 'new'
        : 'moved',
    why,
  }
}

function changeVerdict(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
): Verdict {
  const worse: string[] = []
  const better: string[] = []
  const severity = `severity ${before.severity} → ${after.severity}`
  const harsher = severityRank(before.severity) - severityRank(after.severity)
  if (harsher !== 0) (harsher > 0 ? worse : better).push(severity)
  const confidence = `confidence ${before.confidence} → ${after.confidence}`
  const surer = certainty.indexOf(after.confidence) - certainty.indexOf(before.confidence)
  if (surer !== 0) (surer > 0 ? worse : better).push(confidence)
  const more = (after.places ?? 0) - (before.places ?? 0)
  if (more !== 0)
    (more > 0 ? worse : better).push(
      `in ${placesText(after.places ?? 0)}, before in ${before.places ?? 0}`,
    )
  const spread = spreadOf(before, after, then, today)
  const isBetterWhole = better.length > 0 && !spread.isHidden
  const why = [...worse, ...better, ...spread.why]
  if (worse.length > 0 || spread.grows > 0) return { change: 'worse', why }
  // A finding may look milder today only because its worst node was not read.
  if (better.length > 0 && spread.isHidden) return { change: 'cannotTell', why }
  if (isBetterWhole || spread.grows < 0) return { change: 'better', why }
  if (spread.isElsewhere) return { change: 'moved', why }
  return { change: 'unchanged', why: [], isInDoubt: spread.isHidden || spread.isUncovered }
}

const certainty: Confidence[] = ['possible', 'likely', 'certain']

/** For a finding in both runs: whether it is on more, fewer or other nodes than before. */
interface FindingSpread {
  /** Above 0: on more nodes than before. Below 0: on fewer nodes; deleted nodes do not count. */
  grows: number
  /** The finding started on nodes that passed before. */
  isElsewhere: boolean
  /** Some of the finding's previous nodes could not be checked today. */
  isHidden: boolean
  /** Some of the finding's current nodes could not be checked before. */
  isUncovered: boolean
  why: string[]
}

function spreadOf(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
): FindingSpread {
  const [now, earlier] = [statesIn(then, after), statesIn(today, before)]
  if (now.open.count + earlier.open.count > 0) return spreadByCount(before, after, then, today)
  const ended = earlier.passing
  const left = earlier.absent.count
  const shrunk = Math.max(0, nodeCount(then, before.cluster) - nodeCount(today, before.cluster))
  const fresh = now.absent.count + now.notFailing.count
  // A node replaced by another with the same defect is no change. A deleted node is no repair.
  const joined = Math.max(0, fresh - left - earlier.notFailing.count)
  const endedUnseen = Math.max(0, earlier.notFailing.count - fresh - shrunk)
  const grows = now.passing.count + joined - ended.count - endedUnseen
  const why = [
    now.passing.count > 0 ? `started on ${nodeNames(now.passing)}` : '',
    now.absent.count > 0 ? `came with it: ${nodeNames(now.absent)}` : '',
    now.notFailing.count > 0 ? `started on, or came with it: ${nodeNames(now.notFailing)}` : '',
    ended.count > 0
      ? (movedAway(before, ended, then, today) ?? `ended on ${nodeNames(ended)}`)
      : '',
    left > 0 ? `gone: ${nodeNames(earlier.absent)}` : '',
    earlier.notFailing.count > 0 ? `ended on, or gone: ${nodeNames(earlier.notFailing)}` : '',
    ...(now.undecided.count > 0 ? doubts(then, after, now) : []),
    ...(earlier.undecided.count > 0 ? doubts(today, before, earlier) : []),
  ].filter(text => text !== '')
  return {
    grows,
    isElsewhere: now.passing.count > 0,
    isHidden: earlier.undecided.count > 0,
    isUncovered: now.undecided.count + now.notFailing.count + earlier.notFailing.count > 0,
    why,
  }
}

/** Not all nodes of the finding are named, so only counts are compared. Unread nodes and nodes that left the cluster are subtracted. */
function spreadByCount(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
): FindingSpread {
  const rise = after.nodes.count - before.nodes.count
  const [hiddenThen, hiddenNow] = [undecidedCount(then, before), undecidedCount(today, after)]
  const shrunk = Math.max(0, nodeCount(then, before.cluster) - nodeCount(today, before.cluster))
  const isMore = rise > hiddenThen
  const isFewer = -rise > hiddenNow + shrunk
  const counts = `on ${plural(after.nodes.count, 'node')}, before on ${before.nodes.count}`
  const unnamed = `by count alone: not all of its nodes are named`
  return {
    grows: Number(isMore) - Number(isFewer),
    isElsewhere: false,
    isHidden: hiddenNow > 0,
    isUncovered: hiddenThen > 0 || (rise !== 0 && !isMore && !isFewer),
    why: rise === 0 ? [] : [`${counts} (${unnamed})`],
  }
}

/**
 * Another rule reports drift of the same nodes now, because most nodes drift or the declaration
 * became known. Null: no other rule reports drift of these nodes.
 */
function movedAway(
  finding: ComparedFinding,
  ended: Nodes['passing'],
  then: Knowledge,
  today: Knowledge,
) {
  if (!isDrift(finding)) return null
  const before = otherDrift(then, finding, ended.names)
  const rules = otherDrift(today, finding, ended.names).filter(rule => !before.includes(rule))
  if (rules.length === 0) return null
  return `no longer on ${nodeNames(ended)}, where ${rules.toSorted(byText).join(', ')} ${rules.length === 1 ? 'reports' : 'report'} drift now`
}

/** Opposite of `movedAway`. Null unless another rule reported drift on each node before, not today. */
function movedHere(
  finding: ComparedFinding,
  { count, names }: Nodes['passing'],
  then: Knowledge,
  today: Knowledge,
) {
  if (!isDrift(finding) || names.length < count) return null
  const rulesOn = (name: string) => {
    const now = otherDrift(today, finding, [name])
    return otherDrift(then, finding, [name]).filter(rule => !now.includes(rule))
  }
  const rules = names.map(rulesOn)
  if (rules.some(({ length }) => length === 0)) return null
  return `on ${nodeNames({ count, names })}, where ${[...new Set(rules.flat())].toSorted(byText).join(', ')} reported drift before`
}

/** A rule reports few places one by one, and many places together. */
function placesMoved(finding: ComparedFinding, then: Knowledge, today: Knowledge) {
  return `in ${placesText(placesOf(today, finding))}, before in ${placesOf(then, finding)}: many places are reported together, few one by one`
}
const placesText = (count: number) => plural(count, 'place')
