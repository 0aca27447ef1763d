/** A time in UTC, with the data for the script that adds the reader's time zone. */
import type { Language } from '#report/languages/language.ts'

export function momentOf(time: string | null, { utc }: Language) {
  const at = time === null ? Number.NaN : Date.parse(time)
  return { text: utc(time), iso: Number.isNaN(at) ? null : new Date(at).toISOString() }
}
