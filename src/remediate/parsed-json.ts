import { inputLimits } from '#base/limits.ts'
import { jsonFlaw } from '#base/text/json-flaw.ts'

/** Undefined: the text is no JSON, is too deep, or has too many values. */
export function parsedJson(text: string): unknown {
  if (jsonFlaw(Buffer.from(text), inputLimits.storedJson) !== null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
