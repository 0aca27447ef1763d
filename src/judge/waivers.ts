/** Waivers: what the team has accepted, until a day. They hide nothing, and an expired one is shown on its finding. */

import { matchesCluster } from '#model/cluster-name.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { matchesGlob } from '#model/glob.ts'
import type { Waiver } from '#model/policy.ts'
import type { Subject } from '#model/subject.ts'
import { byText } from '#model/text-order.ts'

interface Waived {
  rule: string
  cluster: string
  subject: Subject
}

/** The waiver that covers a finding: of several the one that holds longest; `expired` when `day` (YYYY-MM-DD, UTC) is after its last day. */
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

function covers(match: Waiver['match'], cluster: string, subject: Subject): boolean {
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

/**
 * Those that cover nothing that was found. Where it is not known whether there is anything, as of nodes or clusters that were not read, none is called idle.
 * @param document of a whole fleet
 */
export function idleWaivers(
  waivers: readonly Waiver[],
  {
    clusters,
    findings,
    waived,
    unknowns,
    notAudited,
  }: Pick<FindingsDocument, 'clusters' | 'findings' | 'waived' | 'unknowns' | 'notAudited'>,
): Waiver[] {
  const found = [...findings, ...waived]
  // An unread node has an unknown outcome for each rule; an unlisted node has none.
  const isOpen = ({ rule, match }: Waiver) => {
    const isMeant = ({ cluster }: { cluster: string }) =>
      match.cluster === undefined || matchesCluster(match.cluster, cluster)
    const isBroken = clusters.some(
      ({ name, outcomes }) => outcomes.error > 0 && isMeant({ cluster: name }),
    )
    return (
      isBroken ||
      !clusters.some(({ name }) => isMeant({ cluster: name })) ||
      unknowns.some(unknown => unknown.rule === rule && isMeant(unknown)) ||
      notAudited.some(one => one.node === null && isMeant(one))
    )
  }
  return waivers.filter(
    waiver =>
      !found.some(
        one => one.rule === waiver.rule && covers(waiver.match, one.cluster, one.subject),
      ) && !isOpen(waiver),
  )
}

/** The UTC day of an RFC 3339 time. @throws RangeError when it is no time. */
export const utcDay = (time: string): string => new Date(time).toISOString().slice(0, 10)
