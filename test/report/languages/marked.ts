/** A language with each message of the catalogue in marks. Text outside of marks is data, or was written into a view or a template. */
import { type Language, languageOf } from '#report/languages/language.ts'
import { type Catalogue, englishCatalogue } from '#report/languages/messages.ts'

const [open, close] = ['\u27e6', '\u27e7']

/** These choose by what they get. */
const choosers = new Set(['origin'])

function markedFunction(say: (...values: unknown[]) => unknown, isChooser: boolean) {
  // What a message is given is no part of it, unless it is one itself.
  const given = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(given)
    return typeof value === 'string' && value !== '' ? `${close}${value}${open}` : value
  }
  return (...values: unknown[]) =>
    `${open}${say(...(isChooser ? values : values.map(given)))}${close}`
}

function mark(value: unknown, path: string[], isChooser: boolean): unknown {
  const key = path.at(-1) ?? ''
  if (typeof value === 'string') return value === '' ? '' : `${open}${value}${close}`
  if (typeof value === 'function') return markedFunction(value as () => unknown, isChooser)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      key === 'durations' || key === 'separators'
        ? item
        : mark(item, [...path, name], isChooser || choosers.has(key)),
    ]),
  )
}

export const marked: Language = {
  ...languageOf('ko', 'en', mark(englishCatalogue, [], false) as Catalogue, {}),
}

/** What stands outside of all marks, in pieces. @throws Error where a mark has no partner */
export function unmarked(text: string): string[] {
  const pieces: string[] = ['']
  let depth = 0
  for (const character of text) {
    if (character === open) depth++
    else if (character === close) depth--
    else if (depth <= 0) {
      pieces[pieces.length - 1] += character
      continue
    }
    if (pieces.at(-1) !== '') pieces.push('')
  }
  if (depth !== 0) throw new Error('a mark without a partner')
  return pieces.map(piece => piece.trim()).filter(Boolean)
}
