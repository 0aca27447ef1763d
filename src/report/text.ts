/** Text that came from outside, made fit to be shown: bounded in length, and with nothing invisible that could mislead a reader. */
import { formatCount } from './numbers.ts'

/** Control and format characters (bidi overrides, zero-width blanks), line separators and lone surrogates; not the joiner that emoji are made with. */
const invisible = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u200d]]/gv
const invisibleButLineBreaks = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u200d\n\t]]/gv

const named = (character: string) => `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`

/** One line of at most `limit` characters, with a mark where it was cut. */
export function shownLine(text: string, limit: number): string {
  return cut(text, limit)
    .replace(/[\r\n\t\u2028\u2029]+/g, ' ')
    .replace(invisible, named)
}

/** Lines of at most `limit` characters together, with a mark where they were cut. */
export function shownBlock(text: string, limit: number): string {
  return cut(text, limit).replace(/\r\n?/g, '\n').replace(invisibleButLineBreaks, named)
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  // Never between the two halves of a character.
  const end = /[\ud800-\udbff]/.test(text[limit - 1]!) ? limit - 1 : limit
  return `${text.slice(0, end)}… (cut: ${formatCount(text.length)} characters in all)`
}

/** By code units, as every sorted list of highwater is: the same on every machine. */
export const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
