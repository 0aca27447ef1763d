/** A week in one sentence: a mail shows no lines. */
import { severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { formatCount, formatPercent } from '#report/numbers.ts'
import type { Fold } from '#report/text.ts'
import { severityWords } from './findings.ts'
import { fleetDays, type TrendDay, totalOf } from './trends.ts'

const weekDays = 7
const shownGrades = 3
const dayMs = 86_400_000

/** Null where less than two days are remembered: what changed since the run before is told anyway. */
export function mailTrend({ trends = [] }: Pick<AuditReport, 'trends'>, fold: Fold): string | null {
  const days = fleetDays(trends)
  const now = days.at(-1)
  if (now === undefined) return null
  const agoDays = ({ day }: { day: string }) => (Date.parse(now.day) - Date.parse(day)) / dayMs
  const first = days.find(day => agoDays(day) <= weekDays)
  if (first === undefined || agoDays(first) < 2) return null
  const grades = trends.flatMap(({ cluster, points }) => {
    const [then, is] = [points.find(point => agoDays(point) <= weekDays), points.at(-1)]
    return then?.grade && is?.grade && then.grade !== is.grade ? [`${fold(cluster, 60)} ${then.grade} → ${is.grade}`] : []
  })
  const parts = [
    findingsText(first, now),
    went('nodes near image GC', first.near, now.near, formatCount),
    went('fullest image disk', first.usedMax, now.usedMax, formatPercent),
    grades.length === 0
      ? ''
      : `grade ${grades.slice(0, shownGrades).join(', ')}${grades.length > shownGrades ? ` and ${formatCount(grades.length - shownGrades)} more` : ''}`,
  ].filter(Boolean)
  return parts.length === 0 ? null : `In ${formatCount(agoDays(first))} days: ${parts.join('; ')}.`
}

function findingsText({ findings: then }: TrendDay, { findings: is }: TrendDay): string {
  if (then === null || is === null) return ''
  const urgent = severities
    .slice(0, 2)
    .filter(severity => then[severity] !== is[severity])
    .map(severity => went(severityWords[severity].toLowerCase(), then[severity], is[severity], formatCount))
  return `${went('findings', totalOf(then), totalOf(is), formatCount)}${urgent.length === 0 ? '' : ` (${urgent.join(', ')})`}`
}

const went = (what: string, then: number | null, is: number | null, shown: (value: number) => string) =>
  then === null || is === null ? '' : then === is ? `${what} ${shown(is)} as before` : `${what} ${shown(then)} → ${shown(is)}`
