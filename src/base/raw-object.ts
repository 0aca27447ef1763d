import { anyDepth, inputLimits, type JsonLimit } from './limits.ts'

/** A JSON object from outside that no parser has checked yet. */
export type RawObject = Record<string, unknown>

export const isRawObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const withoutKeys = (object: RawObject, keys: readonly string[]): RawObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))

/** The value as an object. For a value that is no object: the empty object. */
export const mapOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})

/** A scalar as text, an object as JSON: an object of others can have a `toString` that is no function. */
export const textOfValue = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

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

/** An object with some of its keys alone, without a look at what stands behind the last of them. A text in which one is missing stays as it is. */
export function jsonWithKeys(bytes: Buffer, keys: ReadonlySet<string>) {
  const kept: string[] = []
  const missing = new Set(keys)
  let depth = 0
  let start = 1
  for (let at = 0; at < bytes.length && missing.size > 0; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
      continue
    }
    const isEnd = (byte | braceBit) === closeBrace
    if (depth === 1 && (isEnd || byte === comma)) {
      const [, key = ''] = keyForm.exec(bytes.toString('latin1', start, start + longestKey)) ?? []
      if (keys.has(key)) kept.push(bytes.toString('utf8', start, at))
      missing.delete(key)
      start = at + 1
    }
    if ((byte | braceBit) === openBrace) depth++
    else if (isEnd) depth--
  }
  return missing.size === 0 ? Buffer.from(`{${kept.join()}}`) : bytes
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
