/** Which nodes evict first, in a line. */
import type { AuditReport } from '#model/report.ts'
import type { Fold } from '#report/text.ts'
import { outlookView } from './outlook.ts'

const shownNodes = 3

/** Null: of no node is it known. */
export function nextText(report: AuditReport, fold: Fold): string | null {
  const soon = outlookView(report)
    .rows.filter(({ isNow, eviction }) => isNow || eviction.text.startsWith('in '))
    .slice(0, shownNodes)
  if (soon.length === 0) return null
  const told = soon.map(({ name, where, eviction, isNow }) => `${fold(name, 80)} (${fold(where, 100)}) ${isNow ? 'now' : eviction.text}`)
  const isAssumed = soon.some(each => !each.isNow && each.isAssumed)
  return `Evict first: ${told.join('; ')}${isAssumed ? ', at assumed growth' : ''}.`
}
