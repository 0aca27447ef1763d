/**
 * The nodes of a fleet, group by group, worst first. The page draws all nodes of a small group, and
 * the worst few nodes of a large group. Other nodes are rows of a table, or only counted if the
 * table is full. The numbers always add up.
 */

import { parseQuantity } from '#base/go/quantity.ts'
import { by, byText, withoutAddresses } from '#base/text.ts'
import { minuteMs } from '#base/units.ts'
import type { ClusterResult } from '#model/finding.ts'
import { areHappeningsCut } from '#model/history.ts'
import { errorsText } from '#model/input/record.ts'
import type { Signal, settableSignals, ThresholdOrigin } from '#model/prediction.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { subjectText, tallyTexts } from './findings.ts'
import type { Alerts } from './gauge.ts'
import { GaugedNode, nameLimit, nodeView } from './node.ts'

/** Bounds that keep the page usable at 5,000 nodes, in a few groups or in hundreds. */
const fleetLimits = {
  smallGroup: 4,
  worstOfGroup: 3,
  drawnNodes: 48,
  drawnOfMany: 24,
  many: 1000,
  drawnGroups: 40,
  listedNodes: 5000,
}

const groupAnchor = (index: number) => `group-${index + 1}`

/** @param drawnDisks nodes whose disks the page lists
 * @param listedBytes limit in bytes for the rows on the page; further nodes are only counted */
export function fleetView(
  groups: NodeGroup[],
  { assumptions, document }: AuditReport,
  drawnDisks: ReadonlySet<AuditedNode>,
  language: Language,
  listedBytes = Number.POSITIVE_INFINITY,
) {
  const { words: all } = language
  const words = all.fleet
  const nodeCount = groups.reduce((sum, { members }) => sum + members.length, 0)
  const isMany = nodeCount > fleetLimits.many
  let drawable = isMany ? fleetLimits.drawnOfMany : fleetLimits.drawnNodes
  const list = rowsWithin(listedBytes, isMany, language)
  const anchored = new Set<string>()
  const anchors = new Map<AuditedNode, string | null>()
  const drawnGroups = groups.slice(0, fleetLimits.drawnGroups).map((group, groupIndex) => {
    const { title, members } = group
    const id = `g${groupIndex + 1}`
    const isSmall = members.length <= fleetLimits.smallGroup
    const drawnCount = Math.min(isSmall ? members.length : fleetLimits.worstOfGroup, drawable)
    const rows = list.rowsOf(members.slice(drawnCount))
    drawable -= drawnCount
    return {
      anchor: groupAnchor(groupIndex),
      title,
      about: aboutText(group, language),
      caption: words.caption(title),
      drawnTitle: isSmall ? '' : words.nearest(drawnCount),
      nodes: members.slice(0, drawnCount).map((member, index) => {
        const anchor = anchorOnce(member.node.identity.name, anchored)
        anchors.set(member.node, anchor)
        const place = {
          id: `${id}n${index + 1}`,
          anchor,
          hasDisk: drawnDisks.has(member.node),
          region: document.run.region,
          assumptions,
        }
        return nodeView(member, place, language)
      }),
      rows,
      rowsTitle: words.asTable(rows.length, drawnCount > 0),
    }
  })
  const rest = restView(groups.slice(fleetLimits.drawnGroups), list, language)
  const { listed, left, bytes } = list.totals()
  return {
    groups: drawnGroups,
    rest,
    notDrawn: notDrawnTexts(listed, left, language),
    listedBytes: bytes,
    /** Null: the page does not draw the node. */
    anchorOf: (node: AuditedNode) => anchors.get(node) ?? null,
  }
}

function restView(
  groups: NodeGroup[],
  { rowsOf }: ReturnType<typeof rowsWithin>,
  language: Language,
) {
  if (groups.length === 0) return null
  const { words } = language
  const title = words.fleet.moreGroups(groups.length)
  const views = groups.map((group, index) => ({
    anchor: groupAnchor(fleetLimits.drawnGroups + index),
    title: group.title,
    about: aboutText(group, language),
    rows: rowsOf(group.members),
  }))
  return {
    title,
    about: words.nodeCount(groups.reduce((sum, { members }) => sum + members.length, 0)),
    caption: words.fleet.caption(title),
    rowsTitle: words.fleet.restAsTable(views.reduce((sum, { rows }) => sum + rows.length, 0)),
    groups: views.filter(({ rows }) => rows.length > 0),
  }
}

/** Lists rows until their number or bytes reach a limit, and counts the other nodes. */
function rowsWithin(bytesAtMost: number, isMany: boolean, language: Language) {
  let listed = 0
  let left = 0
  let bytes = 0
  const rowFits = (weight: number) =>
    left === 0 && listed < fleetLimits.listedNodes && bytes + weight <= bytesAtMost
  const rowOf = (node: GaugedNode) => {
    const row = rowFits(0) ? nodeRow(node, isMany, language) : null
    const weight = row ? rowBytes(row) : 0
    if (!row || !rowFits(weight)) {
      left += 1
      return []
    }
    listed += 1
    bytes += weight
    return [row]
  }
  return {
    rowsOf: (members: GaugedNode[]) => members.flatMap(rowOf),
    totals: () => ({ listed, left, bytes }),
  }
}

function aboutText({ cluster, members }: NodeGroup, { words }: Language) {
  const countRead = (coverage: AuditedNode['coverage']) =>
    members.filter(({ node }) => node.coverage === coverage).length
  const states = coverageStates.flatMap(state =>
    countRead(state) > 0 ? [words.fleet.coverage(countRead(state), words.coverage[state])] : [],
  )
  const about = words.fleet.about(cluster, words.nodeCount(members.length), words.list(states))
  return words.clauses([about, ...troubleTexts(members, words)])
}

/** `under pressure 3 times, 42 min`, `5 pods evicted on 2 nodes`: what is known of the group's nodes, which is no less than happened. */
function troubleTexts(members: GaugedNode[], { fleet, night, steps }: Language['words']) {
  const spans = members.flatMap(({ node }) => pressureSpansMs(node))
  const evicted = members.map(
    ({ node }) => node.happened?.filter(({ what }) => what === 'evicted').length ?? 0,
  )
  const pods = evicted.reduce((sum, count) => sum + count, 0)
  const isCut = members.some(({ node }) => areHappeningsCut(node.happened))
  const evictions = night.evicted(pods, evicted.filter(Boolean).length)
  const minutes = Math.round(spans.reduce((sum, span) => sum + span, 0) / minuteMs)
  return [
    ...(spans.length > 0 ? [fleet.pressure(spans.length, minutes)] : []),
    ...(pods > 0 ? [isCut ? steps.atLeast(evictions) : evictions] : []),
  ]
}

/** How long each pressure lasted until its end or the reading; 0: its begin was not seen. */
function pressureSpansMs({ at: readAt, happened = [], pressures = [] }: AuditedNode) {
  const now = pressures.flatMap(({ condition, since }) =>
    since === null ? [] : [{ subject: condition, at: since, status: 'True' as const }],
  )
  const changes = happened.filter(
    ({ what, subject }) => what === 'condition' && subject.endsWith('Pressure'),
  )
  const bySubject = Map.groupBy([...changes, ...now], ({ subject }) => subject)
  return [...bySubject.values()].flatMap(all => {
    const spans: number[] = []
    let beganMs: number | null = null
    for (const { at, status } of all.toSorted(by(({ at }) => Date.parse(at)))) {
      if (status === 'True') beganMs ??= Date.parse(at)
      if (status !== 'False') continue
      spans.push(beganMs === null ? 0 : Date.parse(at) - beganMs)
      beganMs = null
    }
    return beganMs === null ? spans : [...spans, Math.max(0, Date.parse(readAt) - beganMs)]
  })
}

/** A node's anchor. Null: another cluster's node has the name, or the name is not valid. */
function anchorOnce(name: string, anchored: Set<string>) {
  if (!/^[a-z0-9.-]{1,253}$/.test(name) || anchored.has(name)) return null
  anchored.add(name)
  return `node-${name}`
}

const notDrawnTexts = (
  inTables: number,
  notListed: number,
  { words: { fleet: words } }: Language,
) => [
  ...(inTables > 0 ? [words.notDrawn(inTables)] : []),
  ...(notListed > 0 ? [words.notListed(notListed)] : []),
]

export interface NodeGroup {
  title: string
  cluster: string
  members: GaugedNode[]
}

/** Nodes by group. Groups, and the nodes in each group, are ordered nearest to eviction first. */
export function groupNodes(
  report: Pick<AuditReport, 'nodes'> & Alerts,
  language: Language,
): NodeGroup[] {
  const { words, line } = language
  const gauged = report.nodes.map(node => new GaugedNode(node, report, language))
  const groups = Map.groupBy(gauged, ({ node: { cluster, identity } }) =>
    JSON.stringify([
      cluster,
      identity.group.kind,
      identity.group.kind === 'Node' ? null : identity.group.name,
    ]),
  )
  return [...groups.values()]
    .map(members => {
      const { cluster, identity } = members[0]!.node
      const title =
        identity.group.kind === 'Node'
          ? words.fleet.withoutGroup
          : subjectText(identity.group, language)
      return { title, cluster: line(cluster, nameLimit), members: members.toSorted(byHeadroom) }
    })
    .toSorted(
      (a, b) =>
        byHeadroom(a.members[0]!, b.members[0]!) ||
        byText(a.cluster, b.cluster) ||
        byText(a.title, b.title),
    )
}

/** Nearest to eviction first; nodes with unknown headroom last. */
const byHeadroom = by<GaugedNode>(
  ({ headroomPercent }) => headroomPercent ?? Number.MAX_VALUE,
  ({ node }) => node.cluster,
  ({ node }) => node.identity.name,
)

const coverageStates = ['read', 'partlyRead', 'notRead'] as const

/** Nodes as rows of a table, and the size of those rows on the page. */
const reasonLimit = 200
/** Maximum length of a reason if thousands of nodes are listed: hundreds might be unread. */
const shortReasonLimit = 100

type NodeRow = ReturnType<typeof nodeRow>

function nodeRow(
  { node, used, state, headroomPercent }: GaugedNode,
  isOneOfMany: boolean,
  { words, line, percent }: Language,
) {
  const usedText = (share: number | null | undefined) => (share === undefined ? '' : percent(share))
  const isObserved = Object.values(used).some(share => share !== undefined)
  const reason = errorsText(node.errors) || words.noReason
  return {
    name: line(node.identity.name, nameLimit),
    coverage: words.coverage[node.coverage],
    disk: usedText(used.images),
    nodefs: usedText(used.nodefs),
    memory: usedText(used.memory),
    headroom:
      headroomPercent !== null && headroomPercent < 0 ? words.none : percent(headroomPercent),
    state: words.node.states[state],
    reason: isObserved ? null : line(reason, isOneOfMany ? shortReasonLimit : reasonLimit),
  }
}

/** Bytes of a row's tags. */
const rowTags = '<tr><th><td><td><td><td><td><td>\n'.length
/** Lengths of the HTML escapes of characters. */
const escapedLengths: Record<string, number> = {
  '&': 5,
  '<': 4,
  '>': 4,
  '"': 6,
  "'": 6,
  '`': 6,
  '=': 6,
}

/** Approximate size of the row's HTML in bytes. */
function rowBytes({ reason, ...cells }: NodeRow) {
  const text =
    reason === null ? Object.values(cells).join('') : `${cells.name}${cells.coverage}${reason}`
  const escapes = text.match(/[&<>"'`=]/g) ?? []
  return escapes.reduce(
    (sum, character) => sum + escapedLengths[character]! - 1,
    rowTags + Buffer.byteLength(text),
  )
}

/* One dense table of the clusters, the worst grade first. */

const shownClusters = 300

export function clustersView(
  { document: { clusters, findings } }: AuditReport,
  groups: NodeGroup[],
  language: Language,
) {
  const { words } = language
  const sorted = clusters.toSorted(worstClusterFirst)
  const findingsOf = Map.groupBy(findings, ({ cluster }) => cluster)
  const headroomOf = leastHeadroom(groups)
  return {
    count: language.count(clusters.length),
    rows: sorted.slice(0, shownClusters).map(cluster => {
      const { name, coverage, outcomes } = cluster
      const read = `${language.count(coverage.read)}/${language.count(coverage.nodes)}`
      const isRead = isClusterRead(cluster)
      return {
        name: language.line(name, nameLimit),
        link: `#findings?${new URLSearchParams({ cluster: language.line(name, nameLimit) })}`,
        grade: cluster.grade ?? words.verdict.noGrade,
        isRead,
        read: coverage.partlyRead > 0 ? words.clusterTable.partly(read, coverage.partlyRead) : read,
        findings: isRead
          ? words.list(tallyTexts(findingsOf.get(name) ?? [], language)) || words.none
          : words.clusterTable.notRead,
        headroom: language.percent(headroomOf.get(name) ?? null),
        outcomes: words.clusterTable.outcomes(
          language.count(outcomes.pass),
          language.count(outcomes.fail),
          language.count(outcomes.unknown),
        ),
      }
    }),
    leftOut:
      clusters.length > shownClusters
        ? words.verdict.moreClusters(clusters.length - shownClusters)
        : null,
  }
}

/** Whether any node was read, wholly or partly. */
export const isClusterRead = ({ coverage: { read, partlyRead } }: ClusterResult) =>
  read + partlyRead > 0

/** Clusters that were not read come first, because nothing is known about their nodes. */
export const worstClusterFirst = (a: ClusterResult, b: ClusterResult) =>
  Number(isClusterRead(a)) - Number(isClusterRead(b)) ||
  byText(b.grade ?? '', a.grade ?? '') ||
  byText(a.name, b.name)

function leastHeadroom(groups: NodeGroup[]) {
  const least = new Map<string, number>()
  for (const { node, headroomPercent } of groups.flatMap(({ members }) => members))
    if (headroomPercent !== null)
      least.set(
        node.cluster,
        Math.max(Math.min(headroomPercent, least.get(node.cluster) ?? 100), 0),
      )
  return least
}

/* Cohorts of nodes that should be alike, and the variants of settings in each cohort. */

export interface Cohort {
  members: AuditedNode[]
}

/** Nodes with the same settings. Values are compared by meaning, not by source or bytes. */
export type Variant = AuditedNode[]

export function cohortsOf(nodes: AuditedNode[]): Cohort[] {
  const alike = Map.groupBy(
    nodes,
    ({
      cluster,
      identity: { group, owner, amiFamily, operatingSystem },
      prediction: { settings },
    }) =>
      JSON.stringify([
        cluster,
        group.kind,
        group.kind === 'Node' ? owner === 'fargate' : group.name,
        amiFamily,
        operatingSystem,
        settings.kubeletMinor,
      ]),
  )
  return [...alike.values()].map(members => ({
    members: members.toSorted(by(({ identity }) => identity.name)),
  }))
}

export function cohortTitle({ members }: Cohort, language: Language) {
  const { group, owner } = members[0]!.identity
  const { fargate, withoutGroup } = language.words.fleet
  if (group.kind !== 'Node') return subjectText(group, language)
  return owner === 'fargate' ? fargate : withoutGroup
}

/** Null: the thresholds are unknown, or could not be parsed. */
export const evictionOf = ({ prediction: { eviction } }: AuditedNode) =>
  !eviction || eviction.error !== null ? null : eviction

export const hasKnownSettings = (node: AuditedNode) =>
  evictionOf(node) !== null || node.prediction.settings.imageGC !== null

/** The variants among the nodes, the largest first. */
export function variantsOf(nodes: AuditedNode[]): Variant[] {
  const alike = [...Map.groupBy(nodes, signatureOf)]
  return alike
    .toSorted(
      by(
        ([, alike]) => -alike.length,
        ([key]) => key,
      ),
    )
    .map(([, variant]) => variant)
}

function signatureOf(node: AuditedNode) {
  const { settings } = node.prediction
  const own = evictionOf(node)?.thresholds.filter(({ signal }) => !isAddedByKubelet(signal))
  const thresholds = own?.map(({ signal, value, hard, gracePeriodMs, minReclaim }) =>
    JSON.stringify([signal, hard, canonical(value), gracePeriodMs, canonical(minReclaim)]),
  )
  return JSON.stringify([
    thresholds?.toSorted() ?? null,
    settings.off,
    settings.imageGC?.map(({ value }) => value) ?? null,
  ])
}

/** Whether the kubelet adds this threshold, by other thresholds, the disks and enforced limits. */
export const isAddedByKubelet = (
  signal: Signal,
): signal is Exclude<Signal, (typeof settableSignals)[number]> =>
  signal.startsWith('containerfs.') || signal === 'allocatableMemory.available'

/** Maximum characters of a configured number. Longer texts are not parsed. */
const longestNumber = 100

/** Returns equal texts for values that mean the same: `1Gi` and `1024Mi`, `10%` and `10.0%`. */
export function canonical(value: string) {
  if (value.length > longestNumber) return value
  const [, percentage] = /^(\d+(?:\.\d*)?)%$/.exec(value) ?? []
  if (percentage !== undefined) return `${Number(percentage)}%`
  try {
    return String(parseQuantity(value).safeInteger ?? value)
  } catch {
    return value
  }
}

/**
 * Reasons why settings are unknown, each with its number of nodes. Reasons that differ only in the
 * node's name or an IP address count as one.
 */
export function unknownTexts(nodes: AuditedNode[], limit: number, language: Language) {
  const { thresholds: words, noReason } = language.words
  const reasons = [
    ...Map.groupBy(nodes, node =>
      withoutAddresses((reasonOf(node) ?? '').replaceAll(node.identity.name, '*')),
    ),
  ]
  const sorted = reasons
    .toSorted(
      by(
        ([, alike]) => -alike.length,
        ([key]) => key,
      ),
    )
    .map(([, alike]) => alike)
  const texts = sorted
    .slice(0, limit)
    .map(alike =>
      words.notKnownFor(
        namedNodes(alike, language),
        language.line(reasonOf(alike[0]!) ?? noReason, 300),
      ),
    )
  const rest = sorted.slice(limit).flat()
  return rest.length === 0
    ? texts
    : [...texts, words.notKnownForOthers(namedNodes(rest, language), sorted.length - limit)]
}

const reasonOf = ({ prediction: { settings } }: AuditedNode) =>
  settings.missing.eviction ?? settings.missing.imageGC

const sampleSize = 3

/** `4 nodes (a, b, c and 1 more)`. */
export function namedNodes(nodes: AuditedNode[], { words, line }: Language) {
  const names = nodes.slice(0, sampleSize).map(({ identity }) => line(identity.name, nameLimit))
  return words.thresholds.named(nodes.length, names, nodes.length - names.length)
}

/* The origin of a setting, in words. */

const pathLimit = 120

/** `drop-in /etc/…`; `likely …` if only the value indicates the source. */
export const originText = (origin: ThresholdOrigin, language: Language) =>
  language.words.origin.from(
    language.words.origin.sources[origin.source],
    ...pathAndDoubt(origin, language),
  )

/** What removed a default, as text that follows "lost": `by evictionHard of the file /etc/…`. */
export const loserText = (origin: ThresholdOrigin, language: Language) =>
  language.words.origin.lostBy(
    language.words.origin.removers[origin.source],
    ...pathAndDoubt(origin, language),
  )

const pathAndDoubt = ({ certainty, path }: ThresholdOrigin, { fold }: Language) =>
  [path === null ? null : fold(path, pathLimit), certainty === 'likely'] as const
