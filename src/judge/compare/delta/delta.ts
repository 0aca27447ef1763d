/**
 * Compares two audits. A finding is new, worse, better, fixed or undecidable. It is not new if the
 * earlier audit may have missed it. It is not fixed if the later audit may have missed it, or if its
 * nodes were deleted. Some documents name only part of a finding's nodes. Node counts then set
 * bounds, and the comparison reports as open what these bounds do not decide.
 */

import { by, byText } from '#base/text.ts'
import { severityRank } from '#judge/run/outcome.ts'
import { nameLength, shorten } from '#judge/text.ts'
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
} from '#model/delta.ts'
import { errorsText } from '#model/input/record.ts'
import type { AuditedNode } from '#model/report.ts'
import {
  isPartial,
  isPresent,
  type Knowledge,
  keyOf,
  knowledgeOf,
  nodeCount,
} from './run-knowledge.ts'
import { type Pair, verdictOn } from './verdict.ts'

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
  const nodesMissingFrom = (all: ComparedRun['nodes'], other: Knowledge) =>
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
      gone: areNamed ? nodesMissingFrom(oldNodes, today) : null,
      come: areNamed ? nodesMissingFrom(newNodes, then) : null,
      notReadNow: notReadNow(now, old, today),
    },
    notes: [
      ...comparisonNotes(old, now).map(text => ({ cluster: null, text })),
      ...partialNotes('OLD', old, then),
      ...partialNotes('NEW', now, today),
    ],
  }
}

/** The findings as `highwater.diff/1` lists them. */
export const findingsByChange = ({ findings }: Delta) =>
  Object.fromEntries(
    changes.map(change => [
      change,
      findings.flatMap(({ change: its, ...finding }) => (its === change ? [finding] : [])),
    ]),
  ) as DiffDocument['findings']

const findingsOf = ({ document: { findings, waived } }: ComparedRun) =>
  new Map([...findings, ...waived].map(finding => [finding.id, finding]))

const sampleSize = 20

const stateOf = ({ severity, confidence, nodes, waived }: ComparedFinding): FindingState => ({
  severity,
  confidence,
  nodes: { count: nodes.count, sample: nodes.sample.slice(0, sampleSize) },
  waived,
})

function changedFinding(
  id: string,
  { before, after }: Pair,
  change: Change,
  why: string[],
): ChangedFinding {
  const { rule, cluster, subject, title } = (after ?? before)!
  const states = { before: before ? stateOf(before) : null, after: after ? stateOf(after) : null }
  return { change, id, rule, cluster, subject, title, ...states, why }
}

const byChange = by<ChangedFinding>(
  ({ change }) => changes.indexOf(change),
  ({ before, after }) => severityRank((after ?? before)?.severity ?? 'info'),
  ({ rule }) => rule,
  ({ cluster }) => cluster,
  ({ subject }) => subject.name,
  ({ id }) => id,
)

const byNode = by<{ cluster: string; node: string | null }>(
  ({ cluster }) => cluster,
  ({ node }) => node ?? '',
)

function clusterChanges(old: ComparedRun, now: ComparedRun): ClusterChange[] {
  const stateIn = ({ document: { clusters } }: ComparedRun, name: string) => {
    const found = clusters.find(cluster => cluster.name === name)
    return found ? { grade: found.grade, coverage: found.coverage } : null
  }
  const names = new Set(
    [old, now].flatMap(({ document }) => document.clusters.map(each => each.name)),
  )
  return [...names]
    .toSorted()
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

function comparisonNotes(old: ComparedRun, now: ComparedRun) {
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
    if (!nodes)
      notes.push(
        `${name} is a findings.json: ${withoutNodes[name]}; its severities and waivers are those of its day`,
      )
    const others = (name === 'OLD' ? after : before).run.rules.filter(
      rule => !document.run.rules.includes(rule),
    )
    if (others.length > 0)
      notes.push(`${name} was not judged by the rules ${others.toSorted().join(', ')}`)
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
export const comparedNode = ({ cluster, identity, coverage, errors }: AuditedNode): MetNode => ({
  cluster: shorten(cluster),
  name: shorten(identity.name, nameLength),
  group: { ...identity.group, name: shorten(identity.group.name, nameLength) },
  coverage,
  isFargate: identity.owner === 'fargate',
  missed: shorten(errorsText(errors)),
})
