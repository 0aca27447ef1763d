/** A sentence about a waiver that needs care. */
import type { WaiverNotice } from '#model/finding.ts'
import type { Language } from './languages/language.ts'

export function waiverNoticeText(notice: WaiverNotice, language: Language): string {
  const matched = Object.entries(notice.match).map(([key, pattern]) => `${key} ${pattern}`)
  return language.words.waived.notices[notice.state](
    language.line([notice.rule, ...matched].join(', '), 300),
    language.line(notice.until, 40),
  )
}
