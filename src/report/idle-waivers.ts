/** A sentence about a waiver that covers nothing. */
import type { IdleWaiver } from '#model/finding.ts'
import type { Language } from './languages/language.ts'

export function idleWaiverText({ rule, match, until }: IdleWaiver, language: Language): string {
  const matched = Object.entries(match).map(([key, pattern]) => `${key} ${pattern}`)
  return language.words.waived.idle(
    language.line([rule, ...matched].join(', '), 300),
    language.line(until, 40),
  )
}
