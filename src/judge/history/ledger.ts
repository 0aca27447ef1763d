/** From the run before to this one: since when each finding stands, what is new, worse, resolved or back again, and what of the past is to be kept. */
import { compareRuns } from '#judge/delta.ts'
import { type Change, type ComparedRun, changesById, type Delta, type MetNode } from '#model/delta.ts'
import type { FindingsDocument } from '#model/finding.ts'
import type { Ending, PastFinding, RememberedFinding, RememberedRun } from '#model/history.ts'
import type { RunBefore } from '#model/report.ts'

export interface RunToCompare {
  document: FindingsDocument
  /** Every one. */
  nodes: MetNode[]
  ruleErrors: NonNullable<ComparedRun['ruleErrors']>
}

export interface Ledger {
  /** By the id of each finding of this run, waived ones included. */
  since: Map<string, string>
  delta: Required<FindingsDocument['delta']>
  /** Null: there was none. */
  before: RunBefore | null
  /** What the next run is to know. */
  run: Omit<RememberedRun, 'runId'>
}

/**
 * @param previous null: there is none, and so nothing is new
 * @param day of this run, YYYY-MM-DD in UTC
 * @param forgetBefore findings that ended before that day are no longer kept
 */
export function nextLedger(previous: RememberedRun | null, now: RunToCompare, day: string, forgetBefore: string): Ledger {
  const before = new Map(previous ? [...previous.document.findings, ...previous.document.waived].map(finding => [finding.id, finding]) : [])
  const past = new Map(previous?.past.map(finding => [finding.id, finding]))
  const compared = previous && compareRuns(previous, now)
  const changes = compared === null ? new Map<string, { change: Change }>() : changesById(compared)
  const { findings, waived } = now.document
  const all = [...findings, ...waived]
  const since = new Map(all.map(({ id }) => [id, before.get(id)?.since ?? day]))
  const ids = new Set(since.keys())
  const idsOf = (matches: (id: string, change: Change) => boolean) =>
    [...changes]
      .filter(([id, { change }]) => matches(id, change))
      .map(([id]) => id)
      .toSorted()

  const unseen = [...before.values()].filter(({ id }) => !ids.has(id))
  // Nobody could look today: it stands as it was last seen, until somebody can.
  const carried = unseen.filter(({ id }) => changes.get(id)?.change === 'cannotTell' || !changes.has(id))
  const ended = unseen.flatMap((finding): PastFinding[] => {
    const change = changes.get(finding.id)?.change
    if (change === undefined || change === 'cannotTell') return []
    const { id, rule, cluster, subject, title, severity, lastSeen } = finding
    return [
      { id, rule, cluster, subject, title, severity, since: finding.since, lastSeen, ended: endingOf(change, finding, now.nodes), on: day },
    ]
  })
  const resolved = ended.filter(({ ended: how }) => how !== 'gone').map(({ id }) => id)
  const remembered = (finding: FindingsDocument['findings'][number]): RememberedFinding => {
    const { id, rule, severity, confidence, cluster, subject, nodes, title, evidence, waived: waiver } = finding
    // Of the evidence, the comparison reads these two.
    const told = evidence.filter(({ what }) => what === 'layer' || what === 'waiver')
    return {
      id,
      rule,
      severity,
      confidence,
      cluster,
      subject,
      nodes,
      title,
      evidence: told,
      waived: waiver,
      since: since.get(id) ?? day,
      lastSeen: day,
    }
  }
  const returned = all.flatMap(({ id }) => {
    const finding = before.has(id) ? undefined : past.get(id)
    return finding === undefined || finding.ended === 'gone' ? [] : [finding]
  })
  const isOpen = ({ waived: waiver }: RememberedFinding) => waiver === null
  return {
    since,
    delta: {
      new: idsOf((id, change) => change === 'new' && ids.has(id)),
      resolved: resolved.toSorted(),
      worse: idsOf((_, change) => change === 'worse' || change === 'waiverExpired'),
      regressed: returned.map(({ id }) => id).toSorted(),
    },
    before: previous &&
      compared && {
        takenAt: previous.document.run.takenAt,
        delta: compared,
        ended,
        returned: returned.map(({ id, since: firstDay, ended: how, on }) => ({ id, since: firstDay, ended: how, on })),
        unread: unreadSince(compared, previous),
      },
    run: {
      schema: 'highwater.history/1',
      document: {
        run: now.document.run,
        clusters: now.document.clusters,
        unknowns: now.document.unknowns,
        notAudited: now.document.notAudited,
        findings: [...findings.map(remembered), ...carried.filter(isOpen)],
        waived: [...waived.map(remembered), ...carried.filter(finding => !isOpen(finding))],
      },
      nodes: now.nodes,
      ruleErrors: now.ruleErrors,
      past: [...[...past.values()].filter(({ id, on }) => !ids.has(id) && on >= forgetBefore), ...ended],
    },
  }
}

function unreadSince({ nodes }: Delta, { document }: RememberedRun): RunBefore['unread'] {
  const clusters = new Set(document.notAudited.filter(({ node }) => node === null).map(({ cluster }) => cluster))
  return nodes.notReadNow
    .filter(({ cluster, node, coverage, before }) => (node === null ? !clusters.has(cluster) : coverage !== before && before !== 'notRead'))
    .map(({ cluster, node }) => ({ cluster, node }))
}

/** The way in which most nodes are mended: new ones come in their place. */
function endingOf(change: Change, { cluster, subject }: RememberedFinding, nodes: MetNode[]): Ending {
  if (change === 'fixed') return 'fixed'
  const isReplaced = nodes.some(node => node.cluster === cluster && node.group.kind === subject.kind && node.group.name === subject.name)
  return isReplaced ? 'replaced' : 'gone'
}
