/** The first picture of the page: the node that is nearest to eviction, what holds its disk, and where something acts. */

import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { answersOf, type FoundCause } from '#report/parts/causes.ts'
import { groupName } from '#report/parts/consumers.ts'
import {
  type Alerts,
  actingMarks,
  describeGauge,
  type Mark,
  nearestGauge,
} from '#report/parts/gauge.ts'
import {
  barView,
  hasEstimateOf,
  ledgerOf,
  podOwners,
  segmentLegend,
  segmentsOf,
} from '#report/parts/node.ts'
import type { OutlookView } from '#report/parts/outlook.ts'
import { fillPlot } from './fill-plot.ts'

type FirstRow = OutlookView['rows'][number] & {
  anchor: string | null
  step: { anchor: string | null } | null
}

/** Null: no node is near eviction, or no disk of the nearest node was observed. */
export function pictureView(
  row: FirstRow | undefined,
  causes: readonly FoundCause[],
  alerts: Alerts,
  language: Language,
) {
  const gauge = row ? nearestGauge(row.node, alerts, language) : null
  if (!row || !gauge) return null
  const ledger = ledgerOf(row.node, gauge)
  const { picture: words, clauses } = language.words
  const marks = actingMarks(gauge)
  const owners = row.node.details().ledger?.owners ?? []
  const bar = barView(row.node, { ...gauge, marks }, { id: 'first', height: 56, owners }, language)
  const [most] = ledger ? podOwners(ledger, owners) : []
  const short = row.shortBytes > 0 ? language.bytes(row.shortBytes) : null
  return {
    name: row.name,
    anchor: row.anchor,
    state: row.state,
    isNow: row.isNow,
    about: clauses(
      [
        words.where(row.where),
        row.basis,
        // The legend of a disk has the amount where the bar has the part.
        short !== null && (!bar.over || !ledger) ? words.short(short) : '',
        isBeforeAlert(marks) ? words.beforeAlert(alerts.isAlertAssumed === true) : '',
      ].filter(Boolean),
    ),
    answers: answersOf(row, causes, language).map(({ isStep, ...answer }) => ({
      ...answer,
      anchor: isStep ? (row.step?.anchor ?? null) : null,
    })),
    bar: {
      ...bar,
      description: describeGauge(gauge, language),
      stateText: '',
      warnings: [],
      facts: [],
    },
    short,
    legend: ledger
      ? segmentLegend(ledger, language).map(entry => ({
          ...entry,
          most: entry.kind === 'pods' && most ? words.most(groupName(most, language)) : null,
        }))
      : [],
    hasEstimate: hasEstimateOf(bar.segments),
    plot: fillPlot(row.node, gauge, language),
  }
}

/** Hard eviction acts before the first alert fires. */
const isBeforeAlert = (marks: Mark[]) => {
  const [hard, alert] = (['hard', 'alert'] as const).map(kind =>
    Math.min(...marks.filter(mark => mark.kind === kind).map(({ percent }) => percent)),
  )
  return hard! < alert! && Number.isFinite(alert)
}

/** The bar of a row in "Next to break": without labels, because the columns beside it have the numbers. */
export function smallBar(node: AuditedNode, alerts: Alerts, language: Language) {
  const gauge = nearestGauge(node, alerts, language)
  if (!gauge || gauge.usedPercent === null) return null
  const ledger = ledgerOf(node, gauge)
  return {
    used: `${gauge.usedPercent.toFixed(2)}%`,
    state: gauge.state,
    segments: ledger ? segmentsOf(ledger, language) : [],
    marks: gauge.marks.map(({ kind, percent }) => ({
      kind,
      x: `${Math.min(Math.max(percent, 0), 100).toFixed(2)}%`,
    })),
  }
}
