/** What changed between two audits (`highwater.diff/1`). */

import type {
  Confidence,
  Coverage,
  CoverageState,
  Finding,
  FindingsDocument,
  Grade,
  NodeSample,
  Severity,
} from './finding.ts'
import type { KubeletUpgrade } from './prediction.ts'
import type { Subject } from './subject.ts'

export interface ComparedFinding
  extends Pick<
    Finding,
    | 'id'
    | 'rule'
    | 'severity'
    | 'confidence'
    | 'cluster'
    | 'subject'
    | 'nodes'
    | 'places'
    | 'title'
    | 'evidence'
    | 'waived'
  > {
  /** The run could not check it. The state is that of an earlier run. */
  isCarried?: boolean
}

/** A node that an audit met, named as its findings name it. */
export interface MetNode {
  cluster: string
  name: string
  group: Subject
  coverage: CoverageState
  isFargate: boolean
  /** What could not be read, and why; empty: nothing was missed. */
  missed: string
}

/** One audit. A findings document does not have all of its parts. */
export interface ComparedRun {
  document: Pick<FindingsDocument, 'run' | 'clusters' | 'unknowns' | 'notAudited'> & {
    findings: ComparedFinding[]
    waived: ComparedFinding[]
  }
  /** Every node; null: only those that the document happens to name. */
  nodes: readonly MetNode[] | null
  /** Rules that threw, on which nodes; null: the document counts them, and no more. */
  ruleErrors: readonly { rule: string; cluster: string; node: string }[] | null
}

/** What became of a finding. Each is in one list. */
export const changes = [
  /** New since the last run, on nodes whose earlier state is known. */
  'new',
  /** More severe, more certain, or on more nodes. */
  'worse',
  /** Waived then, open now: the waiver has expired, or is no longer in the policy. */
  'waiverExpired',
  /** Not open before, but its nodes were not read then, or the rule did not run. */
  'newlySeen',
  /** What was not read, then or now, leaves open whether it is new, fixed or better. */
  'cannotTell',
  /** As bad as before, but on other nodes. */
  'moved',
  'better',
  'fixed',
  /** No longer there, and whether its nodes are is not known: a findings document does not name them. */
  'fixedOrGone',
  /** All of its nodes are gone. */
  'gone',
  /** Not waived then (or not there), waived now. */
  'waivedSince',
] as const
export type Change = (typeof changes)[number]

export interface FindingState {
  severity: Severity
  confidence: Confidence
  nodes: NodeSample
  waived: { until: string; reason: string } | null
}

export interface ChangedFinding {
  /** As in the findings: a stable hash of rule, cluster and subject. */
  id: string
  rule: string
  cluster: string
  subject: Subject
  title: string
  /** Null: it was (is) not there. */
  before: FindingState | null
  after: FindingState | null
  /** What changed and what is not known about it, for people: `high → critical`, `2 more nodes: a, b`. */
  why: string[]
}

export interface ClusterChange {
  name: string
  /** Null: the cluster is not in that audit. */
  before: { grade: Grade | null; coverage: Coverage } | null
  after: { grade: Grade | null; coverage: Coverage } | null
}

/** `node` null: the whole cluster. `before` null: the node was not there, or its coverage is not known. */
export interface NotReadNow {
  cluster: string
  node: string | null
  coverage: CoverageState
  before: CoverageState | null
  reason: string
}

export interface Delta {
  clusters: ClusterChange[]
  /** By what became of them; worst first. */
  findings: Record<Change, ChangedFinding[]>
  /** Those that no list holds. `inDoubt`: how many of them stand on nodes that were not read, then or now. */
  unchanged: { open: number; waived: number; inDoubt: number }
  nodes: {
    /** In OLD and not in NEW, and the other way round; null: one of the two does not name its nodes. */
    gone: { cluster: string; node: string }[] | null
    come: { cluster: string; node: string }[] | null
    notReadNow: NotReadNow[]
  }
  /** Comparisons that these two inputs do not allow, one sentence each. */
  notes: string[]
}

/** What a newer kubelet minor changes on nodes of one group that change alike. */
export interface FleetUpgrade extends KubeletUpgrade {
  cluster: string
  group: Subject
  /** Nodes of OLD. */
  nodes: NodeSample
}

/** One of the two inputs, as `highwater.diff/1` names it. */
export interface DiffInput {
  file: string
  /** A snapshot was judged by today's rules and policy, findings by those of their own audit. */
  kind: 'snapshot' | 'findings'
  takenAt: string
  /** Version of highwater that judged it. */
  version: string
  inputErrors: string[]
}

/**
 * What `highwater diff --format json` prints:
 *
 *     {"schema":"highwater.diff/1", "old":{"file","kind":"snapshot|findings","takenAt","version","inputErrors":[]}, "new":{…likewise…},
 *      "clusters":[{"name","before":{"grade","coverage"} or null,"after":…}],
 *      "findings":{"new":[],"worse":[],"waiverExpired":[],"newlySeen":[],"cannotTell":[],"moved":[],"better":[],"fixed":[],"fixedOrGone":[],"gone":[],"waivedSince":[]},
 *      "unchanged":{"open","waived","inDoubt"},
 *      "nodes":{"gone":[{"cluster","node"}] or null,"come":… or null,"notReadNow":[{"cluster","node","coverage","before","reason"}]},
 *      "notes":["…"],
 *      "kubeletUpgrades":[{"cluster","group","nodes":{"count","sample"},"from","to","errors","isFromFiles","changedSettings","changedGates","changedOrders"}] or null}
 *
 * Each finding is in one list of `findings`, or counted in `unchanged`; there it is
 * {"id","rule","cluster","subject","title","before":{"severity","confidence","nodes":{"count","sample"},"waived"} or null,"after":… or null,"why":["…"]}.
 * Samples hold up to 20 names. Lists are sorted: equal inputs give equal bytes.
 */
export interface DiffDocument extends Delta {
  schema: 'highwater.diff/1'
  old: DiffInput
  new: DiffInput
  /** Groups of nodes that have a newer kubelet minor in NEW. Null: one of the two is not a snapshot. */
  kubeletUpgrades: FleetUpgrade[] | null
}

/** What became of each finding that changed, by its id, and why, for people (`severity high → critical`). */
export function changesById({
  findings,
}: Pick<Delta, 'findings'>): Map<string, { change: Change; why: string[] }> {
  const lists = Object.entries(findings) as [Change, ChangedFinding[]][]
  return new Map(
    lists.flatMap(([change, list]) => list.map(({ id, why }) => [id, { change, why }])),
  )
}
