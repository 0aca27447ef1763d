/** The first picture of the page: the node that is nearest to eviction, what holds its disk, and where something acts. */
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { answersOf } from '#report/parts/answers.ts'
import type { FoundCause } from '#report/parts/causes.ts'
import {
  type Alerts,
  actingMarks,
  describeGauge,
  inOrder,
  type Mark,
  nearestGauge,
} from '#report/parts/gauge.ts'
import { barView, ledgerOf } from '#report/parts/node.ts'
import type { OutlookView } from '#report/parts/outlook.ts'
import { hasEstimateOf, segmentLegend, segmentsOf } from '#report/parts/segments.ts'
import { fillPlot } from './fill-plot.ts'

type FirstRow = OutlookView['rows'][number] & {
  anchor: string | null
  /** Day since which its cause is open. Null: unknown. */
  since: string | null
  step: { anchor: string | null } | null
}

/** Null: no node is near eviction, or no disk of the nearest node was observed. */
export function pictureView(
  row: FirstRow | undefined,
  causes: readonly FoundCause[],
  alerts: Alerts,
  language: Language,
) {
  const gauge = row === undefined ? null : nearestGauge(row.node, alerts, language)
  if (row === undefined || gauge === null) return null
  const ledger = ledgerOf(row.node, gauge)
  const { picture: words, clauses } = language.words
  const since =
    !row.isNow || row.since === null || row.node.pressures !== undefined
      ? ''
      : language.words.since(row.since)
  const short = row.shortBytes > 0 ? words.short(language.bytes(row.shortBytes)) : ''
  const marks = actingMarks(gauge, language)
  const later = laterMarks(marks, language)
  return {
    name: row.name,
    anchor: row.anchor,
    state: row.state,
    isNow: row.isNow,
    about: clauses(
      [words.where(row.where), later === '' ? row.note : '', short, later, since].filter(Boolean),
    ),
    basis: row.basis,
    answers: answersOf(row, causes, language).map(({ isStep, ...answer }) => ({
      ...answer,
      anchor: isStep ? (row.step?.anchor ?? null) : null,
    })),
    bar: {
      ...barView(row.node, { ...gauge, marks }, { id: 'first', height: 36 }, language),
      description: describeGauge(gauge, language),
      stateText: '',
      warnings: [],
      facts: [],
    },
    legend: ledger === null ? [] : segmentLegend(ledger, language),
    hasEstimate: ledger !== null && hasEstimateOf(segmentsOf(ledger, language)),
    plot: fillPlot(row.node, gauge, language),
  }
}

/** Where hard eviction acts, and what acts only later: image GC, else the alert. Empty: nothing. */
function laterMarks(marks: Mark[], { words, percent: shown }: Language): string {
  const ordered = inOrder(marks)
  const hard = ordered.find(({ kind }) => kind === 'hard')
  const later = ordered.filter(
    ({ kind, percent }) =>
      hard !== undefined && percent > hard.percent && (kind === 'gc-start' || kind === 'alert'),
  )
  return later.length === 0
    ? ''
    : words.picture.later(
        later.map(({ name, percent }) => `${name} ${shown(percent)}`),
        shown(hard!.percent),
      )
}

/** The bar of a row in "Next to break": without labels, because the columns beside it have the numbers. */
export function smallBar(node: AuditedNode, alerts: Alerts, language: Language) {
  const gauge = nearestGauge(node, alerts, language)
  if (gauge === null || gauge.usedPercent === null) return null
  const ledger = ledgerOf(node, gauge)
  return {
    used: `${gauge.usedPercent.toFixed(2)}%`,
    state: gauge.state,
    segments: ledger === null ? [] : segmentsOf(ledger, language),
    marks: gauge.marks.map(({ kind, percent }) => ({
      kind,
      x: `${Math.min(Math.max(percent, 0), 100).toFixed(2)}%`,
    })),
  }
}
