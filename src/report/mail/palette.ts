/**
 * Severity in a mail: a shape and a colour beside the word. Mail programs can drop style sheets, so
 * each mark has its colour inline.
 */
import type { Severity } from '#model/finding.ts'
import type { MarkKind } from '#report/parts/gauge.ts'
import type { SegmentKind } from '#report/parts/segment-kind.ts'

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

export const markTones: Record<MarkKind, string> = {
  'gc-stop': marks.low.tone,
  'gc-start': marks.low.tone,
  alert: marks.medium.tone,
  soft: marks.high.tone,
  hard: marks.critical.tone,
}
