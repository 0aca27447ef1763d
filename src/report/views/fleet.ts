/**
 * The nodes of a fleet, group by group, worst first. A small group is drawn node by node; of a large one the page draws where its nodes stand, and
 * the worst few. Whatever is not drawn stands in a table, whatever does not even fit there is counted: the numbers always add up.
 */
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { compareText } from '#report/text.ts'
import { type DistributionView, distributions } from './distribution.ts'
import { subjectText } from './findings.ts'
import type { Gauge } from './gauge.ts'
import { type GaugedNode, gaugeNode, type NodeView, nameLimit, nodeView } from './node.ts'

/** Bounds that keep the page usable at 5,000 nodes. */
const fleetLimits = {
  smallGroup: 4,
  worstOfGroup: 3,
  drawnNodes: 48,
  drawnOfMany: 24,
  many: 1000,
  drawnGroups: 40,
  listedNodes: 5000,
  listedGroups: 500,
}

interface NodeRow {
  name: string
  coverage: string
  disk: string
  nodefs: string
  memory: string
  headroom: string
  state: string
  /** Null where the node has bars. */
  reason: string | null
}

interface GroupView {
  anchor: string
  title: string
  about: string
  caption: string
  distributions: DistributionView[]
  drawnTitle: string
  nodes: NodeView[]
  rows: NodeRow[]
  rowsTitle: string
}

export interface FleetView {
  groups: GroupView[]
  /** What is not drawn or listed, and why; empty when everything is. */
  notDrawn: string[]
}

export const groupAnchor = (index: number) => `group-${index + 1}`

export function fleetView(groups: NodeGroup[], language: Language): FleetView {
  const { words: all } = language
  const words = all.fleet
  const nodeCount = groups.reduce((sum, { members }) => sum + members.length, 0)
  let drawable = nodeCount > fleetLimits.many ? fleetLimits.drawnOfMany : fleetLimits.drawnNodes
  let listable = fleetLimits.listedNodes
  let notListed = groups.slice(fleetLimits.listedGroups).reduce((sum, { members }) => sum + members.length, 0)
  let inTables = 0
  const anchored = new Set<string>()
  const views = groups.slice(0, fleetLimits.listedGroups).map(({ title, cluster, members }, groupIndex): GroupView => {
    const id = `g${groupIndex + 1}`
    const isSmall = members.length <= fleetLimits.smallGroup
    const drawnCount = Math.min(isSmall ? members.length : fleetLimits.worstOfGroup, drawable)
    const drawn = members.slice(0, drawnCount)
    const listed = members.slice(drawnCount, drawnCount + listable)
    drawable -= drawnCount
    listable -= listed.length
    inTables += listed.length
    notListed += members.length - drawnCount - listed.length
    const reads = (coverage: AuditedNode['coverage']) => members.filter(({ node }) => node.coverage === coverage).length
    return {
      anchor: groupAnchor(groupIndex),
      title,
      about: words.about(
        cluster,
        all.nodeCount(members.length),
        all.list(coverageStates.flatMap(state => (reads(state) > 0 ? [words.coverage(reads(state), all.coverage[state])] : []))),
      ),
      caption: words.caption(title),
      distributions: isSmall || groupIndex >= fleetLimits.drawnGroups ? [] : distributions(members, id, language),
      drawnTitle: isSmall ? '' : words.nearest(drawnCount),
      nodes: drawn.map(({ node, gauges }, index) =>
        nodeView(node, gauges, `${id}n${index + 1}`, anchorOnce(node.identity.name, anchored), language),
      ),
      rows: listed.map(node => nodeRow(node, language)),
      rowsTitle: words.asTable(listed.length, drawnCount > 0),
    }
  })
  return { groups: views, notDrawn: notDrawnTexts(inTables, notListed, language) }
}

/** Null: another cluster's node has it, or it is no name of a node. */
function anchorOnce(name: string, anchored: Set<string>): string | null {
  if (!/^[a-z0-9.-]{1,253}$/.test(name) || anchored.has(name)) return null
  anchored.add(name)
  return `node-${name}`
}

function notDrawnTexts(inTables: number, notListed: number, { words: { fleet: words } }: Language): string[] {
  return [
    ...(inTables > 0 ? [words.notDrawn(inTables)] : []),
    ...(notListed > 0 ? [words.notListed(notListed, fleetLimits.listedNodes, fleetLimits.listedGroups)] : []),
  ]
}

export interface NodeGroup {
  title: string
  cluster: string
  members: GaugedNode[]
}

/** Nodes by their group, nearest to eviction first, groups and members. */
export function groupNodes({ nodes, alertPercent }: Pick<AuditReport, 'nodes' | 'alertPercent'>, language: Language): NodeGroup[] {
  const { words, line } = language
  const gauged = nodes.map(node => gaugeNode(node, alertPercent, language))
  const groups = Map.groupBy(gauged, ({ node: { cluster, identity } }) =>
    JSON.stringify([cluster, identity.group.kind, identity.group.kind === 'Node' ? null : identity.group.name]),
  )
  return [...groups.values()]
    .map(members => {
      const { cluster, identity } = members[0]!.node
      const title = identity.group.kind === 'Node' ? words.fleet.withoutGroup : subjectText(identity.group, language)
      return { title, cluster: line(cluster, nameLimit), members: members.toSorted(byHeadroom) }
    })
    .toSorted((a, b) => byHeadroom(a.members[0]!, b.members[0]!) || compareText(a.cluster, b.cluster) || compareText(a.title, b.title))
}

/** Nearest to eviction first; after them the nodes of which that is not known. */
function byHeadroom(a: GaugedNode, b: GaugedNode): number {
  const known = (value: number | null) => value ?? Number.MAX_VALUE
  return (
    known(a.headroomPercent) - known(b.headroomPercent) ||
    compareText(a.node.cluster, b.node.cluster) ||
    compareText(a.node.identity.name, b.node.identity.name)
  )
}

const coverageStates = ['read', 'partlyRead', 'notRead'] as const

function nodeRow({ node, gauges, headroomPercent }: GaugedNode, { words, line, percent }: Language): NodeRow {
  const usedOf = (gauge: Gauge | undefined) => (gauge === undefined ? '' : percent(gauge.usedPercent))
  const states = gauges.map(({ state }) => state)
  return {
    name: line(node.identity.name, nameLimit),
    coverage: words.coverage[node.coverage],
    disk: usedOf(gauges.find(({ holdsImages }) => holdsImages)),
    nodefs: usedOf(gauges.find(({ kind, holdsImages }) => kind === 'disk' && !holdsImages)),
    memory: usedOf(gauges.find(({ kind }) => kind === 'memory')),
    headroom: headroomPercent === null ? words.unknown : headroomPercent < 0 ? words.none : percent(headroomPercent),
    state: words.node.states[states.includes('pressure') ? 'pressure' : states.includes('image-gc') ? 'image-gc' : 'calm'],
    reason:
      gauges.length > 0 ? null : line(node.errors.map(({ what, message }) => `${what}: ${message}`).join('; ') || words.noReason, 200),
  }
}
