/**
 * The nodes of a fleet, group by group, worst first. A small group is drawn node by node; of a large one the page draws where its nodes stand, and
 * the worst few. Whatever is not drawn stands in a table, whatever does not even fit there is counted: the numbers always add up.
 */
import type { AuditReport } from '#model/report.ts'
import { counted, formatCount, formatPercent } from '#report/numbers.ts'
import { compareText, shownLine } from '#report/text.ts'
import { type DistributionView, distributions } from './distribution.ts'
import { subjectText } from './findings.ts'
import type { Gauge } from './gauge.ts'
import { coverageTexts, type GaugedNode, gaugeNode, type NodeView, nameLimit, nodeView } from './node.ts'

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
  cluster: string
  count: string
  coverage: string
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

export function fleetView(groups: NodeGroup[]): FleetView {
  const all = groups.reduce((sum, { members }) => sum + members.length, 0)
  let drawable = all > fleetLimits.many ? fleetLimits.drawnOfMany : fleetLimits.drawnNodes
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
    const reads = (coverage: keyof typeof coverageTexts) => members.filter(({ node }) => node.coverage === coverage).length
    return {
      anchor: groupAnchor(groupIndex),
      title,
      cluster,
      count: counted(members.length, 'node'),
      coverage: (['read', 'partlyRead', 'notRead'] as const)
        .flatMap(state => (reads(state) > 0 ? [`${formatCount(reads(state))} ${coverageTexts[state]}`] : []))
        .join(', '),
      distributions: isSmall || groupIndex >= fleetLimits.drawnGroups ? [] : distributions(members, id),
      drawnTitle: isSmall ? '' : `The ${drawnCount === 1 ? 'node' : `${drawnCount} nodes`} nearest to eviction`,
      nodes: drawn.map(({ node, gauges }, index) => nodeView(node, gauges, `${id}n${index + 1}`, anchorOnce(node.identity.name, anchored))),
      rows: listed.map(nodeRow),
      rowsTitle:
        drawnCount > 0
          ? `${counted(listed.length, 'more node')} of this group, as a table`
          : `${counted(listed.length, 'node')} of this group, as a table`,
    }
  })
  return { groups: views, notDrawn: notDrawnTexts(inTables, notListed) }
}

/** Null: another cluster's node has it, or it is no name of a node. */
function anchorOnce(name: string, anchored: Set<string>): string | null {
  if (!/^[a-z0-9.-]{1,253}$/.test(name) || anchored.has(name)) return null
  anchored.add(name)
  return `node-${name}`
}

function notDrawnTexts(inTables: number, notListed: number): string[] {
  const texts: string[] = []
  if (inTables > 0) {
    texts.push(
      `${counted(inTables, 'node')} not drawn as a picture: of large groups the page draws those nearest to eviction and lists the others in tables, so that it stays light.`,
    )
  }
  if (notListed > 0) {
    texts.push(
      `${counted(notListed, 'node')} neither drawn nor listed: the page stops at ${formatCount(fleetLimits.listedNodes)} rows and ${formatCount(fleetLimits.listedGroups)} groups. The snapshot holds every one.`,
    )
  }
  return texts
}

export interface NodeGroup {
  title: string
  cluster: string
  members: GaugedNode[]
}

/** Nodes by their group, nearest to eviction first, groups and members. */
export function groupNodes({ nodes, alertPercent }: Pick<AuditReport, 'nodes' | 'alertPercent'>): NodeGroup[] {
  const gauged = nodes.map(node => gaugeNode(node, alertPercent))
  const groups = Map.groupBy(gauged, ({ node: { cluster, identity } }) =>
    JSON.stringify([cluster, identity.group.kind, identity.group.kind === 'Node' ? null : identity.group.name]),
  )
  return [...groups.values()]
    .map(members => {
      const { cluster, identity } = members[0]!.node
      const title = identity.group.kind === 'Node' ? 'Nodes without a group' : subjectText(identity.group)
      return { title, cluster: shownLine(cluster, nameLimit), members: members.toSorted(byHeadroom) }
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

const usedOf = (gauge: Gauge | undefined) => (gauge === undefined ? '' : formatPercent(gauge.usedPercent))

function nodeRow({ node, gauges, headroomPercent }: GaugedNode): NodeRow {
  const states = gauges.map(({ state }) => state)
  return {
    name: shownLine(node.identity.name, nameLimit),
    coverage: coverageTexts[node.coverage],
    disk: usedOf(gauges.find(({ holdsImages }) => holdsImages)),
    nodefs: usedOf(gauges.find(({ kind, holdsImages }) => kind === 'disk' && !holdsImages)),
    memory: usedOf(gauges.find(({ kind }) => kind === 'memory')),
    headroom: headroomPercent === null ? 'unknown' : headroomPercent < 0 ? 'none' : formatPercent(headroomPercent),
    state: states.includes('pressure') ? 'eviction threshold met' : states.includes('image-gc') ? 'image GC is due' : '',
    reason:
      gauges.length > 0
        ? null
        : shownLine(node.errors.map(({ what, message }) => `${what}: ${message}`).join('; ') || 'no reason was recorded', 200),
  }
}
