/**
 * The part of a report that belongs to one owner. Unread nodes that might belong to the owner are
 * included.
 */

import { matchesGlob, nodeKey } from '#base/text.ts'
import type { Delta } from '#model/delta.ts'
import {
  type ClusterResult,
  type Coverage,
  type Finding,
  type FindingsDocument,
  gradeOf,
  type NodeSample,
  type OutcomeCounts,
} from '#model/finding.ts'
import type { GroupPoint } from '#model/history.ts'
import { isNodeGroup, matchesCluster, type Subject } from '#model/input/record.ts'
import type { OwnerMatch, ReportOwner } from '#model/policy.ts'
import type { AuditedNode, AuditReport, ReportedTrend, RunBefore } from '#model/report.ts'

/**
 * Returns the owner's nodes, findings, changes and clusters; coverage, outcomes and grade cover
 * only these. Findings and garbage of a whole cluster or its objects are included, unless the
 * owner matches by nodegroup, label or namespace. `others` keep what they own. Null: nothing left.
 */
export function shareOf(
  report: AuditReport,
  { name, match }: Pick<ReportOwner, 'name' | 'match'>,
  others: readonly OwnerMatch[] = [],
): AuditReport | null {
  const owns = ownership(report, match, others)
  const { document, before } = report
  const nodes = report.nodes.filter(({ cluster, identity: { group } }) =>
    owns.group(cluster, group),
  )
  const { isTheirs, mayBeTheirs } = ownershipTests(report, owns)
  const [findings, waived] = [document.findings.filter(isTheirs), document.waived.filter(isTheirs)]
  const notAudited = document.notAudited.filter(mayBeTheirs)
  const ended = before?.ended.filter(isTheirs) ?? []
  const hidden = before?.hidden.filter(isTheirs) ?? []
  const all = [...nodes, ...findings, ...waived, ...notAudited, ...ended, ...hidden]
  const involved = new Set(all.map(({ cluster }) => cluster))
  const clusters = document.clusters.filter(
    ({ name }) => involved.has(name) || owns.group(name, null),
  )
  if (clusters.length === 0 && involved.size === 0) return null
  const ids = new Set([...findings, ...waived, ...ended].map(({ id }) => id))
  const isWhole = (cluster: string) => owns.group(cluster, null)
  const part: SharePart = { nodes, all: report.nodes, findings, isWhole }
  const undivided = clusters.filter(({ name }) => isUndivided(name, part))
  const share: Share = {
    isTheirs,
    mayBeTheirs,
    isWhole,
    clusters: new Set(clusters.map(({ name }) => name)),
    undivided: new Set(undivided.map(({ name }) => name)),
    open: findings.map(({ id }) => id),
    waived: waived.map(({ id }) => id),
    ids,
  }
  return {
    ...report,
    owner: name,
    nodes,
    garbage: report.garbage?.filter(({ cluster }) => isWhole(cluster)),
    // A plan covers the whole fleet; an owner of a part cannot approve it.
    plan: undefined,
    ownerless: undefined,
    notices: report.notices && {
      refused: [],
      runs: report.notices.runs.filter(run => run.clusters.some(owns.ownsSomeOf)),
    },
    document: {
      ...document,
      clusters: clusters.map(cluster => partOf(cluster, part)),
      findings,
      waived,
      unknowns: document.unknowns.filter(isTheirs),
      notAudited,
      // Waivers belong to the policy, not to an owner.
      waiverNotices: undefined,
      delta: idsOf(document.delta, ids),
    },
    trends: report.trends?.flatMap(trend => trendPart(trend, owns) ?? []),
    before: before && beforePart(before, share),
  }
}

/** Findings that no owner matches; empty if there are no owners. */
export function ownerlessFindings(
  report: AuditReport,
  owners: readonly Pick<ReportOwner, 'match'>[],
): Finding[] {
  if (owners.length === 0) return []
  const all = owners.map(({ match }) => ownershipTests(report, ownershipOf(report, match)))
  return report.document.findings.filter(finding => !all.some(({ isTheirs }) => isTheirs(finding)))
}

/** `isTheirs`: the subject belongs to the owner. `mayBeTheirs`: the node does, or might. */
function ownershipTests(
  report: AuditReport,
  owns: Ownership,
): Pick<Share, 'isTheirs' | 'mayBeTheirs'> {
  const groups = new Map(
    report.nodes.map(({ cluster, identity: { name, group } }) => [nodeKey(cluster, name), group]),
  )
  const isTheirs = ({ cluster, subject }: { cluster: string; subject: Subject }) =>
    owns.group(
      cluster,
      subject.kind === 'Node' ? (groups.get(nodeKey(cluster, subject.name)) ?? subject) : subject,
    )
  const mayBeTheirs = ({ cluster, node }: { cluster: string; node: string | null }) => {
    const group = node === null ? undefined : groups.get(nodeKey(cluster, node))
    return group ? owns.group(cluster, group) : owns.ownsSomeOf(cluster)
  }
  return { isTheirs, mayBeTheirs }
}

function idsOf(delta: FindingsDocument['delta'], ids: ReadonlySet<string>): typeof delta {
  const filterTheirs = (list: string[]) => list.filter(id => ids.has(id))
  return {
    new: filterTheirs(delta.new),
    resolved: filterTheirs(delta.resolved),
    ...(delta.worse && { worse: filterTheirs(delta.worse) }),
    ...(delta.regressed && { regressed: filterTheirs(delta.regressed) }),
  }
}

function beforePart(before: RunBefore, share: Share): RunBefore {
  const { isTheirs, mayBeTheirs, isWhole, ids } = share
  return {
    ...before,
    delta: deltaOf(before.delta, share),
    ended: before.ended.filter(isTheirs),
    readAgain: before.readAgain.filter(mayBeTheirs),
    hidden: before.hidden.filter(isTheirs),
    // Groups of absent clusters are not stored, so only owners of the whole cluster see these.
    absent: before.absent.filter(({ cluster }) => isWhole(cluster)),
    returned: before.returned.filter(({ id }) => ids.has(id)),
    unread: before.unread.filter(mayBeTheirs),
  }
}

interface Share {
  isTheirs(of: { cluster: string; subject: Subject }): boolean
  mayBeTheirs(of: { cluster: string; node: string | null }): boolean
  isWhole(cluster: string): boolean
  clusters: ReadonlySet<string>
  /** Clusters whose nodes and findings all belong to the owner. */
  undivided: ReadonlySet<string>
  open: string[]
  waived: string[]
  /** Ids of the owner's findings: open, waived and ended. */
  ids: ReadonlySet<string>
}

/**
 * The group of a removed node is unknown, so only owners of the whole cluster see the node.
 */
function deltaOf(
  delta: Delta,
  { isTheirs, mayBeTheirs, isWhole, clusters, undivided, open, waived }: Share,
): Delta {
  const listed = new Set(delta.findings.map(({ id }) => id))
  const countUnlisted = (ids: string[]) => ids.filter(id => !listed.has(id)).length
  const unchanged = { open: countUnlisted(open), waived: countUnlisted(waived) }
  return {
    // The earlier grade of an owner's part is not stored.
    clusters: delta.clusters.filter(({ name }) => undivided.has(name)),
    findings: delta.findings.filter(isTheirs),
    unchanged: {
      ...unchanged,
      inDoubt: Math.min(delta.unchanged.inDoubt, unchanged.open + unchanged.waived),
    },
    nodes: {
      gone: delta.nodes.gone?.filter(({ cluster }) => isWhole(cluster)) ?? null,
      come: delta.nodes.come?.filter(mayBeTheirs) ?? null,
      notReadNow: delta.nodes.notReadNow.filter(mayBeTheirs),
    },
    notes: delta.notes.filter(({ cluster }) => cluster === null || clusters.has(cluster)),
  }
}

/**
 * Owners of the whole cluster get its grades and counts. Other owners get only the values of their
 * groups. Null: no group belongs to the owner.
 */
function trendPart({ cluster, points }: ReportedTrend, owns: Ownership): ReportedTrend | null {
  const isTheirs = ({ kind, name }: GroupPoint) =>
    owns.group(cluster, kind === 'Node' ? null : { kind, namespace: null, name })
  if (owns.group(cluster, null) && points.every(({ groups }) => groups.every(isTheirs)))
    return { cluster, points }
  const theirs = points.map(point => ({
    ...point,
    grade: null,
    findings: null,
    groups: point.groups.filter(isTheirs),
    groupsLeftOut: null,
    imageGc: null,
  }))
  return theirs.some(({ groups }) => groups.length > 0) ? { cluster, points: theirs } : null
}

function ownership(
  report: AuditReport,
  match: OwnerMatch,
  others: readonly OwnerMatch[],
): Ownership {
  const own = ownershipOf(report, match)
  if (others.length === 0) return own
  const foreign = others.map(other => ownershipOf(report, other))
  const group: Ownership['group'] = (cluster, subject) =>
    own.group(cluster, subject) && !foreign.some(other => other.group(cluster, subject))
  return {
    group,
    ownsSomeOf: cluster =>
      own.ownsSomeOf(cluster) && !foreign.some(other => other.group(cluster, null)),
  }
}

interface Ownership {
  /** Whether a group of nodes or an object belongs to the owner. Null `subject`: the cluster. */
  group(cluster: string, subject: Subject | null): boolean
  /** Whether part of a cluster might belong to the owner. True if nodes or tags are unknown. */
  ownsSomeOf(cluster: string): boolean
}

const matchesLabels = (wanted: Record<string, string> = {}, found: Record<string, string>) =>
  Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(found, key) && matchesGlob(value, found[key] ?? ''),
  )

function ownershipOf({ tags = [], nodes }: AuditReport, match: OwnerMatch): Ownership {
  const tagsOf = new Map(
    tags
      .filter(({ group }) => group === undefined)
      .map(({ cluster, nodegroup, tags: own }) => [JSON.stringify([cluster, nodegroup]), own]),
  )
  const inCluster = (cluster: string) => matchesCluster(match.cluster, cluster)
  const isTagged = (cluster: string, nodegroup: string | null) => {
    const ofCluster = tagsOf.get(JSON.stringify([cluster, null]))
    const found = {
      ...ofCluster,
      ...(nodegroup === null ? {} : tagsOf.get(JSON.stringify([cluster, nodegroup]))),
    }
    return matchesLabels(match.tags, found)
  }
  // A nodepool that is in two separately read parts of the fleet has an entry from each part.
  const labelled = Map.groupBy(tags, ({ cluster, nodegroup, group }) =>
    JSON.stringify([cluster, group?.kind ?? 'Nodegroup', group?.name ?? nodegroup]),
  )
  const isLabelled = (cluster: string, subject: Subject | null) =>
    (
      labelled.get(JSON.stringify([cluster, subject?.kind, subject?.name])) ?? [{ labels: {} }]
    ).every(({ labels }) => matchesLabels(match.labels, labels ?? {}))
  const group = (cluster: string, subject: Subject | null) => {
    if (!inCluster(cluster)) return false
    const groupName = subject && isNodeGroup(subject) ? subject.name : null
    if (
      match.nodegroup !== undefined &&
      !(groupName !== null && matchesGlob(match.nodegroup, groupName))
    )
      return false
    const nodegroup = subject?.kind === 'Nodegroup' ? subject.name : null
    const namespace = subject?.kind === 'Namespace' ? subject.name : (subject?.namespace ?? null)
    if (match.namespace !== undefined && !(namespace && matchesGlob(match.namespace, namespace)))
      return false
    if (!isLabelled(cluster, subject)) return false
    return isTagged(cluster, nodegroup)
  }
  const known = new Set(nodes.map(({ cluster }) => cluster))
  const partly = new Set(
    nodes
      .filter(({ cluster, identity }) => group(cluster, identity.group))
      .map(({ cluster }) => cluster),
  )
  return {
    group,
    ownsSomeOf(cluster) {
      if (!inCluster(cluster)) return false
      const isOpen = match.tags ? !tagsOf.has(JSON.stringify([cluster, null])) : !known.has(cluster)
      return isOpen || match.namespace !== undefined || group(cluster, null) || partly.has(cluster)
    },
  }
}

interface SharePart {
  nodes: AuditedNode[]
  all: AuditedNode[]
  findings: Finding[]
  /** Whether the cluster's own findings belong to the owner. */
  isWhole(cluster: string): boolean
}

const nodesOfCluster = (nodes: AuditedNode[], name: string) =>
  nodes.filter(({ cluster }) => cluster === name)

const isUndivided = (name: string, { nodes, all, isWhole }: SharePart) =>
  isWhole(name) && nodesOfCluster(nodes, name).length === nodesOfCluster(all, name).length

function partOf(cluster: ClusterResult, part: SharePart) {
  const { name } = cluster
  if (isUndivided(name, part)) return cluster
  const [own, all] = [nodesOfCluster(part.nodes, name), nodesOfCluster(part.all, name)]
  const isWhole = part.isWhole(name)
  const { cutImageLists, insightsUnread } = cluster.coverage
  const count = (state: AuditedNode['coverage']) =>
    own.filter(({ coverage }) => coverage === state).length
  const coverage: Coverage = {
    nodes: own.length,
    read: count('read'),
    partlyRead: count('partlyRead'),
    notRead: count('notRead'),
    ...(isWhole && cluster.coverage.clusterGc && { clusterGc: cluster.coverage.clusterGc }),
    ...(isWhole && cutImageLists !== undefined && { cutImageLists }),
    ...(isWhole && insightsUnread !== undefined && { insightsUnread }),
  }
  const ofNodes = outcomesOf(own)
  // Outcomes of cluster rules are the cluster's outcomes minus those of all its nodes.
  const outcomes = isWhole
    ? combineCounts(ofNodes, combineCounts(cluster.outcomes, outcomesOf(all), -1))
    : ofNodes
  const open = part.findings
    .filter(finding => finding.cluster === name)
    .map(({ severity, subject, nodes }) => ({
      severity,
      nodes: concernedNodes(subject, nodes, own),
    }))
  // If too little was read to grade the cluster, its part has a grade only if that grade is bad.
  return {
    ...cluster,
    coverage,
    outcomes,
    grade: gradeOf(open, coverage, outcomes, cluster.grade === null),
    insights: isWhole ? cluster.insights : undefined,
  }
}

const outcomeStates = ['pass', 'fail', 'unknown', 'notApplicable', 'error'] as const

const outcomesOf = (nodes: AuditedNode[]): OutcomeCounts =>
  nodes.reduce((sum, node) => combineCounts(sum, node.outcomes), {
    pass: 0,
    fail: 0,
    unknown: 0,
    notApplicable: 0,
    error: 0,
  })

function combineCounts(a: OutcomeCounts, b: OutcomeCounts, sign: 1 | -1 = 1): OutcomeCounts {
  const sum = { ...a }
  for (const state of outcomeStates) sum[state] += sign * b[state]
  return sum
}

/**
 * The nodes of a finding. Nodes beyond its sample are taken from the owner's nodes of its group.
 */
function concernedNodes(subject: Subject, { count, sample }: NodeSample, own: AuditedNode[]) {
  const isOfGroup = ({ identity: { group } }: AuditedNode) =>
    group.kind === subject.kind && group.name === subject.name
  const others =
    count > sample.length ? own.filter(isOfGroup).map(({ identity }) => identity.name) : []
  return [...new Set([...sample, ...others])].slice(0, count)
}
