/** Waivers: findings that the team accepts until a day. Waived findings stay visible, and an expired waiver is shown on its finding. */

import { byText, matchesGlob } from '#base/text.ts'
import { weekMs } from '#base/units.ts'
import type { FindingsDocument, WaiverNotice } from '#model/finding.ts'
import { matchesCluster, type Subject } from '#model/input/record.ts'
import type { Waiver } from '#model/policy.ts'

interface Waived {
  rule: string
  cluster: string
  subject: Subject
}

/** The waiver that covers a finding. Of several, the one that lasts longest. `expired`: `day` (YYYY-MM-DD, UTC) is after its last day. */
export function waiverOf(
  { rule, cluster, subject }: Waived,
  waivers: Waiver[],
  day: string,
): { waiver: Waiver; expired: boolean } | null {
  const waiver = waivers
    .filter(candidate => candidate.rule === rule && covers(candidate.match, cluster, subject))
    .toSorted((a, b) => byText(b.until, a.until) || byText(a.reason, b.reason))[0]
  return waiver ? { waiver, expired: waiver.until < day } : null
}

function covers(match: Waiver['match'], cluster: string, subject: Subject) {
  // A waiver by namespace also covers findings on the namespace itself.
  const namespace = subject.kind === 'Namespace' ? subject.name : (subject.namespace ?? '')
  const actual = { cluster, kind: subject.kind, namespace, name: subject.name }
  const isCluster = (key: keyof typeof actual) =>
    key === 'cluster' || (key === 'name' && subject.kind === 'Cluster')
  return (Object.keys(actual) as (keyof typeof actual)[]).every(
    key =>
      match[key] === undefined ||
      (isCluster(key) ? matchesCluster : matchesGlob)(match[key], actual[key]),
  )
}

type Found = Pick<FindingsDocument, 'clusters' | 'findings' | 'waived' | 'unknowns' | 'notAudited'>

const endsSoonMs = weekMs

/**
 * Waivers that need care: they have expired, name no cluster of the fleet, cover no finding, or end within 7 days.
 * If the waived subject was not read, only "expired" and "ends soon" are possible.
 * @param document of a whole fleet. @param day of the run, YYYY-MM-DD in UTC
 */
export const waiverNotices = (
  waivers: readonly Waiver[],
  document: Found,
  day: string,
): WaiverNotice[] =>
  waivers.flatMap(waiver => {
    const state = stateOf(waiver, document, day)
    const { rule, match, until } = waiver
    return state === null ? [] : [{ rule, match, until, state }]
  })

function stateOf(waiver: Waiver, found: Found, day: string) {
  if (waiver.until < day) return 'expired'
  if (hasNoCluster(waiver, found)) return 'no-cluster'
  if (isIdle(waiver, found)) return 'idle'
  return Date.parse(waiver.until) - Date.parse(day) <= endsSoonMs ? 'ends-soon' : null
}

/** If a list of clusters could not be read, `notAudited` has an entry with `*`. */
const hasNoCluster = ({ match: { cluster: pattern } }: Waiver, { clusters, notAudited }: Found) =>
  pattern !== undefined &&
  !clusters.some(({ name }) => matchesCluster(pattern, name)) &&
  !notAudited.some(({ cluster }) => cluster.includes('*') || matchesCluster(pattern, cluster))

function isIdle({ rule, match }: Waiver, found: Found) {
  const { clusters, findings, waived, unknowns, notAudited } = found
  const isCovered = ({ cluster }: { cluster: string }) => matchesCluster(match.cluster, cluster)
  const covered = [...findings, ...waived].some(
    one => one.rule === rule && covers(match, one.cluster, one.subject),
  )
  // An unread node has an unknown outcome for each rule; an unlisted node has none.
  const isUnread =
    clusters.some(({ name, outcomes }) => outcomes.error > 0 && isCovered({ cluster: name })) ||
    !clusters.some(({ name }) => isCovered({ cluster: name })) ||
    unknowns.some(unknown => unknown.rule === rule && isCovered(unknown)) ||
    notAudited.some(one => one.node === null && isCovered(one))
  return !covered && !isUnread
}

/** The UTC day of an RFC 3339 time. @throws RangeError for an invalid time. */
export const utcDay = (time: string) => new Date(time).toISOString().slice(0, 10)
