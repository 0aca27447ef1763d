import type { JsonLimit } from './input-limits.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const openBrace = 0x7b
const closeBracket = 0x5d
const closeBrace = 0x7d

/**
 * Why a JSON text is too deep or has too many values for parsing; null: the text is within the limits, though it might not be JSON.
 * The scan over the bytes builds no values. It counts them, because each value follows `[`, `{` or `,`.
 */
export function jsonFlaw(bytes: Uint8Array, { maxValues, maxDepth }: JsonLimit): string | null {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
        break
      case openBracket:
      case openBrace:
        depth++
        values++
        if (depth > maxDepth) return `it is nested deeper than ${maxDepth}`
        if (values > maxValues) return `it has more than ${maxValues} values`
        break
      case closeBracket:
      case closeBrace:
        depth--
        break
      case comma:
        values++
        if (values > maxValues) return `it has more than ${maxValues} values`
    }
  }
  return null
}
