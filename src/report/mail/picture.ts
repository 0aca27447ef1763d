/** The bar of the page's first picture as cells of a table: without an image, which many mail programs hide. */

import type { Severity } from '#model/finding.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import {
  type Alerts,
  actingMarks,
  type MarkKind,
  nearestGauge,
  type SegmentKind,
} from '#report/parts/gauge.ts'
import { barView, hasEstimateOf, ledgerOf, segmentLegend } from '#report/parts/node.ts'

/*
 * Severity in a mail: a shape and a colour beside the word. Mail programs can drop style sheets, so
 * each mark has its colour inline.
 */

/** `none`: nothing found; `unread`: nothing could be read. */
type Tone = Severity | 'none' | 'unread'

/**
 * The tone is the colour of the light theme of report.css; email.css replaces it in dark mode where supported. The glyph is from the
 * Unicode block "Geometric Shapes": in every font, and never shown as an emoji.
 */
const marks: Record<Tone, { tone: string; glyph: string }> = {
  critical: { tone: '#a3122f', glyph: '\u25a0' },
  high: { tone: '#a8480a', glyph: '\u25b2' },
  medium: { tone: '#796000', glyph: '\u25c6' },
  low: { tone: '#2b5d8c', glyph: '\u25c7' },
  info: { tone: '#545f6c', glyph: '\u25cb' },
  none: { tone: '#26694a', glyph: '\u2713' },
  unread: { tone: '#545f6c', glyph: '\u25a1' },
}

export const severityMark = (severity: Tone) => ({ severity, ...marks[severity] })

/** Colours of the bar of a disk, as in the light theme of report.css. */
export const segmentTones: Record<SegmentKind, string> = {
  images: '#174f82',
  'unused-images': '#5b95c8',
  pods: '#0b6b53',
  logs: '#c4689f',
  host: '#4c5660',
  leftover: '#bd7600',
  other: '#7a63a8',
  unknown: '#8297ae',
}

const markTones: Record<MarkKind, string> = {
  'gc-stop': marks.low.tone,
  'gc-start': marks.low.tone,
  alert: marks.medium.tone,
  soft: marks.high.tone,
  hard: marks.critical.tone,
}

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
