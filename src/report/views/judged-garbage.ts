/**
 * Leftover objects of each cluster beside their findings. Clusters with the highest cost come
 * first; within a cluster, the worst rows come first.
 */

import { type Finding, severities } from '#model/finding.ts'
import type { GarbageOverview, GarbageRow } from '#model/garbage-overview.ts'
import type { AuditReport } from '#model/report.ts'
import { byText } from '#model/text-order.ts'
import { worstFirst } from './findings.ts'

export interface JudgedRow {
  row: GarbageRow
  /** Worst first. */
  findings: Finding[]
  title: string
}

export interface JudgedGarbage {
  overview: GarbageOverview
  /** Rows with a finding; worst first, then by cost. */
  found: JudgedRow[]
  /** Rows without an open finding, for example because all their findings are waived. */
  quiet: JudgedRow[]
  /** Known cost in USD per month of the rows with a finding. */
  monthlyUsd: number
}

export function judgedGarbage({
  document,
  garbage = [],
}: Pick<AuditReport, 'document' | 'garbage'>): JudgedGarbage[] {
  const [open, waived] = [byPlace(document.findings), byPlace(document.waived)]
  return garbage
    .map((overview): JudgedGarbage => {
      const rows = overview.rows.map(row => {
        const place = placeOf(overview.cluster, row.rule)
        const findings = (open.get(place) ?? []).toSorted(worstFirst)
        const [any] = [...findings, ...(waived.get(place) ?? [])]
        return { row, findings, title: any?.docs.title ?? row.rule }
      })
      const found = rows.filter(({ findings }) => findings.length > 0).toSorted(byWeight)
      const monthlyUsd = found.reduce((sum, { row }) => sum + (row.monthlyUsd ?? 0), 0)
      return {
        overview,
        found,
        quiet: rows.filter(({ findings }) => findings.length === 0),
        monthlyUsd,
      }
    })
    .toSorted(
      (a, b) =>
        b.monthlyUsd - a.monthlyUsd ||
        b.found.length - a.found.length ||
        byText(a.overview.cluster, b.overview.cluster),
    )
}

const placeOf = (cluster: string, rule: string) => JSON.stringify([cluster, rule])
const byPlace = (findings: Finding[]) =>
  Map.groupBy(findings, ({ cluster, rule }) => placeOf(cluster, rule))

const rankOf = ({ findings: [worst] }: JudgedRow) =>
  worst === undefined ? severities.length : severities.indexOf(worst.severity)
const byWeight = (a: JudgedRow, b: JudgedRow) =>
  rankOf(a) - rankOf(b) || (b.row.monthlyUsd ?? 0) - (a.row.monthlyUsd ?? 0)
