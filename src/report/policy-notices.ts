/** Policy notices for the user: waivers that need attention, and findings without an owner. */
import type { WaiverNotice } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from './languages/language.ts'

const shownPlaces = 3

export function policyNotices(
  { document: { waiverNotices = [] }, ownerless = [] }: AuditReport,
  language: Language,
): string[] {
  const places = new Set(
    ownerless.map(({ cluster, subject }) => language.line(`${cluster}/${subject.name}`, 100)),
  )
  const shown = [...places].slice(0, shownPlaces)
  return [
    ...waiverNotices.map(notice => waiverNoticeText(notice, language)),
    ...(ownerless.length === 0
      ? []
      : [
          language.words.waived.ownerless(ownerless.length, [
            ...shown,
            ...(places.size > shown.length ? ['…'] : []),
          ]),
        ]),
  ]
}

function waiverNoticeText(notice: WaiverNotice, language: Language): string {
  const matched = Object.entries(notice.match).map(([key, pattern]) => `${key} ${pattern}`)
  return language.words.waived.notices[notice.state](
    language.line([notice.rule, ...matched].join(', '), 300),
    language.line(notice.until, 40),
  )
}
