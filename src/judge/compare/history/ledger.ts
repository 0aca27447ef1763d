/** Compares the previous run with this one: how long each finding exists, what is new, worse, resolved or returned, and what to remember. */
import { compareRuns } from '#judge/compare/delta/delta.ts'
import {
  type Change,
  type ComparedRun,
  changesById,
  type Delta,
  type MetNode,
} from '#model/finding/delta.ts'
import type { Finding, FindingsDocument, NotAudited } from '#model/finding/finding.ts'
import type { Ending, PastFinding, RememberedFinding, RememberedRun } from '#model/history.ts'
import type { HiddenFinding, RunBefore } from '#model/report.ts'
import { absentClusters, firstMet, readingsOf, splitAbsent, withAbsent } from './absent.ts'
import { nodeKey } from './node-facts.ts'

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

type Changes = ReadonlyMap<string, { change: Change; why: string[] }>

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
  const changes: Changes = compared === null ? new Map() : changesById(compared)
  const all = [...now.document.findings, ...now.document.waived]
  const since = new Map(all.map(({ id }) => [id, before.get(id)?.since ?? day]))
  const unseen = [...before.values()].filter(({ id }) => !since.has(id))
  // Findings that could not be checked today stay as last seen until a run can check them.
  const carried = unseen.filter(({ id }) => isUnchecked(changes.get(id)?.change))
  const ended = endedOf(unseen, changes, newcomersOf(previous, now), day)
  const returned = all.flatMap(({ id }) => {
    const finding = before.has(id) ? undefined : past.get(id)
    return finding === undefined || !isRepair(finding.ended) ? [] : [finding]
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
    delta: deltaOf(changes, since, ended, returned),
    before: runBefore,
    run: withAbsent(run, split?.absent ?? null),
  }
}

const byId = <Item extends { id: string }>(items: readonly Item[]) =>
  new Map(items.map(item => [item.id, item]))

const isUnchecked = (change: Change | undefined) => change === undefined || change === 'cannotTell'

const isOpen = ({ waived }: RememberedFinding) => waived === null

function newcomersOf(previous: RememberedRun | null, now: RunToCompare) {
  const met = new Set(previous?.nodes.map(keyOfNode))
  return now.nodes.filter(node => !met.has(keyOfNode(node)))
}

const endedOf = (
  unseen: readonly RememberedFinding[],
  changes: Changes,
  newcomers: MetNode[],
  day: string,
): PastFinding[] =>
  unseen.flatMap((finding): PastFinding[] => {
    const change = changes.get(finding.id)?.change
    if (change === undefined || change === 'cannotTell') return []
    return [{ ...namesOf(finding), ended: endingOf(change, finding, newcomers), on: day }]
  })

function deltaOf(
  changes: Changes,
  since: ReadonlyMap<string, string>,
  ended: readonly PastFinding[],
  returned: readonly PastFinding[],
): Ledger['delta'] {
  const idsOf = (matches: (id: string, change: Change) => boolean) =>
    [...changes]
      .filter(([id, { change }]) => matches(id, change))
      .map(([id]) => id)
      .toSorted()
  return {
    new: idsOf((id, change) => change === 'new' && since.has(id)),
    resolved: ended
      .filter(({ ended: how }) => isRepair(how))
      .map(({ id }) => id)
      .toSorted(),
    worse: idsOf((_, change) => change === 'worse' || change === 'waiverExpired'),
    regressed: returned.map(({ id }) => id).toSorted(),
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
  const remembered = (finding: Finding) =>
    rememberedFinding(finding, since.get(finding.id) ?? day, day)
  return {
    schema: 'highwater.history/1',
    document: {
      run,
      clusters,
      unknowns,
      notAudited,
      findings: [...findings.map(remembered), ...carried.filter(isOpen).map(asCarried)],
      waived: [
        ...waived.map(remembered),
        ...carried.filter(finding => !isOpen(finding)).map(asCarried),
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
const keyOfNode = ({ cluster, name }: MetNode) => nodeKey(cluster, name)
const asCarried = (finding: RememberedFinding): RememberedFinding => ({
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

/** @param newcomers nodes that the previous run did not contain. Most nodes are repaired by replacement with new nodes. */
function endingOf(
  change: Change,
  { cluster, subject }: RememberedFinding,
  newcomers: MetNode[],
): Ending {
  if (change === 'fixed' || change === 'moved') return change
  const isReplaced = newcomers.some(
    node =>
      node.cluster === cluster &&
      node.group.kind === subject.kind &&
      node.group.name === subject.name,
  )
  return isReplaced ? 'replaced' : 'gone'
}

/** If a finding with such an ending appears again, it counts as returned. */
const isRepair = (how: Ending) => how === 'fixed' || how === 'replaced'
