/** A time in UTC, with the data for the script that adds the reader's time zone. */
import type { Language } from '#report/languages/language.ts'

export interface Moment {
  text: string
  /** For the attribute datetime; null: invalid time. */
  iso: string | null
}

export function momentOf(time: string | null, { utc }: Language): Moment {
  const at = time === null ? Number.NaN : Date.parse(time)
  return { text: utc(time), iso: Number.isNaN(at) ? null : new Date(at).toISOString() }
}
