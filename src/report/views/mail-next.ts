/** Which nodes evict first, a line each. */
import type { AuditReport } from '#model/report.ts'
import type { Fold } from '#report/text.ts'
import { outlookView } from './outlook.ts'

const shownNodes = 3

export interface MailNextView {
  title: string
  nodes: { name: string; where: string; when: string }[]
}

/** Null: of no node is it known. */
export function mailNextView(report: AuditReport, fold: Fold): MailNextView | null {
  const soon = outlookView(report)
    .rows.filter(({ isNow, eviction }) => isNow || eviction.text.startsWith('in '))
    .slice(0, shownNodes)
  if (soon.length === 0) return null
  const isAssumed = soon.some(each => !each.isNow && each.isAssumed)
  return {
    title: `Evict first${isAssumed ? ', at assumed growth' : ''}:`,
    nodes: soon.map(({ name, where, eviction, isNow }) => ({
      name: fold(name, 80),
      where: fold(where, 100),
      when: isNow ? 'now' : eviction.text,
    })),
  }
}
