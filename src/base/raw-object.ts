import { anyDepth, inputLimits, type JsonLimit } from './limits.ts'

/** A JSON object from outside that no parser has checked yet. */
export type RawObject = Record<string, unknown>

export const isRawObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const withoutKeys = (object: RawObject, keys: readonly string[]): RawObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))

/** The value as an object. For a value that is no object: the empty object. */
export const mapOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})

/** The value as a list. For a value that is no list: the empty list. */
export const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
/** Set in `{` and `}`, not in `[` and `]`, and the only difference between them. */
const braceBit = 0x20
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Why a JSON text is too deep or has too many values for parsing; null: the text is within the limits, though it might not be JSON.
 * The scan over the bytes builds no values. It counts them, because each value follows `[`, `{` or `,`.
 */
export function jsonFlaw(bytes: Uint8Array, { maxValues, maxDepth }: JsonLimit): string | null {
  if (maxDepth === anyDepth && bytes.length <= maxValues) return null
  let depth = 0
  let values = 1
  const { length } = bytes
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      for (at++; at < length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
    } else if (byte === comma || (byte | braceBit) === openBrace) {
      values++
      if (byte !== comma) depth++
      if (depth > maxDepth) return `it is nested deeper than ${maxDepth}`
      if (values > maxValues) return `it has more than ${maxValues} values`
    } else if ((byte | braceBit) === closeBrace) depth--
  }
  return null
}

/** The text of an object with some of its keys alone, without a check of the others. A text that does not end with its object stays as it is. */
export function jsonWithKeys(text: string, keys: ReadonlySet<string>) {
  const kept: string[] = []
  let depth = 0
  let start = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      for (at++; at < text.length && text.charCodeAt(at) !== quote; at++)
        if (text.charCodeAt(at) === backslash) at++
      continue
    }
    const isEnd = (code | braceBit) === closeBrace
    if (depth === 1 && (isEnd || code === comma)) {
      const [, key = ''] = keyForm.exec(text.slice(start, start + longestKey)) ?? []
      if (keys.has(key)) kept.push(text.slice(start, at))
      start = at + 1
    }
    if ((code | braceBit) === openBrace) depth++
    else if (isEnd) depth--
  }
  return depth === 0 && text.slice(start).trim() === '' ? `{${kept.join()}}` : text
}

const keyForm = /^\s*"(\w+)"\s*:/
const longestKey = 80

/** Undefined: the text is no JSON, is too deep, or has too many values. */
export function parsedJson(
  text: string | Buffer,
  limit: JsonLimit = inputLimits.storedJson,
): unknown {
  if (jsonFlaw(typeof text === 'string' ? Buffer.from(text) : text, limit) !== null)
    return undefined
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}
