/** What changed between two audits (`highwater.diff/1`). */

import type { Subject } from '#model/input/record.ts'
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
import type { FleetUpgrade } from './upgrade.ts'

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
  /** The run could not check the finding. The state is that of an earlier run. */
  isCarried?: boolean
}

/** A node of an audit, with the names that its findings use. */
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
  /** All nodes. Null: only the nodes that the document names are known. */
  nodes: readonly MetNode[] | null
  /** Rules that threw an error, and on which node. Null: only the number in the document is known. */
  ruleErrors: readonly { rule: string; cluster: string; node: string }[] | null
}

/** Ways in which a finding changed. Each changed finding has one. */
export const changes = [
  /** New since the last run, on nodes whose earlier state is known. */
  'new',
  /** More severe, more certain, or on more nodes. */
  'worse',
  /** Waived before, open now: the waiver has expired or is no longer in the policy. */
  'waiverExpired',
  /** Not open before, but the earlier run did not read its nodes or did not run the rule. */
  'newlySeen',
  /** Unknown whether new, fixed or better, because one of the runs did not read enough. */
  'cannotTell',
  /** As bad as before, but on other nodes. */
  'moved',
  'better',
  'fixed',
  /** No longer present. Unknown whether its nodes still exist, because a findings document does not list all nodes. */
  'fixedOrGone',
  /** All of its nodes are gone, and new nodes of its group do not have it. */
  'replaced',
  /** All of its nodes are gone. */
  'gone',
  /** Waived now; not waived or not present before. */
  'waivedSince',
] as const
export type Change = (typeof changes)[number]

/** Changes by which a finding ends, if both audits list their nodes. */
export const endings = ['fixed', 'replaced', 'gone', 'moved'] as const satisfies Change[]
export type Ending = (typeof endings)[number]

export interface FindingState {
  severity: Severity
  confidence: Confidence
  nodes: NodeSample
  waived: { until: string; reason: string } | null
}

/** A changed finding, as `highwater.diff/1` lists it below its change. */
export interface ListedChange {
  /** As in the findings: a stable hash of rule, cluster and subject. */
  id: string
  rule: string
  cluster: string
  subject: Subject
  title: string
  /** Null, here and in `after`: the finding is not in that audit. */
  before: FindingState | null
  after: FindingState | null
  /** Changes and open questions, for people: `high → critical`, `2 more nodes: a, b`. */
  why: string[]
}

export interface ChangedFinding extends ListedChange {
  change: Change
}

export interface ClusterChange {
  name: string
  /** Null, here and in `after`: the cluster is not in that audit. */
  before: { grade: Grade | null; coverage: Coverage } | null
  after: { grade: Grade | null; coverage: Coverage } | null
}

/** `node` null: the whole cluster. `before` null: the node was not present, or its coverage is unknown. */
export interface NotReadNow {
  cluster: string
  node: string | null
  coverage: CoverageState
  before: CoverageState | null
  reason: string
}

export interface Delta {
  clusters: ClusterChange[]
  /** In the order of `changes`; findings with the same change: worst first. */
  findings: ChangedFinding[]
  /** Number of findings without a change. `inDoubt`: of these, findings on nodes that one of the runs did not read. */
  unchanged: { open: number; waived: number; inDoubt: number }
  nodes: {
    /** `gone`: nodes only in OLD; `come`: nodes only in NEW. Null: one of the inputs does not list its nodes. */
    gone: { cluster: string; node: string }[] | null
    come: { cluster: string; node: string }[] | null
    notReadNow: NotReadNow[]
  }
  notes: DeltaNote[]
}

/** A comparison that these two inputs do not allow, as one sentence. `cluster` null: of all clusters. */
export interface DeltaNote {
  cluster: string | null
  text: string
}

/** One of the two inputs, as `highwater.diff/1` names it. */
export interface DiffInput {
  file: string
  /** Snapshots are judged by the present rules and policy, findings by the rules and policy of their audit. */
  kind: 'snapshot' | 'findings'
  takenAt: string
  /** Version of highwater that judged the input. */
  version: string
  inputErrors: string[]
}

/**
 * What `highwater diff --format json` prints:
 *
 *     {"schema":"highwater.diff/1", "old":{"file","kind":"snapshot|findings","takenAt","version","inputErrors":[]}, "new":{…likewise…},
 *      "clusters":[{"name","before":{"grade","coverage"} or null,"after":…}],
 *      "findings":{"new":[],"worse":[],"waiverExpired":[],"newlySeen":[],"cannotTell":[],"moved":[],"better":[],"fixed":[],"fixedOrGone":[],"replaced":[],"gone":[],"waivedSince":[]},
 *      "unchanged":{"open","waived","inDoubt"},
 *      "nodes":{"gone":[{"cluster","node"}] or null,"come":… or null,"notReadNow":[{"cluster","node","coverage","before","reason"}]},
 *      "notes":["…"],
 *      "kubeletUpgrades":[{"cluster","group","nodes":{"count","sample"},"from","to","errors","basis","changedSettings","changedBehaviors","changedGates","changedOrders"}] or null}
 *
 * Each finding is in one list of `findings`, or counted in `unchanged`. An item of a list is
 * {"id","rule","cluster","subject","title","before":{"severity","confidence","nodes":{"count","sample"},"waived"} or null,"after":… or null,"why":["…"]}.
 * Samples hold up to 20 names. Lists are sorted: equal inputs give equal bytes.
 */
export interface DiffDocument extends Omit<Delta, 'findings' | 'notes'> {
  schema: 'highwater.diff/1'
  /** Findings by change, worst first. */
  findings: Record<Change, ListedChange[]>
  old: DiffInput
  new: DiffInput
  /** Comparisons that these two inputs do not allow, one sentence each. */
  notes: string[]
  /** Groups of nodes that have a newer kubelet minor in NEW. Null: one of the inputs is not a snapshot. */
  kubeletUpgrades: FleetUpgrade[] | null
}

/*
 * A finding that is new, worse or ended since the last run: the detail of an event on EventBridge. Invisible characters of forged names are shown
 * as `<U+202E>`.
 */

export interface FindingEvent
  extends Pick<Finding, 'rule' | 'severity' | 'cluster' | 'subject' | 'title'> {
  schema: 'highwater.event/1'
  /** `new`: also findings that had ended before. `worse`: more severe, more certain, on more nodes, or no longer waived. */
  change: Extract<Change, 'new' | 'worse'> | 'ended'
  /** Id of the finding: equal in all events of its life. */
  finding: string
  /** RFC 3339: when the nodes were read. */
  at: string
  /** Day of the first run with the finding, YYYY-MM-DD. */
  since: string | null
  /** How it ended. Null: it is open. */
  ended: Ending | null
  /** Null: it has ended. */
  nodes: NodeSample | null
  /** The first command of its steps. Null: it has ended, or no command ends it. */
  command: string | null
  /** Where the report is served. Null: no site serves it. */
  reportUrl: string | null
}
