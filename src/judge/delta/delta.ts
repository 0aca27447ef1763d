/**
 * Two audits compared: what is new, worse, better, fixed, and what cannot be told. Nothing is called new that may have been there unread, and nothing
 * fixed that may still be there unread; a finding whose nodes are gone was not fixed. Where a document names only some nodes of a finding, the rest is
 * bounded by counts, and what the bounds leave open is said to be open.
 */

import { severityRank } from '#judge/outcome.ts'
import { placesOf } from '#judge/places.ts'
import { fargateReason } from '#judge/subject.ts'
import { byText, counted } from '#judge/text.ts'
import {
  type Change,
  type ChangedFinding,
  type ClusterChange,
  type ComparedFinding,
  type ComparedRun,
  changes,
  type Delta,
  type FindingState,
  type NotReadNow,
} from '#model/delta.ts'
import type { Confidence, NodeSample } from '#model/finding.ts'
import { isDrift, type Knowledge, keyOf, knowledgeOf, listed, type Nodes } from './run-knowledge.ts'

interface Pair {
  before: ComparedFinding | undefined
  after: ComparedFinding | undefined
}

interface Verdict {
  change: Change | 'unchanged'
  why: string[]
  isInDoubt?: boolean
}

export function compareRuns(old: ComparedRun, now: ComparedRun): Delta {
  const [then, today] = [knowledgeOf(old, 'before'), knowledgeOf(now, 'now')]
  const [before, after] = [findingsOf(old), findingsOf(now)]
  const findings = noChanges()
  const unchanged = { open: 0, waived: 0, inDoubt: 0 }
  for (const id of new Set([...after.keys(), ...before.keys()])) {
    const pair = { before: before.get(id), after: after.get(id) }
    const { change, why, isInDoubt } = verdictOn(pair, then, today)
    if (change !== 'unchanged') findings[change].push(changed(id, pair, why))
    else {
      unchanged[pair.after?.waived ? 'waived' : 'open']++
      if (isInDoubt) unchanged.inDoubt++
    }
  }
  for (const change of changes) findings[change].sort(byChanged)
  const [oldNodes, newNodes] = [old.nodes, now.nodes]
  const missingFrom = (all: ComparedRun['nodes'], other: Knowledge) =>
    (all ?? [])
      // Where a list broke off, what it does not name may be there all the same.
      .filter(({ cluster, name }) => !other.isPresent(cluster, name) && !other.isPartial(cluster))
      .map(({ cluster, name: node }) => ({ cluster, node }))
      .toSorted(byNode)
  const areNamed = oldNodes !== null && newNodes !== null
  return {
    clusters: clusterChanges(old, now),
    findings,
    unchanged,
    nodes: {
      gone: areNamed ? missingFrom(oldNodes, today) : null,
      come: areNamed ? missingFrom(newNodes, then) : null,
      notReadNow: notReadNow(now, old, today),
    },
    notes: [...notesOn(old, now), ...partialNotes('OLD', old, then), ...partialNotes('NEW', now, today)],
  }
}

const noChanges = (): Delta['findings'] => ({
  new: [],
  worse: [],
  waiverExpired: [],
  newlySeen: [],
  cannotTell: [],
  moved: [],
  better: [],
  fixed: [],
  fixedOrGone: [],
  gone: [],
  waivedSince: [],
})

const findingsOf = ({ document: { findings, waived } }: ComparedRun) =>
  new Map([...findings, ...waived].map(finding => [finding.id, finding]))

function verdictOn({ before, after }: Pair, then: Knowledge, today: Knowledge): Verdict {
  if (after === undefined) return before === undefined ? { change: 'unchanged', why: [] } : vanished(before, then, today)
  if (before === undefined) return appeared(after, then, today)
  if (after.waived && before.waived) return { change: 'unchanged', why: [] }
  const { change, why, isInDoubt } = compared(before, after, then, today)
  if (after.waived) return { change: 'waivedSince', why: [waiverText(after.waived), ...why] }
  if (before.waived) return { change: 'waiverExpired', why: [waiverEnd(after, before.waived), ...why] }
  return { change, why, isInDoubt }
}

const waiverText = ({ until, reason }: NonNullable<ComparedFinding['waived']>) => `waived until ${until}: ${reason}`

/** An expired waiver leaves its trace in the evidence; one that was taken out of the policy leaves none. */
const waiverEnd = ({ evidence }: ComparedFinding, { until }: NonNullable<ComparedFinding['waived']>): string => {
  const trace = evidence.find(({ what }) => what === 'waiver')
  return trace ? `the waiver ${trace.value}` : `the waiver, until ${until}, is no longer in the policy`
}

function vanished(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  const { passing, absent, notFailing, failing, undecided, open } = today.statesOf(finding)
  const waived = finding.waived ? ['it was waived: the waiver can go'] : []
  const left = absent.count > 0 ? [`gone: ${listed(absent)}`] : []
  if (undecided.count + open.count > 0) {
    const mended = passing.count > 0 ? [`no longer on ${listed(passing)}`] : []
    return { change: 'cannotTell', why: [...today.doubts(finding, { undecided, open }), ...mended, ...left] }
  }
  const retold = retoldDrift(finding, passing, then, today)
  if (retold !== null) return { change: 'moved', why: [...waived, retold, ...left] }
  if (passing.count > 0) return { change: 'fixed', why: [...waived, ...left] }
  if (failing.count > 0 && finding.nodes.count === 0) return { change: 'moved', why: [placesRetold(finding, then, today)] }
  if (failing.count > 0) return { change: 'moved', why: [`${listed(failing)} now fail as part of another subject`] }
  if (notFailing.count > 0) return { change: 'fixedOrGone', why: waived }
  return { change: 'gone', why: [...waived, ...today.successors(finding)] }
}

/** Where most nodes drift, or what was declared becomes known, another rule tells of the same nodes. Null: none does. */
function retoldDrift(finding: ComparedFinding, ended: Nodes['passing'], then: Knowledge, today: Knowledge): string | null {
  if (!isDrift(finding)) return null
  const before = then.otherDrift(finding, ended.names)
  const rules = today.otherDrift(finding, ended.names).filter(rule => !before.includes(rule))
  if (rules.length === 0) return null
  return `no longer on ${listed(ended)}, where ${rules.toSorted(byText).join(', ')} ${rules.length === 1 ? 'tells' : 'tell'} of drift now`
}

/** The same the other way round: null where on one of its nodes no other rule, which is silent today, told of drift. */
function toldBefore(finding: ComparedFinding, { count, names }: Nodes['passing'], then: Knowledge, today: Knowledge): string | null {
  if (!isDrift(finding) || names.length < count) return null
  const rulesOn = (name: string) => {
    const now = today.otherDrift(finding, [name])
    return then.otherDrift(finding, [name]).filter(rule => !now.includes(rule))
  }
  const rules = names.map(rulesOn)
  if (rules.some(told => told.length === 0)) return null
  return `on ${listed({ count, names })}, where ${[...new Set(rules.flat())].toSorted(byText).join(', ')} told of drift before`
}

function appeared(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  if (finding.waived) return { change: 'waivedSince', why: ['it was not there before', waiverText(finding.waived)] }
  const { passing, absent, notFailing, failing, undecided, open } = then.statesOf(finding)
  const unseen = undecided.count > 0 ? then.doubts(finding, { undecided, open: { count: 0, names: [] } }) : []
  const isKnown = passing.count > 0 && absent.count + notFailing.count + open.count + undecided.count === 0
  const told = isKnown ? toldBefore(finding, passing, then, today) : null
  if (told !== null) return { change: 'moved', why: [told] }
  if (passing.count + absent.count + notFailing.count > 0) {
    const came = absent.count > 0 ? [`on nodes that came since: ${listed(absent)}`] : []
    return { change: 'new', why: [...came, ...unseen] }
  }
  if (open.count > 0) return { change: 'cannotTell', why: then.doubts(finding, { undecided, open }) }
  if (undecided.count > 0) return { change: 'newlySeen', why: unseen }
  if (finding.nodes.count > 0) return { change: 'moved', why: [`${listed(failing)} failed before, as part of another subject`] }
  const why = [placesRetold(finding, then, today)]
  return { change: placesOf(finding) !== null && today.places(finding) > then.places(finding) ? 'new' : 'moved', why }
}

/** Where a rule's places become many or few, they are told otherwise. */
function placesRetold(finding: ComparedFinding, then: Knowledge, today: Knowledge): string {
  return `in ${placesText(today.places(finding))}, before in ${then.places(finding)}: told together above a certain number, else each by itself`
}
const placesText = (count: number): string => counted(count, 'place')

/** The same finding in both. */
function compared(before: ComparedFinding, after: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  const worse: string[] = []
  const better: string[] = []
  const severity = `severity ${before.severity} → ${after.severity}`
  const harsher = severityRank(before.severity) - severityRank(after.severity)
  if (harsher !== 0) (harsher > 0 ? worse : better).push(severity)
  const confidence = `confidence ${before.confidence} → ${after.confidence}`
  const surer = certainty.indexOf(after.confidence) - certainty.indexOf(before.confidence)
  if (surer !== 0) (surer > 0 ? worse : better).push(confidence)
  const more = (placesOf(after) ?? 0) - (placesOf(before) ?? 0)
  if (more !== 0) (more > 0 ? worse : better).push(`in ${placesText(placesOf(after) ?? 0)}, before in ${placesOf(before) ?? 0}`)
  const spread = spreadOf(before, after, then, today)
  const isBetterWhole = better.length > 0 && !spread.isHidden
  const why = [...worse, ...better, ...spread.why]
  if (worse.length > 0 || spread.grows > 0) return { change: 'worse', why }
  // What is milder today may only be so because the worst of its nodes was not read.
  if (better.length > 0 && spread.isHidden) return { change: 'cannotTell', why }
  if (isBetterWhole || spread.grows < 0) return { change: 'better', why }
  if (spread.isElsewhere) return { change: 'moved', why }
  return { change: 'unchanged', why: [], isInDoubt: spread.isHidden || spread.isUncovered }
}

const certainty: Confidence[] = ['possible', 'likely', 'certain']

interface Spread {
  /** Above 0: on more nodes than before; below: on fewer, and not because they are gone. */
  grows: number
  /** It started on nodes that were fine. */
  isElsewhere: boolean
  /** Some of its nodes of before cannot be told today. */
  isHidden: boolean
  /** Some of its nodes of today could not be told before. */
  isUncovered: boolean
  why: string[]
}

function spreadOf(before: ComparedFinding, after: ComparedFinding, then: Knowledge, today: Knowledge): Spread {
  const [now, earlier] = [then.statesOf(after), today.statesOf(before)]
  if (now.open.count + earlier.open.count > 0) return spreadByCount(before, after, then, today)
  const ended = earlier.passing
  const left = earlier.absent.count
  const shrunk = Math.max(0, then.nodeCount(before.cluster) - today.nodeCount(before.cluster))
  const fresh = now.absent.count + now.notFailing.count
  // Nodes that were replaced by others with the same defect are no change, and a node that is gone is no repair.
  const joined = Math.max(0, fresh - left - earlier.notFailing.count)
  const endedUnseen = Math.max(0, earlier.notFailing.count - fresh - shrunk)
  const grows = now.passing.count + joined - ended.count - endedUnseen
  const why = [
    now.passing.count > 0 ? `started on ${listed(now.passing)}` : '',
    now.absent.count > 0 ? `came with it: ${listed(now.absent)}` : '',
    now.notFailing.count > 0 ? `started on, or came with it: ${listed(now.notFailing)}` : '',
    ended.count > 0 ? (retoldDrift(before, ended, then, today) ?? `ended on ${listed(ended)}`) : '',
    left > 0 ? `gone: ${listed(earlier.absent)}` : '',
    earlier.notFailing.count > 0 ? `ended on, or gone: ${listed(earlier.notFailing)}` : '',
    ...(now.undecided.count > 0 ? then.doubts(after, now) : []),
    ...(earlier.undecided.count > 0 ? today.doubts(before, earlier) : []),
  ].filter(text => text !== '')
  return {
    grows,
    isElsewhere: now.passing.count > 0,
    isHidden: earlier.undecided.count > 0,
    isUncovered: now.undecided.count + now.notFailing.count + earlier.notFailing.count > 0,
    why,
  }
}

/** Not all of its nodes are named, so only their number is compared, less what was not read and what left the cluster. */
function spreadByCount(before: ComparedFinding, after: ComparedFinding, then: Knowledge, today: Knowledge): Spread {
  const rise = after.nodes.count - before.nodes.count
  const [hiddenThen, hiddenNow] = [then.undecidedCount(before), today.undecidedCount(after)]
  const shrunk = Math.max(0, then.nodeCount(before.cluster) - today.nodeCount(before.cluster))
  const isMore = rise > hiddenThen
  const isFewer = -rise > hiddenNow + shrunk
  const counts = `on ${counted(after.nodes.count, 'node')}, before on ${before.nodes.count}`
  const unnamed = `by count alone: not all of its nodes are named`
  return {
    grows: isMore ? 1 : isFewer ? -1 : 0,
    isElsewhere: false,
    isHidden: hiddenNow > 0,
    isUncovered: hiddenThen > 0 || (rise !== 0 && !isMore && !isFewer),
    why: rise === 0 ? [] : [`${counts} (${unnamed})`],
  }
}

/** As in a findings document. */
const sampleSize = 20

const stateOf = (finding: ComparedFinding | undefined): FindingState | null =>
  finding ? { severity: finding.severity, confidence: finding.confidence, nodes: cut(finding.nodes), waived: finding.waived } : null
const cut = ({ count, sample }: NodeSample): NodeSample => ({ count, sample: sample.slice(0, sampleSize) })

function changed(id: string, { before, after }: Pair, why: string[]): ChangedFinding {
  const { rule, cluster, subject, title } = (after ?? before)!
  return { id, rule, cluster, subject, title, before: stateOf(before), after: stateOf(after), why }
}

const worstOf = ({ before, after }: ChangedFinding) => severityRank((after ?? before)?.severity ?? 'info')
const byChanged = (a: ChangedFinding, b: ChangedFinding) =>
  worstOf(a) - worstOf(b) ||
  byText(a.rule, b.rule) ||
  byText(a.cluster, b.cluster) ||
  byText(a.subject.name, b.subject.name) ||
  byText(a.id, b.id)

type OnNode = { cluster: string; node: string | null }
const byNode = (a: OnNode, b: OnNode) => byText(a.cluster, b.cluster) || byText(a.node ?? '', b.node ?? '')

function clusterChanges(old: ComparedRun, now: ComparedRun): ClusterChange[] {
  const [before, after] = [old, now].map(({ document: { clusters } }) => new Map(clusters.map(cluster => [cluster.name, cluster])))
  const stateIn = (clusters: typeof before, name: string) => {
    const found = clusters?.get(name)
    return found ? { grade: found.grade, coverage: found.coverage } : null
  }
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])
  return [...names].toSorted(byText).map(name => ({ name, before: stateIn(before, name), after: stateIn(after, name) }))
}

/** Nodes and clusters of which less was read today than there is; Fargate's cannot be read by anyone. */
function notReadNow({ document, nodes }: ComparedRun, old: ComparedRun, today: Knowledge): NotReadNow[] {
  const coverageThen = new Map(old.nodes?.map(({ cluster, name, coverage }) => [keyOf(cluster, name), coverage]))
  const entry = (cluster: string, node: string | null, coverage: NotReadNow['coverage'], reason: string): NotReadNow => ({
    cluster,
    node,
    coverage,
    before: coverageThen.get(keyOf(cluster, node)) ?? null,
    reason,
  })
  const listedNow = document.notAudited.filter(({ reason }) => reason !== fargateReason)
  const partly = (nodes ?? []).filter(({ coverage, isFargate }) => coverage === 'partlyRead' && !isFargate)
  return [
    ...listedNow.map(({ cluster, node, reason }) =>
      entry(cluster, node, node === null && today.nodeCount(cluster) > 0 ? 'partlyRead' : 'notRead', reason),
    ),
    ...partly.map(({ cluster, name, missed }) => entry(cluster, name, 'partlyRead', missed || 'not all of its sources are there')),
  ].toSorted((a, b) => byNode(a, b) || byText(a.reason, b.reason))
}

const withoutNodes = {
  OLD: 'nodes that came since are not told from nodes that were there',
  NEW: 'nodes that are gone are not told from nodes that were mended',
}

function notesOn(old: ComparedRun, now: ComparedRun): string[] {
  const notes: string[] = []
  const [before, after] = [old.document, now.document]
  if (Date.parse(before.run.takenAt) > Date.parse(after.run.takenAt))
    notes.push(`OLD was taken after NEW (${before.run.takenAt}, ${after.run.takenAt}): were they given the wrong way round?`)
  const known = new Set(before.clusters.map(({ name }) => name))
  if (before.clusters.length > 0 && after.clusters.length > 0 && !after.clusters.some(({ name }) => known.has(name)))
    notes.push('OLD and NEW have no cluster in common')
  for (const [name, { document, nodes }] of [['OLD', old] as const, ['NEW', now] as const]) {
    if (nodes === null) notes.push(`${name} is a findings.json: ${withoutNodes[name]}; its severities and waivers are those of its day`)
    const others = (name === 'OLD' ? after : before).run.rules.filter(rule => !document.run.rules.includes(rule))
    if (others.length > 0) notes.push(`${name} was not asked by the rules ${others.toSorted(byText).join(', ')}`)
  }
  return notes
}

const partialNotes = (name: string, { document, nodes }: ComparedRun, known: Knowledge): string[] =>
  document.clusters
    .filter(({ name: cluster }) => nodes !== null && known.isPartial(cluster))
    .map(
      ({ name: cluster }) => `${name} may not list every node of ${cluster}: none of them is taken for ${name === 'OLD' ? 'come' : 'gone'}`,
    )
