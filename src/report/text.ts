/** Text that came from outside, made fit to be shown: bounded in length, and with nothing invisible that could mislead a reader. */
import { columnsOf, piecesOf } from '#model/text-width.ts'
import { formatCount } from './numbers.ts'

/** Control and format characters (bidi overrides, zero-width blanks), line separators and lone surrogates; not the joiner that emoji are made with. */
const invisible = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u200d]]/gv
const invisibleButLineBreaks = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u200d\n\t]]/gv
/** Blanks, too: a run of them becomes one. */
const foldable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gv

const named = (character: string) =>
  `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`

/** Stands where a text was cut; `characters`: how many there are in all. */
export type CutMark = (characters: string) => string

export const englishCut: CutMark = characters => `… (cut: ${characters} characters in all)`

/** One line of at most `limit` characters, with a mark where it was cut. What is written from right to left turns nothing around beside it. */
export function shownLine(text: string, limit: number, mark = englishCut): string {
  const line = cut(text, limit, mark)
    .replace(/[\r\n\t\u2028\u2029]+/g, ' ')
    .replace(invisible, named)
  return rightToLeft.test(line) ? `\u2068${line}\u2069` : line
}

/** FIRST STRONG ISOLATE and its end do for a text what `bdi` does for an element. */
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** Bounds a text: `foldedLine` and its like, with all but the limit already chosen. */
export type Fold = (text: string, limit: number) => string

/** One line of at most `limit` characters, for where a text must not grow by being shown: what is invisible becomes a blank. */
export function foldedLine(text: string, limit: number, mark = englishCut): string {
  return cut(text, limit, mark).replace(foldable, ' ').trim()
}

/** Lines of at most `limit` characters together, with a mark where they were cut. */
export function shownBlock(text: string, limit: number, mark = englishCut): string {
  return cut(text, limit, mark).replace(/\r\n?/g, '\n').replace(invisibleButLineBreaks, named)
}

/**
 * Breaks lines at blanks (and within what is written without any), each continued as deep as it began; a list's item (`- `, `[`) deeper. A word that is too long for a line stays whole, so that
 * a name can be copied. Blank lines never follow each other.
 */
export function wrapText(text: string, columns: number): string {
  const lines = text.split('\n').flatMap(line => wrapLine(line.trimEnd(), columns))
  return `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|(?<!\n)\n+$/g, '')}\n`
}

function wrapLine(line: string, columns: number): string[] {
  const [indent = ''] = /^ */.exec(line) ?? []
  const text = line.slice(indent.length)
  const deeper = `${indent}${/^(?:- |\[)/.test(text) ? '  ' : ''}`
  const lines: string[] = []
  for (const piece of piecesOf(text)) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(`${indent}${piece}`)
    else if (columnsOf(last) + columnsOf(piece) <= columns)
      lines[lines.length - 1] = `${last}${piece}`
    else lines.push(`${deeper}${piece.trimStart()}`)
  }
  return lines.map(wrapped => wrapped.replaceAll('\u00a0', ' '))
}

function cut(text: string, limit: number, mark: CutMark): string {
  if (text.length <= limit) return text
  // Never between the two halves of a character.
  const end = /[\ud800-\udbff]/.test(text[limit - 1]!) ? limit - 1 : limit
  return `${text.slice(0, end)}${mark(formatCount(text.length))}`
}

/** By code units, as every sorted list of highwater is: the same on every machine. */
export const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
