/** The bar of the page's first picture as cells of a table: without an image, which many mail programs hide. */
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { type Alerts, actingMarks, nearestGauge } from '#report/parts/gauge.ts'
import { barView, hasEstimateOf, ledgerOf, segmentLegend } from '#report/parts/node.ts'
import { markTones, segmentTones } from './palette.ts'

/** Null: no node is near eviction, or its use is unknown. Numbers are whole percents, which Outlook needs. */
export function mailPicture(node: AuditedNode | undefined, alerts: Alerts, language: Language) {
  const gauge = node ? nearestGauge(node, alerts, language) : null
  if (!node || !gauge || gauge.usedPercent === null) return null
  const ledger = ledgerOf(node, gauge)
  const bar = barView(node, { ...gauge, marks: actingMarks(gauge) }, { id: '' }, language)
  const { title, summary, used, segments, marks } = bar
  const ends = segments.map(({ kind, x, width, isEstimate }) => ({
    kind,
    tone: segmentTones[kind],
    isEstimate,
    end: wholePercent(Number.parseFloat(x) + Number.parseFloat(width)),
  }))
  const use = { kind: 'unknown', tone: segmentTones.unknown, isEstimate: false }
  const free = { kind: 'track', tone: '#e4e8ec', isEstimate: false, end: 100 }
  const cells = widthsOf([...ends, { ...use, end: wholePercent(gauge.usedPercent) }, free])
  const shown = marks.map(({ kind, name, place, setting, x, isAbove }) => ({
    tone: markTones[kind],
    text: `${name}${setting === '' ? '' : ` (${setting})`} ${place}`,
    end: wholePercent(Number.parseFloat(x)),
    isAbove,
  }))
  // As on the page: a label ends at its mark, or, of a mark far left, starts there above the bar.
  const places = Map.groupBy(
    shown.filter(({ isAbove }) => !isAbove),
    ({ end }) => end,
  )
  const below = widthsOf(
    [...places.values()].map(marks => ({
      ...marks.at(-1)!,
      text: language.words.list(marks.map(({ text }) => text)),
    })),
  )
  return {
    text: language.words.list([title, used ?? '', summary]),
    cells,
    above: shown.filter(({ isAbove }) => isAbove),
    rows: below.map((mark, index) => ({
      ...mark,
      span: index + 1,
      width: index === 0 ? mark.width : mark.end,
      after: below.slice(index + 1),
      rest: 100 - (below.at(-1)?.end ?? 0),
    })),
    estimate: hasEstimateOf(segments)
      ? { tone: segmentTones.unknown, text: language.words.picture.estimate }
      : null,
    legend: ledger
      ? segmentLegend(ledger, language).map(({ kind, label, amount }) => ({
          kind,
          tone: segmentTones[kind],
          text: `${label} ${amount}`,
        }))
      : [],
  }
}

const wholePercent = (percent: number) => Math.round(Math.min(Math.max(percent, 0), 100))

/** Widths between the ends, without cells of no width. */
function widthsOf<T extends { end: number }>(parts: T[]) {
  let from = 0
  return parts.flatMap(part => {
    const width = part.end - from
    from = Math.max(from, part.end)
    return width > 0 ? [{ ...part, width }] : []
  })
}
