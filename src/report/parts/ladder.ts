/**
 * Placement of the labels of a bar's marks: no label touches another and no leader line crosses a
 * label, at every width.
 *
 * Horizontal places are percentages of the bar, so that one picture serves every screen. Each label
 * has its own row. Labels below the bar end at their mark, and rows go down from left to right. So
 * a leader passes each row right of that row's label. A mark too far left for such a label has a
 * label above the bar. These labels start at their mark, and rows go up from right to left.
 */

import { columnsOf } from '#base/text.ts'
import type { Language } from '#report/languages/language.ts'
import { inOrder, type Mark, type MarkKind } from './gauge.ts'

/**
 * Widths of a bar in CSS pixels from which a label shows more. The container queries of report.css
 * have the same numbers.
 */
export const barWidths = { phone: 330, page: 640, desk: 900 }
/** Mean character width of the 12 px system fonts, rounded up. */
export const characterWidth = 6.7
export const rowHeight = 17
const leaderGap = 6

export type BarWidth = keyof typeof barWidths
/** The width of the bar from which a part of a label is shown; null: never. */
type Reveal = 'page' | 'desk' | null

interface PlacedMark {
  kind: MarkKind
  /** SVG x of the mark and its leader, such as `84.00%`. */
  x: string
  place: string
  name: string
  setting: string
  amount: string
  settingFrom: Reveal
  amountFrom: Reveal
  isAbove: boolean
  /** SVG coordinates in pixels, from the top of the picture. */
  leaderTop: number
  leaderBottom: number
  labelY: number
}

export interface Ladder {
  marks: PlacedMark[]
  barTop: number
  barHeight: number
  height: number
}

type Label = Pick<
  PlacedMark,
  'name' | 'setting' | 'amount' | 'place' | 'settingFrom' | 'amountFrom'
>

/** The text of a label at one of the widths. */
export function labelText(label: Label, width: BarWidth) {
  const isShownAt = (from: Reveal) => from !== null && barWidths[from] <= barWidths[width]
  const setting = isShownAt(label.settingFrom) ? ` (${label.setting})` : ''
  return `${label.name}${setting} ${label.place}${isShownAt(label.amountFrom) ? `, ${label.amount}` : ''}`
}

/** @param space pixels between the upper labels and the bar */
export function layOutLadder(
  marks: Mark[],
  barHeight: number,
  space: number,
  language: Language,
): Ladder {
  const labels = joinedMarks(inOrder(marks), language).map(mark => label(mark, language))
  // Labels are sorted by place: those above the bar come first, and the leftmost has the top row.
  const above = labels.filter(({ isAbove }) => isAbove).length
  const below = labels.length - above
  const barTop = above * rowHeight + space
  const barBottom = barTop + barHeight
  const placed = labels.map((label, index): PlacedMark => {
    if (label.isAbove) {
      const labelY = index * rowHeight + 12
      return { ...label, labelY, leaderTop: labelY - 9, leaderBottom: barBottom }
    }
    const labelY = barBottom + (index - above) * rowHeight + 18
    return { ...label, labelY, leaderTop: barTop, leaderBottom: labelY + 2 }
  })
  return {
    marks: placed,
    barTop,
    barHeight,
    height: barBottom + (below > 0 ? below * rowHeight + 8 : 4),
  }
}

/** Least first: the line of the last kind is drawn. */
const weightOfKind: MarkKind[] = ['gc-stop', 'gc-start', 'alert', 'soft', 'hard']

/** Marks at one place share a label, if it fits on a phone. */
function joinedMarks(marks: Mark[], { words, percent }: Language): Mark[] {
  const joined: Mark[] = []
  for (const mark of marks) {
    const last = joined.at(-1)
    const distinctTexts = (a: string, b: string) => [...new Set([a, b])].filter(Boolean)
    const name = last ? distinctTexts(last.name, mark.name).join('/') : ''
    const place = Math.min(mark.percent, 100)
    const isOnePlace =
      last !== undefined &&
      last.percent.toFixed(2) === mark.percent.toFixed(2) &&
      columnsOf(`${name} ${percent(place)}`) * characterWidth <=
        (barWidths.phone * place) / 100 - leaderGap
    if (isOnePlace)
      joined[joined.length - 1] = {
        ...mark,
        kind: weightOfKind.findLast(kind => kind === last.kind || kind === mark.kind) ?? mark.kind,
        name,
        setting: words.list(distinctTexts(last.setting, mark.setting)),
      }
    else joined.push(mark)
  }
  return joined
}

function label(
  { kind, percent, name, setting, amount }: Mark,
  language: Language,
): Label & Pick<PlacedMark, 'kind' | 'x' | 'isAbove'> {
  const place = Math.min(Math.max(percent, 0), 100)
  const short: Label = {
    name,
    setting,
    amount: amount ?? '',
    place: language.percent(place),
    settingFrom: null,
    amountFrom: null,
  }
  const fits = (label: Label, width: BarWidth, isAbove: boolean) =>
    columnsOf(labelText(label, width)) * characterWidth <=
    (barWidths[width] * (isAbove ? 100 - place : place)) / 100 - leaderGap
  const isAbove = place < 50 && !fits(short, 'phone', false)
  const widths = setting === '' ? [] : (['page', 'desk'] as const)
  const settingFrom =
    widths.find(width => fits({ ...short, settingFrom: width }, width, isAbove)) ?? null
  const withSetting: Label = { ...short, settingFrom }
  const hasRoom = amount !== null && fits({ ...withSetting, amountFrom: 'desk' }, 'desk', isAbove)
  return {
    ...withSetting,
    amountFrom: hasRoom ? 'desk' : null,
    kind,
    x: `${place.toFixed(2)}%`,
    isAbove,
  }
}
