/** The same state told by another rule, or by another subject: nothing has changed on the nodes. */

import { counted } from '#judge/text.ts'
import type { ComparedFinding } from '#model/delta.ts'
import { byText } from '#model/text-order.ts'
import { isDrift, type Knowledge, listed, type Nodes } from './run-knowledge.ts'

/** Where most nodes drift, or what was declared becomes known, another rule tells of the same nodes. Null: none does. */
export function retoldDrift(
  finding: ComparedFinding,
  ended: Nodes['passing'],
  then: Knowledge,
  today: Knowledge,
): string | null {
  if (!isDrift(finding)) return null
  const before = then.otherDrift(finding, ended.names)
  const rules = today.otherDrift(finding, ended.names).filter(rule => !before.includes(rule))
  if (rules.length === 0) return null
  return `no longer on ${listed(ended)}, where ${rules.toSorted(byText).join(', ')} ${rules.length === 1 ? 'tells' : 'tell'} of drift now`
}

/** The same the other way round: null where on one of its nodes no other rule, which is silent today, told of drift. */
export function toldBefore(
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
  if (rules.some(told => told.length === 0)) return null
  return `on ${listed({ count, names })}, where ${[...new Set(rules.flat())].toSorted(byText).join(', ')} told of drift before`
}

/** Where a rule's places become many or few, they are told otherwise. */
export function placesRetold(finding: ComparedFinding, then: Knowledge, today: Knowledge): string {
  return `in ${placesText(today.places(finding))}, before in ${then.places(finding)}: told together above a certain number, else each by itself`
}
export const placesText = (count: number): string => counted(count, 'place')
