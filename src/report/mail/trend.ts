/** The trend of a week in one sentence, because a mail has no charts. */
import { dayMs } from '#base/units.ts'
import { severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { fleetDays, type TrendDay, totalOf } from '#report/parts/trends.ts'
import type { Fold } from '#report/text.ts'

const weekDays = 7
const shownGrades = 3

/** Null: fewer than two days are recorded. */
export function mailTrend(
  { trends = [] }: Pick<AuditReport, 'trends'>,
  fold: Fold,
  language: Language,
): string | null {
  const { week: words } = language.words
  const days = fleetDays(trends)
  const now = days.at(-1)
  if (!now) return null
  const agoDays = ({ day }: { day: string }) => (Date.parse(now.day) - Date.parse(day)) / dayMs
  const first = days.find(day => agoDays(day) <= weekDays)
  if (!first || agoDays(first) < 2) return null
  const grades = trends.flatMap(({ cluster, points }) => {
    const [then, is] = [points.find(point => agoDays(point) <= weekDays), points.at(-1)]
    return then?.grade && is?.grade && then.grade !== is.grade
      ? [`${fold(cluster, 60)} ${then.grade} → ${is.grade}`]
      : []
  })
  const parts = [
    findingsText(first, now, language),
    changeText(words.near, first.near, now.near, language.count, language),
    changeText(words.used, first.usedMax, now.usedMax, language.percent, language),
    grades.length === 0
      ? ''
      : words.grades(grades.slice(0, shownGrades), Math.max(grades.length - shownGrades, 0)),
  ].filter(Boolean)
  return parts.length === 0 ? null : words.in(agoDays(first), parts)
}

function findingsText(
  { findings: before }: TrendDay,
  { findings: now }: TrendDay,
  language: Language,
) {
  const { week: words, severityNames } = language.words
  if (!before || !now) return ''
  const urgent = severities
    .slice(0, 2)
    .filter(severity => before[severity] !== now[severity])
    .map(severity =>
      changeText(
        change => words.severity(severityNames[severity], change),
        before[severity],
        now[severity],
        language.count,
        language,
      ),
    )
  return changeText(
    change => words.findings(change, urgent),
    totalOf(before),
    totalOf(now),
    language.count,
    language,
  )
}

function changeText(
  say: (change: string) => string,
  before: number | null,
  now: number | null,
  shown: (value: number) => string,
  { words: { week: words } }: Language,
) {
  if (before === null || now === null) return ''
  return say(before === now ? words.asBefore(shown(now)) : words.fromTo(shown(before), shown(now)))
}
