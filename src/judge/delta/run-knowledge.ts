/** State of a finding's nodes in one audit: failing, passing, absent, undecided or open. */

import { counted } from '#judge/text.ts'
import type { ComparedFinding, ComparedRun } from '#model/delta.ts'
import type { ClusterResult, NotAudited } from '#model/finding.ts'
import type { Subject } from '#model/subject.ts'

/** `undecided`: the node was not read, or its outcome is unknown. `notFailing`: passing or absent. `open`: the document does not show which. */
type State = 'failing' | 'passing' | 'absent' | 'notFailing' | 'undecided' | 'open'
export type Nodes = Record<State, { count: number; names: string[] }>

export interface Knowledge {
  /** The nodes of a finding of the other run, grouped by their state in this run. */
  statesOf(finding: ComparedFinding): Nodes
  /** Why a state is undecided, in sentences. */
  doubts(finding: ComparedFinding, nodes: Pick<Nodes, 'undecided' | 'open'>): string[]
  /** Sentences about the state of the nodes that replaced a finding's nodes. */
  successors(finding: ComparedFinding): string[]
  otherDrift(finding: ComparedFinding, names: readonly string[]): string[]
  places(finding: ComparedFinding): number
  undecidedCount(finding: ComparedFinding): number
  nodeCount(cluster: string): number
  isPresent(cluster: string, node: string): boolean
  /** Nodes may be missing, because the cluster's list or the file was cut off. */
  isPartial(cluster: string): boolean
}

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

/** Node names by rule and cluster. One key per node and rule would take much memory in a large fleet. */
function namesIn(found: readonly (FindingOnSubject & Pick<ComparedFinding, 'nodes'>)[]) {
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

export const knowledgeOf = (run: ComparedRun, when: 'before' | 'now'): Knowledge =>
  new RunKnowledge(run, when)

class RunKnowledge implements Knowledge {
  readonly #run: ComparedRun
  readonly #when: 'before' | 'now'
  readonly #all: readonly ComparedFinding[]
  readonly #rules: ReadonlySet<string>
  readonly #failing: ReturnType<typeof namesIn>
  readonly #undecided: ReturnType<typeof namesIn>
  readonly #unread: ReadonlySet<string>
  readonly #present: ReadonlySet<string>
  readonly #groups = new Map<string, number>()
  readonly #reasons: ReadonlyMap<string, string>
  readonly #touched: ReadonlySet<string>
  /** Subjects whose nodes are not all listed. */
  readonly #unnamed: ReadonlySet<string>
  /** Subjects with a finding that covers many places. */
  readonly #gathered: ReadonlySet<string>
  readonly #failingRules: ReadonlySet<string>
  readonly #clusters: ReadonlyMap<string, ClusterResult>
  readonly #brokenLists: ReadonlySet<string>
  readonly #isWhollyPartial: boolean

  constructor(run: ComparedRun, when: 'before' | 'now') {
    const { document, nodes, ruleErrors } = run
    const { clusters, findings, waived, unknowns, notAudited } = document
    this.#run = run
    this.#when = when
    this.#all = [...findings, ...waived]
    this.#rules = new Set(document.run.rules)
    this.#failing = namesIn(this.#all)
    this.#undecided = namesIn(unknowns)
    for (const { rule, cluster, node } of ruleErrors ?? [])
      this.#undecided.add(rule, cluster, [node])
    this.#unread = new Set(
      nodes
        ?.filter(({ coverage }) => coverage === 'notRead')
        .map(({ cluster, name }) => keyOf(cluster, name)) ??
        notAudited.flatMap(({ cluster, node }) => (node === null ? [] : keyOf(cluster, node))),
    )
    this.#present = new Set(nodes?.map(({ cluster, name }) => keyOf(cluster, name)))
    for (const { cluster, group } of nodes ?? []) {
      const key = groupKey(cluster, group)
      this.#groups.set(key, (this.#groups.get(key) ?? 0) + 1)
    }
    this.#reasons = new Map(unknowns.map(unknown => [subjectKey(unknown), unknown.reason]))
    const seen = [...this.#all, ...unknowns]
    this.#touched = new Set(seen.map(subjectKey))
    this.#unnamed = new Set(
      seen.filter(({ nodes: { count, sample } }) => count > sample.length).map(subjectKey),
    )
    this.#gathered = new Set(this.#all.filter(({ places }) => places !== undefined).map(subjectKey))
    this.#failingRules = new Set(this.#all.map(({ rule, cluster }) => keyOf(rule, cluster)))
    this.#clusters = new Map(clusters.map(cluster => [cluster.name, cluster]))
    this.#brokenLists = new Set(notAudited.filter(isListBroken).map(({ cluster }) => cluster))
    this.#isWhollyPartial =
      (document.run.lostLines ?? 0) > 0 || notAudited.some(({ cause }) => cause === 'clusters')
  }

  statesOf(finding: ComparedFinding): Nodes {
    const { count, sample } = finding.nodes
    const states = noStates()
    for (const name of sample) {
      const state = states[this.#stateOf(finding, name)]
      state.count++
      state.names.push(name)
    }
    if (count > sample.length) states[this.#stateOfUnnamed(finding)].count += count - sample.length
    if (count === 0) states[this.#stateOfCluster(finding)].count++
    return states
  }

  isPresent(cluster: string, node: string): boolean {
    return this.#present.has(keyOf(cluster, node))
  }

  isPartial(cluster: string): boolean {
    return this.#isWhollyPartial || this.#brokenLists.has(cluster)
  }

  nodeCount(cluster: string): number {
    return this.#clusters.get(cluster)?.coverage.nodes ?? 0
  }

  otherDrift({ rule, cluster }: ComparedFinding, names: readonly string[]): string[] {
    const others = this.#all.filter(
      other =>
        other.cluster === cluster &&
        other.rule !== rule &&
        isDrift(other) &&
        other.isCarried !== true &&
        other.nodes.sample.some(name => names.includes(name)),
    )
    return [...new Set(others.map(other => other.rule))]
  }

  places({ rule, cluster }: ComparedFinding): number {
    return this.#all
      .filter(other => other.rule === rule && other.cluster === cluster)
      .reduce((sum, other) => sum + (other.places ?? 1), 0)
  }

  undecidedCount(finding: ComparedFinding): number {
    return this.#run.document.unknowns
      .filter(unknown => subjectKey(unknown) === subjectKey(finding))
      .reduce((sum, unknown) => sum + unknown.nodes.count, 0)
  }

  successors({ cluster, subject }: ComparedFinding): string[] {
    if (!this.#clusters.has(cluster)) return [`the cluster ${cluster} is not there`]
    const count = this.#groups.get(groupKey(cluster, subject)) ?? 0
    return count > 0
      ? [`its nodes were replaced: ${counted(count, 'other')} of ${subject.name} without it`]
      : []
  }

  doubts(finding: ComparedFinding, { undecided, open }: Pick<Nodes, 'undecided' | 'open'>) {
    const when = this.#when
    if (!this.#rules.has(finding.rule)) return [`the rule did not run ${when}`]
    const why = this.#reasonFor(finding, undecided.names[0])
    if (finding.nodes.count === 0 && undecided.count > 0)
      return [`not known ${when}: ${why ?? 'not checked'}`]
    const because = why === undefined ? '' : ` (${why})`
    return [
      ...(undecided.count > 0 ? [`not known ${when} of ${listed(undecided)}${because}`] : []),
      ...(open.count > 0
        ? [`open ${when} on ${counted(open.count, 'node')}: not all of its nodes are named`]
        : []),
    ]
  }

  #reasonFor(finding: FindingOnSubject, node: string | undefined): string | undefined {
    return (
      this.#reasons.get(subjectKey(finding)) ??
      this.#reasons.get(subjectKey(wholeCluster(finding))) ??
      this.#run.document.notAudited.find(
        entry =>
          entry.cluster === finding.cluster &&
          (entry.node === null ? isListBroken(entry) : entry.node === node),
      )?.reason
    )
  }

  /** Whether a rule threw in the cluster and the document does not name that rule. */
  #isBroken(cluster: string): boolean {
    return this.#run.ruleErrors === null && (this.#clusters.get(cluster)?.outcomes.error ?? 0) > 0
  }

  /** State of a node that no list names. @param isThere null: its existence is unknown */
  #presence(cluster: string, isThere: boolean | null): State {
    const isNamed = this.#clusters.has(cluster) ? null : false
    const isListed = this.#run.nodes === null ? isNamed : isThere
    if (isListed) return 'passing'
    if (this.isPartial(cluster))
      return this.#run.nodes === null && this.nodeCount(cluster) > 0 ? 'open' : 'undecided'
    return isListed === null ? 'notFailing' : 'absent'
  }

  #stateOf(finding: FindingOnSubject, name: string): State {
    const { rule, cluster } = finding
    if (!this.#rules.has(rule)) return 'undecided'
    if (this.#failing.has(rule, cluster, name)) return 'failing'
    if (this.#undecided.has(rule, cluster, name) || this.#unread.has(keyOf(cluster, name)))
      return 'undecided'
    if (this.#unnamed.has(subjectKey(finding)) || this.#isBroken(cluster)) return 'open'
    return this.#presence(cluster, this.isPresent(cluster, name))
  }

  #stateOfUnnamed(finding: FindingOnSubject): State {
    const { rule, cluster, subject } = finding
    if (!this.#rules.has(rule)) return 'undecided'
    if (this.#touched.has(subjectKey(finding)) || this.#isBroken(cluster)) return 'open'
    // The group has nodes; whether they are the same ones is unknown.
    return this.#presence(cluster, this.#groups.has(groupKey(cluster, subject)) ? null : false)
  }

  /** State of a finding without nodes: on the cluster itself, or on objects in it. */
  #stateOfCluster(finding: ComparedFinding): State {
    const { rule, cluster, places } = finding
    const [own, whole] = [subjectKey(finding), subjectKey(wholeCluster(finding))]
    if (!this.#rules.has(rule) || this.#reasons.has(own) || this.#reasons.has(whole))
      return 'undecided'
    if (this.#touched.has(own) || this.#gathered.has(whole)) return 'failing'
    if (places !== undefined && this.#failingRules.has(keyOf(rule, cluster))) return 'failing'
    if (this.#isBroken(cluster)) return 'open'
    const known = this.#clusters.get(cluster)
    // Cluster garbage was not read.
    if (known !== undefined && known.coverage.clusterGc === undefined) return 'undecided'
    if (this.isPartial(cluster)) return 'undecided'
    return known === undefined ? 'absent' : 'passing'
  }
}

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
