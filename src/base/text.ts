/** Texts: cut, listed, compared, measured in columns, and broken into lines. */

/** At most `limit` UTF-16 units, and never half of a surrogate pair. */
export const cut = (text: string, limit: number) =>
  text.length > limit ? `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…` : text

/** A part of a text: a line, several parts, or nothing if its condition does not hold. */
export type Lines = string | false | null | undefined | readonly Lines[]

/** The lines of all parts, in order. An empty line stays. */
export const linesOf = (...parts: readonly Lines[]): string[] =>
  parts.flatMap(part => (typeof part === 'string' ? part : linesOf(...(part || []))))

/** The lines of all parts as a text that ends with a newline. */
export const pageOf = (...parts: readonly Lines[]) => `${linesOf(...parts).join('\n')}\n`

/* The first texts of a list, and how many more there are. */

/** `a, b and 3 more`. @param count the number of all, if `names` has only the first of them */
export function firstNames(names: readonly string[], most: number, count = names.length) {
  const shown = names.slice(0, most)
  const more = count > shown.length ? ` and ${count - shown.length} more` : ''
  return `${shown.join(', ')}${more}`
}

/** `a`, `b`, `and 3 more` */
export const firstLines = (lines: readonly string[], most: number, more = 'more') => [
  ...lines.slice(0, most),
  ...(lines.length > most ? [`and ${lines.length - most} ${more}`] : []),
]

/** `a; b; and 3 more` */
export const firstReasons = (reasons: readonly string[], most: number) =>
  firstLines(reasons, most).join('; ')

/** Whether a report may show the path: the author of a pod or volume chooses it, and could write a sentence into it. */
export const isPlainPath = (path: string) =>
  /^\/[\w./@:+~-]{0,99}$/.test(path) && !/\/(?:\/|\.\.(?:\/|$))/.test(path)

export const withoutEndSlashes = (path: string) => path.replace(/(?<!\/)\/+$/, '')

/** A DNS subdomain, as the names of most Kubernetes objects are. */
export const isDnsName = (name: string) =>
  name.length <= 253 &&
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name)

/** Whether a name matches a pattern. `*` matches any characters; all others are literal. */
export function matchesGlob(pattern: string, name: string) {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return name === head
  if (!name.startsWith(head) || name.length < head.length + tail.length || !name.endsWith(tail))
    return false
  let from = head.length
  for (const part of rest) {
    const at = name.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return from <= name.length - tail.length
}

const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** For sentences: `16.0 GiB`, `512 bytes`. */
export function bytesText(count: number) {
  let scaled = Math.abs(count)
  let unit = -1
  // From 1023.95 on, rounding would show 1024.0 of the smaller unit.
  while (scaled >= (unit < 0 ? 1024 : 1023.95) && unit < units.length - 1) {
    scaled /= 1024
    unit++
  }
  return unit < 0 ? `${count} bytes` : `${count < 0 ? '-' : ''}${scaled.toFixed(1)} ${units[unit]}`
}

/** Order by the first key that differs: numbers upward, false before true, texts by `byText`. No key may be NaN. */
export const by =
  <Item>(...keys: ((item: Item) => number | string | boolean)[]) =>
  (a: Item, b: Item) => {
    for (const keyOf of keys) {
      const one = keyOf(a)
      const other = keyOf(b)
      if (one !== other) return one < other ? -1 : 1
    }
    return 0
  }

/** Order by UTF-16 units, independent of the locale. For ASCII it is also the order of bytes, in which Go compares. */
export const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** A time as people read it in texts and reports, to the minute: `2026-11-21 05:00 UTC`. Null: the text is no time. */
export function utcMinute(time: string | number): string | null {
  const at = new Date(time)
  return Number.isNaN(at.getTime())
    ? null
    : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** An argument of a shell command, quoted if needed. */
export const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** The text without IPv4 addresses. Without them, "connection refused" is one reason on all nodes. */
export const withoutAddresses = (text: string) => text.replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, '*')

/** Key of a node in a map over clusters. */
export const nodeKey = (cluster: string, node: string | null) => JSON.stringify([cluster, node])

/* Known names that are similar to a misspelt one. */

const mostNames = 3
/** A name that shares less than this with the written name is not similar. */
const leastShared = 0.5

/** Names within this distance of the best match are listed with it. */
const muchAlike = 0.1

/** The most similar names, best first. Part of a name counts as similar, like a typing error. */
export function nearest(written: string, names: readonly string[]) {
  const sought = written.toLowerCase().slice(0, 80)
  const scored = names.map(name => ({ name, shared: sharedPart(sought, name) }))
  const best = Math.max(leastShared, ...scored.map(({ shared }) => shared - muchAlike))
  return scored
    .filter(({ shared }) => shared >= best)
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, mostNames)
    .map(({ name }) => name)
}

function sharedPart(written: string, name: string) {
  if (written.length > 3 && name.includes(written)) return 0.9
  return 1 - editDistance(written, name) / Math.max(written.length, name.length)
}

/** Levenshtein: how many characters to insert, delete or replace. */
function editDistance(from: string, to: string) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, character] of [...from].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...to].entries())
      next.push(
        Math.min(
          row[index + 1]! + 1,
          next[index]! + 1,
          row[index]! + (character === other ? 0 : 1),
        ),
      )
    row = next
  }
  return row.at(-1)!
}

/** The question begins with a blank; empty: no name is similar. */
export function didYouMean(written: string, names: readonly string[]) {
  const near = nearest(written, names)
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
}

/* Width of a text in columns of a fixed-width font, and the places where a line can break. */

/** Characters twice as wide as a Latin letter: Han, Kana, Hangul and their punctuation. Source: Unicode Standard Annex 11, East Asian Width W and F. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g
/** Characters written without blanks between words: Han, Kana and their punctuation. */
const eastern = /[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]/
/** `opening` stays with the next character, `closing` with the previous one. Source: Unicode Standard Annex 14, classes OP, CL, EX, NS and CJ. */
const opening = /[「『（［【(["“‘]/
const closing = /[、。，．：；！？」』）］】)\]"”’ー・…%ぁぃぅぇぉっゃゅょァィゥェォッャュョ]/

/** Width in columns; a Latin letter has one column. */
export const columnsOf = (text: string) => text.length + (text.match(wide)?.length ?? 0)

export const padTo = (text: string, columns: number) =>
  `${text}${' '.repeat(Math.max(columns - columnsOf(text), 0))}`

/** Parts of a text that no line break may split, each with its leading blanks. */
const piecesOf = (text: string) =>
  text.split(/(?<! )(?= )/).flatMap(word => (eastern.test(word) ? partsOf([...word]) : [word]))

function partsOf(characters: string[]) {
  const parts: string[] = []
  for (const [index, character] of characters.entries()) {
    const before = characters[index - 1]
    if (before !== undefined && !isSeam(before, character)) parts[parts.length - 1] += character
    else parts.push(character)
  }
  return parts
}

const isSeam = (before: string, after: string) =>
  (eastern.test(before) || eastern.test(after)) &&
  !/\s/.test(before) &&
  !opening.test(before) &&
  !closing.test(after)

/**
 * Breaks a text at blanks, and a longer word anywhere. The first line begins with `first`, the other
 * lines with `rest`. A number and its unit, which a no-break space joins, stay on one line.
 */
export function wrap(text: string, columns: number, first = '', rest = first) {
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
  return [...lines, line].map(wrapped => wrapped.replaceAll('\u00a0', ' '))
}
