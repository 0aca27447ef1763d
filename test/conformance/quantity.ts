import {
  asInt64,
  canonicalText,
  milliValue,
  parseQuantity,
  QuantityError,
  quantityValue,
  signOf,
} from '#base/go/quantity.ts'
import type { Family } from './family.ts'

export const quantity: Family<{ quantity: string }> = {
  name: 'quantity',
  answer({ quantity: text }) {
    try {
      const parsed = parseQuantity(text)
      return {
        ok: true,
        value: String(quantityValue(parsed)),
        milliValue: String(milliValue(parsed)),
        canonical: canonicalText(parsed),
        format: parsed.format,
        sign: signOf(parsed),
        asInt64: asInt64(parsed)?.toString() ?? null,
      }
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error
      return { ok: false, error: error.message }
    }
  },
}
