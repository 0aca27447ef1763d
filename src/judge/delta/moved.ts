/** Findings that another rule or subject reports now: nothing has changed on the nodes. */

import { counted } from '#judge/text.ts'
import type { ComparedFinding } from '#model/delta.ts'
import { byText } from '#model/text-order.ts'
import { isDrift, type Knowledge, listed, type Nodes } from './run-knowledge.ts'

/**
 * Another rule reports drift of the same nodes now, because most nodes drift or the declaration
 * became known. Null: no other rule does.
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

/** The reverse: null unless, on each node, another rule reported drift before and does not today. */
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

/** A rule reports each place by itself, or all places together if they are many. */
export function placesMoved(finding: ComparedFinding, then: Knowledge, today: Knowledge): string {
  return `in ${placesText(today.places(finding))}, before in ${then.places(finding)}: many places are reported together, few one by one`
}
export const placesText = (count: number): string => counted(count, 'place')
