/** Compares the previous run with this one: how long each finding exists, what is new, worse, resolved or returned, and what to remember. */
import { compareRuns } from '#judge/compare/delta/delta.ts'
import {
  type Change,
  type ChangedFinding,
  type ComparedRun,
  type Delta,
  type Ending,
  endings,
  type MetNode,
} from '#model/finding/delta.ts'
import type { Finding, FindingsDocument, NotAudited } from '#model/finding/finding.ts'
import {
  isRepaired,
  type PastFinding,
  type RememberedFinding,
  type RememberedRun,
} from '#model/history.ts'
import type { HiddenFinding, RunBefore } from '#model/report.ts'
import { absentClusters, firstMet, readingsOf, splitAbsent, withAbsent } from './absent.ts'

export interface RunToCompare {
  document: FindingsDocument
  nodes: MetNode[]
  ruleErrors: NonNullable<ComparedRun['ruleErrors']>
  /** The place that was enumerated to find the clusters; null: none. */
  scope: string | null
}

export interface Ledger {
  /** First day of each finding of this run, by finding id. Includes waived ones. */
  since: Map<string, string>
  delta: Required<FindingsDocument['delta']>
  before: RunBefore | null
  run: Omit<RememberedRun, 'runId'>
}

/**
 * @param last null: no earlier run exists, so no finding is new
 * @param day of this run, YYYY-MM-DD in UTC
 * @param forgetBefore findings that ended before that day are not kept
 */
export function nextLedger(
  last: RememberedRun | null,
  now: RunToCompare,
  day: string,
  forgetBefore: string,
): Ledger {
  const split = last && splitAbsent(last, now, now.scope, forgetBefore)
  const previous = split?.compared ?? null
  const before = byId(previous ? [...previous.document.findings, ...previous.document.waived] : [])
  const past = byId(previous?.past ?? [])
  const compared = previous && last && firstMet(compareRuns(previous, now), now, last, now.scope)
  const changes = byId(compared?.findings ?? [])
  const all = [...now.document.findings, ...now.document.waived]
  const since = new Map(all.map(({ id }) => [id, before.get(id)?.since ?? day]))
  const unseen = [...before.values()].filter(({ id }) => !since.has(id))
  // Findings that could not be checked today stay as last seen until a run can check them.
  const carried = unseen.filter(({ id }) => !isEnding(changes.get(id)?.change))
  const ended = unseen.flatMap((finding): PastFinding[] => {
    const how = changes.get(finding.id)?.change
    return isEnding(how) ? [{ ...namesOf(finding), ended: how, on: day }] : []
  })
  const returned = all.flatMap(({ id }) => {
    const finding = before.has(id) ? undefined : past.get(id)
    return finding === undefined || !isRepaired(finding) ? [] : [finding]
  })
  const kept = [...past.values()].filter(({ id, on }) => !since.has(id) && on >= forgetBefore)
  const runBefore = last &&
    previous &&
    compared && {
      takenAt: previous.document.run.takenAt,
      delta: compared,
      ended,
      readAgain: readAgainSince(previous, now.document),
      returned: returned.map(({ id, since, ended, on }) => ({ id, since, ended, on })),
      hidden: carried
        .filter(isOpen)
        .map(finding => hiddenFinding(finding, changes.get(finding.id)?.why ?? [])),
      absent: absentClusters(split?.absent ?? null, last, now.scope),
      unread: unreadSince(compared, previous),
    }
  const run = rememberedRun(now, { since, carried, past: [...kept, ...ended] }, day)
  return {
    since,
    delta: deltaOf([...changes.values()], since, ended, returned),
    before: runBefore,
    run: withAbsent(run, split?.absent ?? null),
  }
}

const byId = <Item extends { id: string }>(items: readonly Item[]) =>
  new Map(items.map(item => [item.id, item]))

const isEnding = (change: Change | undefined): change is Ending =>
  endings.some(ending => ending === change)

const isOpen = ({ waived }: RememberedFinding) => waived === null

function deltaOf(
  changed: readonly ChangedFinding[],
  since: ReadonlyMap<string, string>,
  ended: readonly PastFinding[],
  returned: readonly PastFinding[],
): Ledger['delta'] {
  const sortedIds = (found: readonly { id: string }[]) => found.map(({ id }) => id).toSorted()
  return {
    new: sortedIds(changed.filter(({ id, change }) => change === 'new' && since.has(id))),
    resolved: sortedIds(ended.filter(isRepaired)),
    worse: sortedIds(
      changed.filter(({ change }) => change === 'worse' || change === 'waiverExpired'),
    ),
    regressed: sortedIds(returned),
  }
}

interface KeptFinding {
  since: ReadonlyMap<string, string>
  carried: readonly RememberedFinding[]
  past: PastFinding[]
}

function rememberedRun(
  now: RunToCompare,
  { since, carried, past }: KeptFinding,
  day: string,
): Ledger['run'] {
  const { run, clusters, unknowns, notAudited, findings, waived } = now.document
  const rememberToday = (finding: Finding) =>
    rememberedFinding(finding, since.get(finding.id) ?? day, day)
  return {
    schema: 'highwater.history/1',
    document: {
      run,
      clusters,
      unknowns,
      notAudited,
      findings: [...findings.map(rememberToday), ...carried.filter(isOpen).map(carriedFinding)],
      waived: [
        ...waived.map(rememberToday),
        ...carried.filter(finding => !isOpen(finding)).map(carriedFinding),
      ],
    },
    nodes: now.nodes,
    ruleErrors: now.ruleErrors,
    past,
    readings: readingsOf(now, now.scope, day),
  }
}

function rememberedFinding(finding: Finding, since: string, lastSeen: string): RememberedFinding {
  const { id, rule, severity, confidence, cluster, subject, nodes, places, title, waived } = finding
  return {
    id,
    rule,
    severity,
    confidence,
    cluster,
    subject,
    nodes,
    ...(places !== undefined && { places }),
    title,
    // The comparison reads only these kinds of evidence.
    evidence: finding.evidence.filter(({ kind }) => kind === 'layer' || kind === 'waiver'),
    waived,
    since,
    lastSeen,
  }
}

function readAgainSince({ document }: RememberedRun, { notAudited }: FindingsDocument) {
  const unread = new Set(notAudited.map(keyOfUnread))
  return document.notAudited.filter(entry => !unread.has(keyOfUnread(entry)))
}

const keyOfUnread = ({ cluster, node }: NotAudited) => JSON.stringify([cluster, node])
const carriedFinding = (finding: RememberedFinding): RememberedFinding => ({
  ...finding,
  isCarried: true,
})

const hiddenFinding = (finding: RememberedFinding, why: string[]): HiddenFinding => ({
  ...namesOf(finding),
  nodes: finding.nodes,
  isNew: finding.isCarried !== true,
  why,
})

const namesOf = (finding: RememberedFinding): Omit<PastFinding, 'ended' | 'on'> => {
  const { id, rule, cluster, subject, title, severity, since, lastSeen } = finding
  return { id, rule, cluster, subject, title, severity, since, lastSeen }
}

function unreadSince({ nodes }: Delta, { document }: RememberedRun) {
  const broken = new Set(
    document.notAudited.filter(({ node }) => node === null).map(({ cluster }) => cluster),
  )
  const known = new Set(document.clusters.map(({ name }) => name))
  return nodes.notReadNow
    .filter(({ cluster, node, coverage, before }) =>
      node === null ? !broken.has(cluster) : coverage !== before && before !== 'notRead',
    )
    .map(({ cluster, node, before }) => ({
      cluster,
      node,
      hasCome: node === null ? !known.has(cluster) : before === null,
    }))
}
