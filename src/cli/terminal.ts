/** What a terminal is written with: lines that fit, colours where there are any, and foreign text that cannot move it. */
import { styleText } from 'node:util'
import type { Severity } from '#model/finding.ts'
import { columnsOf, piecesOf } from '#model/text-width.ts'

export type Style = Parameters<typeof styleText>[0]
/** Styles a text; without colours, returns it unchanged. */
export type Paint = (style: Style, text: string) => string

export const severityStyles: Record<Severity, Style> = {
  critical: ['bold', 'red'],
  high: 'red',
  medium: 'yellow',
  low: 'cyan',
  info: 'dim',
}

export const painter =
  (hasColour: boolean): Paint =>
  (style, text) =>
    hasColour ? styleText(style, text, { validateStream: false }) : text

export interface Screen {
  hasColour: boolean
  /** How many columns a line may take. */
  columns: number
}

/** How a text paints, and how wide its lines are. @param widest longer lines are hard to read */
export const sheetOf = ({ hasColour, columns }: Screen, widest: number) => ({
  paint: painter(hasColour),
  width: Math.min(columns, widest),
})

/** The lines of the first items, then a line with the number of the others. */
export function firstLines<Item>(
  items: readonly Item[],
  most: number,
  linesOf: (item: Item) => string[],
  more: (count: number) => string,
): string[] {
  const lines = items.slice(0, most).flatMap(linesOf)
  return items.length > most ? [...lines, more(items.length - most)] : lines
}

/** What standard output shows: a file, or a reader at the other end of a pipe, has no colours and no width of its own. */
export const screenOf = ({ isTTY, columns, hasColors }: NodeJS.WriteStream): Screen =>
  // A terminal that does not know its width says 0.
  isTTY
    ? { hasColour: hasColors(), columns: columns > 0 ? Math.max(columns - 1, 40) : 80 }
    : { hasColour: false, columns: 80 }

/** Foreign text for a terminal: no control characters, so no escape sequence, and no longer than it deserves. */
export function clean(text: string, maxLength = 200): string {
  return cut(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), maxLength)
}

export const cut = (text: string, maxLength: number) =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text

/** At most so many columns of a terminal, in which Han, Kana and Hangul take two. */
export function cutToColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let shown = ''
  for (const character of text) {
    if (columnsOf(shown + character) >= columns) break
    shown += character
  }
  return `${shown}…`
}

/** Breaks a text at blanks, and within what is written without any; the first line begins with `first`, the others with `rest`. */
export function wrap(text: string, columns: number, first = '', rest = first): string[] {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const piece of piecesOf(text)) {
    if (!isEmpty && columnsOf(line) + columnsOf(piece) > columns) {
      lines.push(line)
      line = rest
      isEmpty = true
    }
    line += isEmpty ? piece.trimStart() : piece
    isEmpty = false
  }
  return [...lines, line]
}

/** The same, each line after the first two columns further in. */
export const indented = (text: string, columns: number, by = 2): string[] =>
  wrap(text, columns, ' '.repeat(by), ' '.repeat(by + 2))
