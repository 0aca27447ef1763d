/**
 * Foreign text for display: bounded in length, without invisible characters that could mislead a
 * reader.
 */
import { columnsOf, piecesOf } from '#base/text/text-width.ts'
import { englishCatalogue } from './languages/messages.ts'
import { formatCount } from './numbers.ts'

/**
 * Control and format characters (bidi overrides, zero-width spaces), line separators and lone
 * surrogates. The joiner in emoji is excluded.
 */
const invisible = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u200d]]/gv
const invisibleButLineBreaks = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u200d\n\t]]/gv
/** Invisible characters and whitespace. A run of them becomes one space, but a single no-break space stays. */
const foldable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gv

const codePointName = (character: string) =>
  `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`

/** Returns the mark of a cut text. `characters`: length of the text before the cut. */
export type CutMark = (characters: string) => string

/**
 * One line of at most `limit` characters, with a mark if it was cut. Right-to-left text does not
 * reorder its surroundings.
 */
export function shownLine(
  text: string,
  limit: number,
  mark: CutMark = englishCatalogue.cut,
): string {
  const line = cut(text, limit, mark)
    .replace(/[\r\n\t\u2028\u2029]+/g, ' ')
    .replace(invisible, codePointName)
  return rightToLeft.test(line) ? `\u2068${line}\u2069` : line
}

/** Lines in these scripts are isolated: FIRST STRONG ISOLATE and its end act like `bdi`. */
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** Bounds a text: `shownLine`, `shownBlock` or `foldedLine` with the mark of a language. */
export type Fold = (text: string, limit: number) => string

/**
 * One line of at most `limit` characters, for places where text must not grow: invisible characters
 * become spaces.
 */
export function foldedLine(
  text: string,
  limit: number,
  mark: CutMark = englishCatalogue.cut,
): string {
  return cut(text, limit, mark)
    .replace(foldable, run => (run === '\u00a0' ? run : ' '))
    .trim()
}

/** Lines with at most `limit` characters in total, and a mark if the text was cut. */
export function shownBlock(
  text: string,
  limit: number,
  mark: CutMark = englishCatalogue.cut,
): string {
  return cut(text, limit, mark)
    .replace(/\r\n?/g, '\n')
    .replace(invisibleButLineBreaks, codePointName)
}

/**
 * Breaks lines at spaces, and within text written without spaces. Continuation lines keep the
 * indent of their line; in list items (`- `, `[`) they are indented further. A word that is too
 * long stays whole, so that names can be copied. Several empty lines become one.
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

const longestWord = 20

function cut(text: string, limit: number, mark: CutMark) {
  if (text.length <= limit) return text
  // At a word, if one ends there. Never between the two halves of a surrogate pair.
  const space = text.lastIndexOf(' ', limit)
  const whole = /[\ud800-\udbff]/.test(text[limit - 1]!) ? limit - 1 : limit
  const end = space > Math.max(0, limit - longestWord) ? space : whole
  return `${text.slice(0, end)}${mark(formatCount(text.length))}`
}
