/** Findings that another rule or subject reports now, although nothing changed on the nodes. */

import { counted } from '#judge/text.ts'
import type { ComparedFinding } from '#model/delta.ts'
import { byText } from '#model/text-order.ts'
import { isDrift, type Knowledge, listed, type Nodes } from './run-knowledge.ts'

/**
 * Another rule reports drift of the same nodes now, because most nodes drift or the declaration
 * became known. Null: no other rule reports drift of these nodes.
 */
export function movedAway(
  finding: ComparedFinding,
  ended: Nodes['passing'],
  then: Knowledge,
  today: Knowledge,
): string | null {
  if (!isDrift(finding)) return null
  const before = then.otherDrift(finding, ended.names)
  const rules = today.otherDrift(finding, ended.names).filter(rule => !before.includes(rule))
  if (rules.length === 0) return null
  return `no longer on ${listed(ended)}, where ${rules.toSorted(byText).join(', ')} ${rules.length === 1 ? 'reports' : 'report'} drift now`
}

/** Opposite of `movedAway`. Null unless another rule reported drift on each node before, not today. */
export function movedHere(
  finding: ComparedFinding,
  { count, names }: Nodes['passing'],
  then: Knowledge,
  today: Knowledge,
): string | null {
  if (!isDrift(finding) || names.length < count) return null
  const rulesOn = (name: string) => {
    const now = today.otherDrift(finding, [name])
    return then.otherDrift(finding, [name]).filter(rule => !now.includes(rule))
  }
  const rules = names.map(rulesOn)
  if (rules.some(({ length }) => length === 0)) return null
  return `on ${listed({ count, names })}, where ${[...new Set(rules.flat())].toSorted(byText).join(', ')} reported drift before`
}

/** A rule reports few places one by one, and many places together. */
export function placesMoved(finding: ComparedFinding, then: Knowledge, today: Knowledge): string {
  return `in ${placesText(today.places(finding))}, before in ${then.places(finding)}: many places are reported together, few one by one`
}
export const placesText = (count: number): string => counted(count, 'place')
