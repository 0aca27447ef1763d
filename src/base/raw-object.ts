/** A JSON object from outside that no parser has checked yet. */
export type RawObject = Record<string, unknown>

export const isRawObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const withoutKeys = (object: RawObject, keys: readonly string[]): RawObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))

/** The value as an object. For a value that is no object: the empty object. */
export const mapOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})
