/** Waivers: what the team has accepted, until a day. They hide nothing, and an expired one is shown on its finding. */
import type { Subject } from '#model/finding.ts'
import { matchesGlob } from '#model/glob.ts'
import type { Waiver } from '#model/policy.ts'

import { byText } from './text.ts'

interface Waived {
  rule: string
  cluster: string
  subject: Subject
}

/** The waiver that covers a finding: of several the one that holds longest; `expired` when `day` (YYYY-MM-DD, UTC) is after its last day. */
export function waiverOf({ rule, cluster, subject }: Waived, waivers: Waiver[], day: string): { waiver: Waiver; expired: boolean } | null {
  const waiver = waivers
    .filter(candidate => candidate.rule === rule && covers(candidate.match, cluster, subject))
    .toSorted((a, b) => byText(b.until, a.until) || byText(a.reason, b.reason))[0]
  return waiver ? { waiver, expired: waiver.until < day } : null
}

function covers(match: Waiver['match'], cluster: string, subject: Subject): boolean {
  const actual = { cluster, kind: subject.kind, namespace: subject.namespace ?? '', name: subject.name }
  return (Object.keys(actual) as (keyof typeof actual)[]).every(key => match[key] === undefined || matchesGlob(match[key], actual[key]))
}

/** The UTC day of an RFC 3339 time. @throws RangeError when it is no time. */
export const utcDay = (time: string): string => new Date(time).toISOString().slice(0, 10)
