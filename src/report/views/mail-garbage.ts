/** Cluster garbage in a mail: a line for each cluster that has something to clean up, or of which not all was read. */
import type { AuditReport } from '#model/report.ts'
import { counted, formatCount } from '#report/numbers.ts'
import type { Fold } from '#report/text.ts'
import { costText, gapText, garbageName, sizeText } from './garbage-words.ts'
import { type JudgedGarbage, judgedGarbage } from './judged-garbage.ts'

const shown = { clusters: 3, kinds: 4, gaps: 1 }

export interface MailGarbageView {
  /** What all of it costs; null: not known. */
  cost: string | null
  clusters: { name: string; text: string; gaps: string[] }[]
  leftOut: string | null
}

/** Null where there is nothing to tell. */
export function mailGarbageView(report: AuditReport, fold: Fold): MailGarbageView | null {
  const told = judgedGarbage(report).filter(({ found, overview: { gaps } }) => found.length > 0 || gaps.length > 0)
  if (told.length === 0) return null
  const monthlyUsd = told.reduce((sum, each) => sum + each.monthlyUsd, 0)
  const rest = told.length - shown.clusters
  return {
    cost: monthlyUsd > 0 ? costText(monthlyUsd) : null,
    clusters: told.slice(0, shown.clusters).map(judged => clusterLine(judged, fold)),
    leftOut: rest > 0 ? `and ${counted(rest, 'more cluster')}, in the report.` : null,
  }
}

function clusterLine({ overview: { cluster, gaps }, found }: JudgedGarbage, fold: Fold): MailGarbageView['clusters'][number] {
  const kinds = found.slice(0, shown.kinds).map(({ row }) => {
    const size = sizeText(row)
    return `${garbageName(row.kind)}: ${formatCount(row.count)}${size === '' ? '' : ` (${size})`}`
  })
  const more = found.length - kinds.length
  const left = gaps.length - shown.gaps
  return {
    name: fold(cluster, 80),
    text: `${kinds.join('; ')}${more > 0 ? `; and ${counted(more, 'more kind')}` : ''}${kinds.length > 0 ? '.' : ''}`,
    gaps: [
      ...gaps.slice(0, shown.gaps).map(gap => `Not read: ${fold(gapText(gap), 300)}`),
      ...(left > 0 ? [`and ${counted(left, 'more list')} not read.`] : []),
    ],
  }
}
