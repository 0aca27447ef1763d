/**
 * Foreign text for display: bounded in length, without invisible characters that could mislead a
 * reader.
 */

import { once } from '#base/once.ts'
import { percentNumber } from '#base/percent.ts'
import { utcMinute, wrap } from '#base/text.ts'
import { englishCatalogue } from './languages/messages.ts'

/**
 * Control and format characters (bidi overrides, zero-width spaces), line separators, lone
 * surrogates, and letters and signs without a shape (fillers of Hangul, an empty Braille pattern). The joiner in emoji is excluded.
 */
const invisible = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]--[\u200d]]/gv
const invisibleButLineBreaks =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]--[\u200d\n\t]]/gv
/** Invisible characters and whitespace. A run of them becomes one space, but a single no-break space stays. */
const foldable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s\u115f\u1160\u2800\u3164\uffa0]+/gv

const codePointName = (character: string) =>
  `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`

/** Returns the mark of a cut text. `characters`: length of the text before the cut. */
export type CutMark = (characters: string) => string

/**
 * One line of at most `limit` characters, with a mark if it was cut; whole if the mark would be as long as the rest. Right-to-left text does not
 * reorder its surroundings.
 */
export function shownLine(text: string, limit: number, mark: CutMark = englishCatalogue.cut) {
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
export const foldedLine = (text: string, limit: number, mark: CutMark = englishCatalogue.cut) =>
  cut(text, limit, mark)
    .replace(foldable, run => (run === '\u00a0' ? run : ' '))
    .trim()

/** Lines with at most `limit` characters in total, and a mark if the text was cut. */
export const shownBlock = (text: string, limit: number, mark: CutMark = englishCatalogue.cut) =>
  cut(text, limit, mark).replace(/\r\n?/g, '\n').replace(invisibleButLineBreaks, codePointName)

/**
 * Breaks lines at spaces, and within text written without spaces. Continuation lines keep the
 * indent of their line; in list items (`- `, `[`) they are indented further. A word that is too
 * long stays whole, so that names can be copied. Several empty lines become one.
 */
export function wrapText(text: string, columns: number) {
  const lines = text.split('\n').flatMap(line => wrapLine(line.trimEnd(), columns))
  return `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|(?<!\n)\n+$/g, '')}\n`
}

function wrapLine(line: string, columns: number) {
  const [indent = ''] = /^ */.exec(line) ?? []
  const text = line.slice(indent.length)
  const deeper = `${indent}${/^(?:- |\[)/.test(text) ? '  ' : ''}`
  return wrap(text, columns, indent, deeper)
}

const longestWord = 20

function cut(text: string, limit: number, mark: CutMark) {
  if (text.length <= limit) return text
  const end = mark(formatCount(text.length))
  // The mark is no shorter than what it stands for.
  if (text.length <= limit + end.length) return text
  // At a word, if one ends there. Never between the two halves of a surrogate pair.
  const space = text.lastIndexOf(' ', limit)
  const whole = /[\ud800-\udbff]/.test(text[limit - 1]!) ? limit - 1 : limit
  const kept = text.slice(0, space > Math.max(0, limit - longestWord) ? space : whole)
  // Before a parenthesis that would stay open.
  const open = kept.lastIndexOf(' (')
  const isOpen = open > limit / 2 && open > kept.lastIndexOf(')')
  return `${isOpen ? kept.slice(0, open) : kept}${end}`
}

/*
 * Numbers and times for people, always with their unit. An unknown value reads `unknown`, never 0.
 * Digit groups are the same in every language.
 */

/** The words and separators of a language in its numbers. */
export interface NumberWords {
  unknown: string
  /** Text after the number, with its leading space if the language has one. */
  durations: Record<DurationUnit, string>
  /** Separator between the two units of a duration. */
  between: string
}

type DurationUnit = 'd' | 'h' | 'min' | 's' | 'ms'

/** A number and its unit stay on one line. */
const noBreak = '\u00a0'
/** Made at first use: the first formatters of a process take milliseconds of its start. */
const formatter = (options: Intl.NumberFormatOptions) =>
  once(() => new Intl.NumberFormat('en-US', options))
const counts = formatter({})
const oneDecimal = formatter({
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  useGrouping: false,
})
const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

const isNumber = (value: number | null | undefined): value is number => Number.isFinite(value)

export interface Numbers {
  /** Bytes in the largest binary unit that keeps the number under 1,024: `512 B`, `72.0 GiB`. */
  bytes(bytes: number | null): string
  count(count: number | null): string
  /** As `percentNumber` rounds it. */
  percent(percent: number | null): string
  /** A duration in its two largest units: `1 min 30 s`. */
  duration(durationMs: number | null): string
  /** An RFC 3339 time in UTC, to the minute: `2026-11-21 00:00 UTC`. */
  utc(time: string | null): string
}

export const numbersIn = ({ unknown, durations, between }: NumberWords): Numbers => ({
  bytes: bytes => (isNumber(bytes) ? bytesText(bytes) : unknown),
  count: count => (isNumber(count) ? counts().format(count) : unknown),
  percent: percent => (isNumber(percent) ? `${percentNumber(percent)}${noBreak}%` : unknown),
  duration: durationMs =>
    !isNumber(durationMs) || durationMs < 0
      ? unknown
      : durationText(durationMs, durations, between),
  utc: time => (time === null ? null : utcMinute(time)) ?? unknown,
})

export const {
  bytes: formatBytes,
  count: formatCount,
  percent: formatPercent,
  duration: formatDuration,
  utc: formatUtc,
} = numbersIn(englishCatalogue.numbers)

function bytesText(bytes: number) {
  let size = Math.abs(bytes)
  let unit = 0
  // 1,023.96 would round to 1024.0, so the next unit is used.
  while (unit < byteUnits.length - 1 && (unit === 0 ? size >= 1024 : size >= 1023.95)) {
    size /= 1024
    unit += 1
  }
  return `${bytes < 0 ? '-' : ''}${unit === 0 ? counts().format(size) : oneDecimal().format(size)}${noBreak}${byteUnits[unit]}`
}

/**
 * Lowest to highest, with a common unit written once: `10.0–40.0 GiB`. Equal texts are written
 * once.
 */
export function formatRange(low: number, high: number, format: (value: number) => string) {
  const [from, to] = [format(low), format(high)]
  if (from === to) return from
  const [number = from, unit] = from.split(noBreak)
  return `${unit !== undefined && unit === to.split(noBreak)[1] ? number : from}–${to}`
}

/** `1 node`, `412 nodes`. */
export const plural = (count: number, noun: string, many = `${noun}s`) =>
  `${formatCount(count)} ${count === 1 ? noun : many}`

const durationUnits: [DurationUnit, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
]

function durationText(durationMs: number, words: NumberWords['durations'], between: string) {
  if (durationMs < 1) return `0${words.s}`
  const first = durationUnits.findIndex(([, unitMs]) => durationMs >= unitMs)
  let restMs = Math.floor(durationMs)
  return durationUnits
    .slice(first, first + 2)
    .flatMap(([name, unitMs]) => {
      const whole = Math.floor(restMs / unitMs)
      restMs -= whole * unitMs
      return whole > 0 ? [`${whole}${words[name]}`] : []
    })
    .join(between)
}
