/** State of a finding's nodes in one audit: failing, passing, absent, undecided or open. */

import { plural } from '#judge/text.ts'
import type { ComparedFinding, ComparedRun } from '#model/delta.ts'
import type { NotAudited } from '#model/finding.ts'
import type { Subject } from '#model/input/record.ts'

/** `undecided`: the node was not read, or its outcome is unknown. `notFailing`: passing or absent. `open`: the document does not show which. */
const states = ['failing', 'passing', 'absent', 'notFailing', 'undecided', 'open'] as const
type State = (typeof states)[number]
export type Nodes = Record<State, { count: number; names: string[] }>

type FindingOnSubject = Pick<ComparedFinding, 'rule' | 'cluster' | 'subject'>

export const keyOf = (...parts: (string | null)[]) => JSON.stringify(parts)
const subjectKey = ({ rule, cluster, subject }: FindingOnSubject) =>
  keyOf(rule, cluster, subject.kind, subject.namespace, subject.name)
const wholeCluster = ({ rule, cluster }: FindingOnSubject): FindingOnSubject => ({
  rule,
  cluster,
  subject: { kind: 'Cluster', namespace: null, name: cluster },
})
const groupKey = (cluster: string, { kind, name }: Subject) => keyOf(cluster, kind, name)
const ruleKey = ({ rule, cluster }: FindingOnSubject) => keyOf(rule, cluster)

/** Node names by rule and cluster. One key per node and rule would take much memory in a large fleet. */
function namesIn(found: readonly (FindingOnSubject & Pick<ComparedFinding, 'nodes'>)[]) {
  const names = new Map<string, Set<string>>()
  const add = (rule: string, cluster: string, nodes: readonly string[]) => {
    const key = keyOf(rule, cluster)
    const known = names.get(key)
    if (!known) names.set(key, new Set(nodes))
    else for (const node of nodes) known.add(node)
  }
  for (const { rule, cluster, nodes } of found) add(rule, cluster, nodes.sample)
  return {
    add,
    has: (rule: string, cluster: string, node: string) =>
      names.get(keyOf(rule, cluster))?.has(node) ?? false,
  }
}

function sumBy<Item>(
  items: readonly Item[],
  keyOfItem: (item: Item) => string,
  countOf: (item: Item) => number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const item of items) {
    const key = keyOfItem(item)
    sums.set(key, (sums.get(key) ?? 0) + countOf(item))
  }
  return sums
}

/** More than there are. A foreign document can name any number of rules. */
const mostDriftRules = 32

/** The rules that report drift of each node in this run. */
function driftByNode(findings: readonly ComparedFinding[]) {
  const rules = new Map<string, Set<string>>()
  for (const { rule, cluster, nodes } of findings.filter(isDrift))
    for (const node of nodes.sample) {
      const key = keyOf(cluster, node)
      const known = rules.get(key)
      if (!known) rules.set(key, new Set([rule]))
      else if (known.size < mostDriftRules) known.add(rule)
    }
  return rules
}

/** What one audit contains, by subject, node and cluster: foreign documents are long, so no list is searched for each finding. */
export function knowledgeOf(run: ComparedRun, when: 'before' | 'now') {
  const { document, nodes, ruleErrors } = run
  const { clusters, findings, waived, unknowns, notAudited } = document
  const all = [...findings, ...waived]
  const undecided = namesIn(unknowns)
  for (const { rule, cluster, node } of ruleErrors ?? []) undecided.add(rule, cluster, [node])
  const seen = [...all, ...unknowns]
  return {
    run,
    when,
    rules: new Set(document.run.rules),
    failing: namesIn(all),
    undecided,
    unread: new Set(
      nodes
        ?.filter(({ coverage }) => coverage === 'notRead')
        .map(({ cluster, name }) => keyOf(cluster, name)) ??
        notAudited.flatMap(({ cluster, node }) => (node === null ? [] : keyOf(cluster, node))),
    ),
    present: new Set(nodes?.map(({ cluster, name }) => keyOf(cluster, name))),
    groups: Map.groupBy(nodes ?? [], ({ cluster, group }) => groupKey(cluster, group)),
    reasons: new Map(unknowns.map(unknown => [subjectKey(unknown), unknown.reason])),
    touched: new Set(seen.map(subjectKey)),
    /** Subjects whose nodes are not all listed. */
    unnamed: new Set(
      seen.filter(({ nodes: { count, sample } }) => count > sample.length).map(subjectKey),
    ),
    /** Subjects with a finding that covers many places. */
    gathered: new Set(all.filter(({ places }) => places !== undefined).map(subjectKey)),
    placesByRule: sumBy(all, ruleKey, ({ places }) => places ?? 1),
    undecidedCounts: sumBy(unknowns, subjectKey, ({ nodes: { count } }) => count),
    driftByNode: driftByNode(all.filter(({ isCarried }) => isCarried !== true)),
    unreadReasons: new Map(
      notAudited
        .filter(entry => entry.node !== null || isPartMissing(entry))
        .map(({ cluster, node, reason }) => [keyOf(cluster, node), reason] as const)
        // Of several reasons the first one counts.
        .toReversed(),
    ),
    clusters: new Map(clusters.map(cluster => [cluster.name, cluster])),
    brokenLists: new Set(notAudited.filter(isPartMissing).map(({ cluster }) => cluster)),
    isWhollyPartial:
      (document.run.lostLines ?? 0) > 0 || notAudited.some(({ cause }) => cause === 'clusters'),
  }
}
export type Knowledge = ReturnType<typeof knowledgeOf>

/** The nodes of a finding of the other run, grouped by their state in this run. */
export function statesIn(known: Knowledge, finding: ComparedFinding): Nodes {
  const { count, sample } = finding.nodes
  const nodes = Object.fromEntries(
    states.map(state => [state, { count: 0, names: [] as string[] }]),
  ) as Nodes
  for (const name of sample) {
    const state = nodes[stateOf(known, finding, name)]
    state.count++
    state.names.push(name)
  }
  if (count > sample.length) nodes[stateOfUnnamed(known, finding)].count += count - sample.length
  if (count === 0) nodes[stateOfCluster(known, finding)].count++
  return nodes
}

export const isPresent = ({ present }: Knowledge, cluster: string, node: string) =>
  present.has(keyOf(cluster, node))

/** Nodes may be missing, because the cluster's list or the file was cut off. */
export const isPartial = ({ isWhollyPartial, brokenLists }: Knowledge, cluster: string) =>
  isWhollyPartial || brokenLists.has(cluster)

export const nodeCount = ({ clusters }: Knowledge, cluster: string) =>
  clusters.get(cluster)?.coverage.nodes ?? 0

export const otherDrift = (
  known: Knowledge,
  { rule, cluster }: ComparedFinding,
  names: readonly string[],
) =>
  [
    ...new Set(names.flatMap(name => [...(known.driftByNode.get(keyOf(cluster, name)) ?? [])])),
  ].filter(other => other !== rule)

export const placesOf = ({ placesByRule }: Knowledge, finding: ComparedFinding) =>
  placesByRule.get(ruleKey(finding)) ?? 0

export const undecidedCount = ({ undecidedCounts }: Knowledge, finding: ComparedFinding) =>
  undecidedCounts.get(subjectKey(finding)) ?? 0

/** Sentences about the state of the nodes that replaced a finding's nodes. */
export function successors({ clusters, groups }: Knowledge, { cluster, subject }: ComparedFinding) {
  if (!clusters.has(cluster)) return [`the cluster ${cluster} is not there`]
  const count = groups.get(groupKey(cluster, subject))?.length ?? 0
  return count > 0
    ? [`its nodes were replaced: ${plural(count, 'other')} of ${subject.name} without it`]
    : []
}

/** Most nodes are repaired by replacement with new nodes of their group. */
export const isReplaced = (
  { cluster, subject }: ComparedFinding,
  then: Knowledge,
  { groups }: Knowledge,
) =>
  then.run.nodes !== null &&
  (groups.get(groupKey(cluster, subject)) ?? []).some(({ name }) => !isPresent(then, cluster, name))

/** Why a state is undecided, in sentences. */
export function doubtSentences(
  known: Knowledge,
  finding: ComparedFinding,
  { undecided, open }: Pick<Nodes, 'undecided' | 'open'>,
) {
  const { when } = known
  if (!known.rules.has(finding.rule)) return [`the rule did not run ${when}`]
  const why = reasonFor(known, finding, undecided.names[0])
  if (finding.nodes.count === 0 && undecided.count > 0)
    return [`not known ${when}: ${why ?? 'not checked'}`]
  const because = why === undefined ? '' : ` (${why})`
  return [
    ...(undecided.count > 0 ? [`not known ${when} of ${nodeNames(undecided)}${because}`] : []),
    ...(open.count > 0
      ? [`open ${when} on ${plural(open.count, 'node')}: not all of its nodes are named`]
      : []),
  ]
}

const reasonFor = (
  { reasons, unreadReasons }: Knowledge,
  finding: FindingOnSubject,
  node: string | undefined,
) =>
  reasons.get(subjectKey(finding)) ??
  reasons.get(subjectKey(wholeCluster(finding))) ??
  unreadReasons.get(keyOf(finding.cluster, null)) ??
  (node === undefined ? undefined : unreadReasons.get(keyOf(finding.cluster, node)))

/** Whether a rule threw in the cluster and the document does not name that rule. */
const isBroken = ({ run, clusters }: Knowledge, cluster: string) =>
  run.ruleErrors === null && (clusters.get(cluster)?.outcomes.error ?? 0) > 0

/** State of a node that no list names. @param isThere null: its existence is unknown */
function unlistedState(known: Knowledge, cluster: string, isThere: boolean | null): State {
  const isNamed = known.clusters.has(cluster) ? null : false
  const hasNodes = known.run.nodes !== null
  const isListed = hasNodes ? isThere : isNamed
  if (isListed) return 'passing'
  if (isPartial(known, cluster))
    return !hasNodes && nodeCount(known, cluster) > 0 ? 'open' : 'undecided'
  return isListed === null ? 'notFailing' : 'absent'
}

function stateOf(known: Knowledge, finding: FindingOnSubject, name: string): State {
  const { rule, cluster } = finding
  if (!known.rules.has(rule)) return 'undecided'
  if (known.failing.has(rule, cluster, name)) return 'failing'
  if (known.undecided.has(rule, cluster, name) || known.unread.has(keyOf(cluster, name)))
    return 'undecided'
  if (known.unnamed.has(subjectKey(finding)) || isBroken(known, cluster)) return 'open'
  return unlistedState(known, cluster, isPresent(known, cluster, name))
}

function stateOfUnnamed(known: Knowledge, finding: FindingOnSubject): State {
  const { rule, cluster, subject } = finding
  if (!known.rules.has(rule)) return 'undecided'
  if (known.touched.has(subjectKey(finding)) || isBroken(known, cluster)) return 'open'
  // The group has nodes; whether they are the same ones is unknown.
  return unlistedState(known, cluster, known.groups.has(groupKey(cluster, subject)) ? null : false)
}

/** State of a finding without nodes: on the cluster itself, or on objects in it. */
function stateOfCluster(known: Knowledge, finding: ComparedFinding): State {
  const { rule, cluster, places } = finding
  const [own, whole] = [subjectKey(finding), subjectKey(wholeCluster(finding))]
  if (!known.rules.has(rule) || known.reasons.has(own) || known.reasons.has(whole))
    return 'undecided'
  if (known.touched.has(own) || known.gathered.has(whole)) return 'failing'
  if (places !== undefined && known.placesByRule.has(ruleKey(finding))) return 'failing'
  if (isBroken(known, cluster)) return 'open'
  const result = known.clusters.get(cluster)
  // Cluster garbage was not read.
  if (result && !result.coverage.clusterGc) return 'undecided'
  if (isPartial(known, cluster)) return 'undecided'
  return result ? 'passing' : 'absent'
}

export const isDrift = ({ evidence }: ComparedFinding) =>
  evidence.some(({ kind }) => kind === 'layer')

export const isListBroken = ({ cause }: NotAudited) => cause === 'clusters' || cause === 'nodes'

const isPartMissing = (entry: NotAudited) => isListBroken(entry) || entry.cause === 'length'

const shownNames = 2

export function nodeNames({ count, names }: Nodes[State]) {
  const shown = names.slice(0, shownNames)
  if (shown.length === 0) return plural(count, 'node')
  return count > shown.length
    ? `${plural(count, 'node')}: ${shown.join(', ')}, …`
    : shown.join(', ')
}
