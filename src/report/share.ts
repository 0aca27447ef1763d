/** The part of a report that one owner answers for. What is theirs for certain, and what was not read and may be: unknown is never left out. */
import type { Change, ChangedFinding, Delta } from '#model/delta.ts'
import type { ClusterResult, Coverage, Subject } from '#model/finding.ts'
import { matchesGlob } from '#model/glob.ts'
import type { GroupPoint } from '#model/history.ts'
import type { OwnerMatch } from '#model/policy.ts'
import type { AuditedNode, AuditReport, ReportedTrend } from '#model/report.ts'

/**
 * Their nodes, findings and changes, and their clusters, whose coverage counts their nodes; a grade stays that of its whole cluster. Findings on a
 * whole cluster or its objects are theirs unless they match by nodegroup. Null: nothing of this run is theirs.
 */
export function shareOf(report: AuditReport, match: OwnerMatch): AuditReport | null {
  const owns = ownership(report, match)
  const { document, before } = report
  const nodes = report.nodes.filter(({ cluster, identity: { group } }) => owns.group(cluster, group))
  const groups = new Map(report.nodes.map(({ cluster, identity: { name, group } }) => [nodeKey(cluster, name), group]))
  const isTheirs = ({ cluster, subject }: { cluster: string; subject: Subject }) =>
    owns.group(cluster, subject.kind === 'Node' ? (groups.get(nodeKey(cluster, subject.name)) ?? subject) : subject)
  const mayBeTheirs = ({ cluster, node }: { cluster: string; node: string | null }) => {
    const group = node === null ? undefined : groups.get(nodeKey(cluster, node))
    return group === undefined ? owns.someOf(cluster) : owns.group(cluster, group)
  }
  const [findings, waived] = [document.findings.filter(isTheirs), document.waived.filter(isTheirs)]
  const notAudited = document.notAudited.filter(mayBeTheirs)
  const ended = before?.ended.filter(isTheirs) ?? []
  const involved = new Set([...nodes, ...findings, ...waived, ...notAudited, ...ended].map(({ cluster }) => cluster))
  const clusters = document.clusters.filter(({ name }) => involved.has(name) || owns.group(name, null))
  if (clusters.length === 0 && involved.size === 0) return null
  const ids = new Set([...findings, ...waived, ...ended].map(({ id }) => id))
  const { delta } = document
  const theirs = (list: string[]) => list.filter(id => ids.has(id))
  return {
    ...report,
    nodes,
    // It is of the whole fleet, and theirs is not to approve.
    plan: undefined,
    document: {
      ...document,
      clusters: clusters.map(cluster => partOf(cluster, nodes, report.nodes)),
      findings,
      waived,
      unknowns: document.unknowns.filter(isTheirs),
      notAudited,
      delta: {
        new: theirs(delta.new),
        resolved: theirs(delta.resolved),
        ...(delta.worse && { worse: theirs(delta.worse) }),
        ...(delta.regressed && { regressed: theirs(delta.regressed) }),
      },
    },
    trends: report.trends?.flatMap(trend => trendPart(trend, owns) ?? []),
    before: before && {
      ...before,
      delta: deltaOf(before.delta, {
        isTheirs,
        mayBeTheirs,
        isWhole: cluster => owns.group(cluster, null),
        clusters: new Set(clusters.map(({ name }) => name)),
        open: findings.map(({ id }) => id),
        waived: waived.map(({ id }) => id),
      }),
      ended,
      returned: before.returned.filter(({ id }) => ids.has(id)),
      unread: before.unread.filter(mayBeTheirs),
    },
  }
}

interface Share {
  isTheirs(of: { cluster: string; subject: Subject }): boolean
  mayBeTheirs(of: { cluster: string; node: string | null }): boolean
  isWhole(cluster: string): boolean
  clusters: ReadonlySet<string>
  open: string[]
  waived: string[]
}

/** Which group a node had that is gone is not known any more, so it is told to whom the whole cluster belongs. */
function deltaOf(delta: Delta, { isTheirs, mayBeTheirs, isWhole, clusters, open, waived }: Share): Delta {
  const lists = Object.entries(delta.findings) as [Change, ChangedFinding[]][]
  const listed = new Set(lists.flatMap(([, list]) => list.map(({ id }) => id)))
  const standing = (ids: string[]) => ids.filter(id => !listed.has(id)).length
  const unchanged = { open: standing(open), waived: standing(waived) }
  const foreign = delta.clusters.map(({ name }) => name).filter(name => !clusters.has(name))
  return {
    clusters: delta.clusters.filter(({ name }) => clusters.has(name)),
    findings: Object.fromEntries(lists.map(([change, list]) => [change, list.filter(isTheirs)])) as Delta['findings'],
    unchanged: { ...unchanged, inDoubt: Math.min(delta.unchanged.inDoubt, unchanged.open + unchanged.waived) },
    nodes: {
      gone: delta.nodes.gone?.filter(({ cluster }) => isWhole(cluster)) ?? null,
      come: delta.nodes.come?.filter(mayBeTheirs) ?? null,
      notReadNow: delta.nodes.notReadNow.filter(mayBeTheirs),
    },
    notes: delta.notes.filter(note => !foreign.some(name => note.includes(name))),
  }
}

/** Numbers of a whole cluster are told to whom all of it belongs; to others those of their groups. Null: none of them is known. */
function trendPart({ cluster, points }: ReportedTrend, owns: ReturnType<typeof ownership>): ReportedTrend | null {
  const isTheirs = ({ kind, name }: GroupPoint) => owns.group(cluster, kind === 'Node' ? null : { kind, namespace: null, name })
  if (owns.group(cluster, null) && points.every(({ groups }) => groups.every(isTheirs))) return { cluster, points }
  const theirs = points.map(point => ({ ...point, findings: null, groups: point.groups.filter(isTheirs), groupsLeftOut: null }))
  return theirs.some(({ groups }) => groups.length > 0) ? { cluster, points: theirs } : null
}

const nodeKey = (cluster: string, node: string) => JSON.stringify([cluster, node])

function ownership({ tags = [], nodes }: AuditReport, match: OwnerMatch) {
  const tagsOf = new Map(tags.map(({ cluster, nodegroup, tags: own }) => [JSON.stringify([cluster, nodegroup]), own]))
  const inCluster = (cluster: string) => match.cluster === undefined || matchesGlob(match.cluster, cluster)
  const isTagged = (cluster: string, nodegroup: string | null) => {
    const ofCluster = tagsOf.get(JSON.stringify([cluster, null]))
    const found = { ...ofCluster, ...(nodegroup === null ? {} : tagsOf.get(JSON.stringify([cluster, nodegroup]))) }
    return Object.entries(match.tags ?? {}).every(([key, value]) => Object.hasOwn(found, key) && matchesGlob(value, found[key] ?? ''))
  }
  const group = (cluster: string, subject: Subject | null): boolean => {
    const isGroup = subject?.kind === 'Nodegroup' || subject?.kind === 'NodePool'
    if (!inCluster(cluster)) return false
    if (match.nodegroup !== undefined && !(isGroup && matchesGlob(match.nodegroup, subject.name))) return false
    return isTagged(cluster, subject?.kind === 'Nodegroup' ? subject.name : null)
  }
  const known = new Set(nodes.map(({ cluster }) => cluster))
  const partly = new Set(nodes.filter(({ cluster, identity }) => group(cluster, identity.group)).map(({ cluster }) => cluster))
  return {
    /** Whether a group's nodes are theirs; null: the whole cluster. */
    group,
    /** Whether some of a cluster is, as far as that is known: of one without known nodes, or whose tags nobody read, any part may be. */
    someOf(cluster: string): boolean {
      if (!inCluster(cluster)) return false
      const isOpen = match.tags === undefined ? !known.has(cluster) : !tagsOf.has(JSON.stringify([cluster, null]))
      return isOpen || group(cluster, null) || partly.has(cluster)
    },
  }
}

function partOf(cluster: ClusterResult, nodes: AuditedNode[], all: AuditedNode[]): ClusterResult {
  const ofCluster = (list: AuditedNode[]) => list.filter(node => node.cluster === cluster.name)
  const own = ofCluster(nodes)
  if (own.length === ofCluster(all).length) return cluster
  const count = (state: AuditedNode['coverage']) => own.filter(({ coverage }) => coverage === state).length
  const coverage: Coverage = { nodes: own.length, read: count('read'), partlyRead: count('partlyRead'), notRead: count('notRead') }
  return { ...cluster, coverage }
}
