/** What one audit knows of a finding's nodes: where its rule fails, passes or could not be decided, which nodes are not there, and what is open. */

import { counted } from '#judge/text.ts'
import type { ComparedFinding, ComparedRun } from '#model/delta.ts'
import type { NotAudited } from '#model/finding.ts'
import type { Subject } from '#model/subject.ts'

/** `undecided`: not read, or its outcome is unknown; `notFailing`: passing or absent; `open`: failing or not, the document does not say. */
type State = 'failing' | 'passing' | 'absent' | 'notFailing' | 'undecided' | 'open'
export type Nodes = Record<State, { count: number; names: string[] }>

export interface Knowledge {
  /** The nodes of a finding of the other run, by their state in this run. */
  statesOf(finding: ComparedFinding): Nodes
  /** Why a state is undecided, in sentences. */
  doubts(finding: ComparedFinding, nodes: Pick<Nodes, 'undecided' | 'open'>): string[]
  /** The state of the nodes that replaced those of a finding. */
  successors(finding: ComparedFinding): string[]
  /** Other rules that report drift on some of these nodes. */
  otherDrift(finding: ComparedFinding, names: readonly string[]): string[]
  /** Number of places of the cluster where the rule fails, reported together or one by one. */
  places(finding: ComparedFinding): number
  undecidedCount(finding: ComparedFinding): number
  nodeCount(cluster: string): number
  isPresent(cluster: string, node: string): boolean
  /** Nodes of the cluster may be missing: its list, or the file, broke off. */
  isPartial(cluster: string): boolean
}

type OnSubject = Pick<ComparedFinding, 'rule' | 'cluster' | 'subject'>

export const keyOf = (...parts: (string | null)[]) => JSON.stringify(parts)
const subjectKey = ({ rule, cluster, subject }: OnSubject) =>
  keyOf(rule, cluster, subject.kind, subject.namespace, subject.name)
const wholeCluster = ({ rule, cluster }: OnSubject): OnSubject => ({
  rule,
  cluster,
  subject: { kind: 'Cluster', namespace: null, name: cluster },
})
const groupKey = (cluster: string, { kind, name }: Subject) => keyOf(cluster, kind, name)

/** Where rules name nodes: by rule and cluster, because a text for each node and rule of a large fleet would be much. */
function namesIn(found: (OnSubject & Pick<ComparedFinding, 'nodes'>)[]) {
  const names = new Map<string, Set<string>>()
  const add = (rule: string, cluster: string, nodes: readonly string[]) => {
    const key = keyOf(rule, cluster)
    const known = names.get(key)
    if (known === undefined) names.set(key, new Set(nodes))
    else for (const node of nodes) known.add(node)
  }
  for (const { rule, cluster, nodes } of found) add(rule, cluster, nodes.sample)
  return {
    add,
    has: (rule: string, cluster: string, node: string) =>
      names.get(keyOf(rule, cluster))?.has(node) ?? false,
  }
}

/** @param when how sentences name it */
export function knowledgeOf(
  { document, nodes, ruleErrors }: ComparedRun,
  when: 'before' | 'now',
): Knowledge {
  const { run, clusters, findings, waived, unknowns, notAudited } = document
  const rules = new Set(run.rules)
  const failing = namesIn([...findings, ...waived])
  const undecided = namesIn(unknowns)
  for (const { rule, cluster, node } of ruleErrors ?? []) undecided.add(rule, cluster, [node])
  const unread = new Set(
    nodes
      ?.filter(({ coverage }) => coverage === 'notRead')
      .map(({ cluster, name }) => keyOf(cluster, name)) ??
      notAudited.flatMap(({ cluster, node }) => (node === null ? [] : keyOf(cluster, node))),
  )
  const present = new Set(nodes?.map(({ cluster, name }) => keyOf(cluster, name)))
  const groups = new Map<string, number>()
  for (const { cluster, group } of nodes ?? [])
    groups.set(groupKey(cluster, group), (groups.get(groupKey(cluster, group)) ?? 0) + 1)
  const reasons = new Map(unknowns.map(unknown => [subjectKey(unknown), unknown.reason]))
  const touched = new Set([...findings, ...waived, ...unknowns].map(subjectKey))
  const gathered = new Set(
    [...findings, ...waived].filter(finding => finding.places !== undefined).map(subjectKey),
  )
  const failingRules = new Set(
    [...findings, ...waived].map(({ rule, cluster }) => keyOf(rule, cluster)),
  )
  const unnamed = new Set(
    [...findings, ...waived, ...unknowns]
      .filter(({ nodes: { count, sample } }) => count > sample.length)
      .map(subjectKey),
  )
  const listsBroken = new Set(notAudited.filter(isListBroken).map(({ cluster }) => cluster))
  const areClustersMissing = notAudited.some(({ cause }) => cause === 'clusters')
  const areLinesLost = (run.lostLines ?? 0) > 0
  const isPartial = (cluster: string) =>
    areLinesLost || areClustersMissing || listsBroken.has(cluster)
  const clusterNamed = new Map(clusters.map(cluster => [cluster.name, cluster]))
  const nodeCount = (cluster: string) => clusterNamed.get(cluster)?.coverage.nodes ?? 0
  /** A rule that threw there, and the document does not say which. */
  const isBroken = (cluster: string) =>
    ruleErrors === null && (clusterNamed.get(cluster)?.outcomes.error ?? 0) > 0

  const unlessNamed = (cluster: string) => (clusterNamed.has(cluster) ? null : false)

  /** State of a node that no list names. */
  function presence(cluster: string, isThere: () => boolean | null): State {
    const isListed = nodes === null ? unlessNamed(cluster) : isThere()
    if (isListed) return 'passing'
    if (isPartial(cluster)) return nodes === null && nodeCount(cluster) > 0 ? 'open' : 'undecided'
    return isListed === null ? 'notFailing' : 'absent'
  }

  function stateOf(finding: OnSubject, name: string): State {
    const { rule, cluster } = finding
    if (!rules.has(rule)) return 'undecided'
    if (failing.has(rule, cluster, name)) return 'failing'
    if (undecided.has(rule, cluster, name) || unread.has(keyOf(cluster, name))) return 'undecided'
    if (unnamed.has(subjectKey(finding)) || isBroken(cluster)) return 'open'
    return presence(cluster, () => present.has(keyOf(cluster, name)))
  }

  function stateOfUnnamed(finding: OnSubject): State {
    const { rule, cluster, subject } = finding
    if (!rules.has(rule)) return 'undecided'
    if (touched.has(subjectKey(finding)) || isBroken(cluster)) return 'open'
    // The group has nodes; whether they are the same ones is unknown.
    return presence(cluster, () => (groups.has(groupKey(cluster, subject)) ? null : false))
  }

  /** State of a finding without nodes: on the cluster itself, or on objects in it. */
  function stateOfCluster(finding: ComparedFinding): State {
    const { rule, cluster } = finding
    const whole = subjectKey(wholeCluster(finding))
    if (!rules.has(rule) || reasons.has(subjectKey(finding)) || reasons.has(whole))
      return 'undecided'
    if (touched.has(subjectKey(finding)) || gathered.has(whole)) return 'failing'
    if (finding.places !== undefined && failingRules.has(keyOf(rule, cluster))) return 'failing'
    if (isBroken(cluster)) return 'open'
    // Cluster garbage was not read.
    if (clusterNamed.has(cluster) && clusterNamed.get(cluster)?.coverage.clusterGc === undefined)
      return 'undecided'
    if (isPartial(cluster)) return 'undecided'
    return clusterNamed.has(cluster) ? 'passing' : 'absent'
  }

  const reasonFor = (finding: OnSubject, node: string | undefined) =>
    reasons.get(subjectKey(finding)) ??
    reasons.get(subjectKey(wholeCluster(finding))) ??
    notAudited.find(
      entry =>
        entry.cluster === finding.cluster &&
        (entry.node === null ? isListBroken(entry) : entry.node === node),
    )?.reason

  function statesOf(finding: ComparedFinding): Nodes {
    const { count, sample } = finding.nodes
    const states = noStates()
    for (const name of sample) {
      const state = states[stateOf(finding, name)]
      state.count++
      state.names.push(name)
    }
    if (count > sample.length) states[stateOfUnnamed(finding)].count += count - sample.length
    if (count === 0) states[stateOfCluster(finding)].count++
    return states
  }

  return {
    statesOf,
    isPresent: (cluster, node) => present.has(keyOf(cluster, node)),
    isPartial,
    nodeCount,
    otherDrift({ rule, cluster }, names) {
      const others = [...findings, ...waived].filter(
        other =>
          other.cluster === cluster &&
          other.rule !== rule &&
          isDrift(other) &&
          other.isCarried !== true,
      )
      return [
        ...new Set(
          others
            .filter(({ nodes: { sample } }) => sample.some(name => names.includes(name)))
            .map(other => other.rule),
        ),
      ]
    },
    places: ({ rule, cluster }) =>
      [...findings, ...waived]
        .filter(other => other.rule === rule && other.cluster === cluster)
        .reduce((sum, other) => sum + (other.places ?? 1), 0),
    undecidedCount: ({ rule, cluster, subject }) =>
      unknowns
        .filter(unknown => subjectKey(unknown) === subjectKey({ rule, cluster, subject }))
        .reduce((sum, unknown) => sum + unknown.nodes.count, 0),
    successors({ cluster, subject }) {
      if (!clusterNamed.has(cluster)) return [`the cluster ${cluster} is not there`]
      const count = groups.get(groupKey(cluster, subject)) ?? 0
      return count > 0
        ? [`its nodes were replaced: ${counted(count, 'other')} of ${subject.name} without it`]
        : []
    },
    doubts(finding, { undecided, open }) {
      if (!rules.has(finding.rule)) return [`the rule did not run ${when}`]
      const why = reasonFor(finding, undecided.names[0])
      if (finding.nodes.count === 0 && undecided.count > 0)
        return [`not known ${when}: ${why ?? 'not checked'}`]
      return [
        undecided.count > 0
          ? `not known ${when} of ${listed(undecided)}${why === undefined ? '' : ` (${why})`}`
          : '',
        open.count > 0
          ? `open ${when} on ${counted(open.count, 'node')}: not all of its nodes are named`
          : '',
      ].filter(text => text !== '')
    },
  }
}

/** The findings that name a layer. */
export const isDrift = ({ evidence }: Pick<ComparedFinding, 'evidence'>): boolean =>
  evidence.some(({ kind }) => kind === 'layer')

const noNodes = (): Nodes[State] => ({ count: 0, names: [] })
const noStates = (): Nodes => ({
  failing: noNodes(),
  passing: noNodes(),
  absent: noNodes(),
  notFailing: noNodes(),
  undecided: noNodes(),
  open: noNodes(),
})

/** Whether nodes of the cluster may be missing for it. */
export const isListBroken = ({ cause }: NotAudited): boolean =>
  cause === 'clusters' || cause === 'nodes'

const shownNames = 2

export function listed({ count, names }: Nodes[State]): string {
  const shown = names.slice(0, shownNames)
  if (shown.length === 0) return counted(count, 'node')
  return count > shown.length
    ? `${counted(count, 'node')}: ${shown.join(', ')}, …`
    : shown.join(', ')
}
