/** How often logrotate runs, from a systemd timer, a cron line or a cron folder. */
import { dayMs, hourMs, minuteMs, weekMs } from '#base/units.ts'
import { shorten } from '#judge/text.ts'
import type { Host } from '#model/input/inspection.ts'

export type LogrotateRuns = NonNullable<ReturnType<typeof logrotateRunsOf>>

const monthMs = 30 * dayMs
const yearMs = 365 * dayMs

const named: Readonly<Record<string, number>> = {
  minutely: minuteMs,
  hourly: hourMs,
  daily: dayMs,
  midnight: dayMs,
  weekly: weekMs,
  monthly: monthMs,
  quarterly: yearMs / 4,
  semiannually: yearMs / 2,
  yearly: yearMs,
  annually: yearMs,
}

/** Null: the schedules of logrotate were not read. */
export function logrotateRunsOf({ logrotateRuns }: Host) {
  if (!logrotateRuns) return null
  const { by, schedule, last, also = [], unsure } = logrotateRuns
  if (by !== null && by !== 'timer' && by !== 'cron') return null
  const others = also.slice(0, mostRuns)
  const texts = [schedule, ...others.map(other => other.schedule)].map(schedule =>
    schedule ? shorten(schedule, 80) : null,
  )
  const periods = texts.map(text => (text === null ? null : periodOf(text)))
  const known = periods.filter(period => period !== null)
  const unclear = periods.indexOf(null)
  return {
    /** Null: nothing runs logrotate. */
    by,
    schedule: texts.filter(text => text !== null).join(' and ') || null,
    /** Mean interval in ms over everything that runs logrotate. Null: no schedule is known. */
    periodMs:
      known.length === 0 ? null : 1 / known.reduce((often, period) => often + 1 / period, 0),
    /** An unknown schedule among several. logrotate may run more often because of it. */
    unclear: unclear < 0 || known.length === 0 ? null : (texts[unclear] ?? 'unknown'),
    last: last === undefined ? null : shorten(last, 80),
    /** What else may start logrotate, as the node reports it; null: nothing. Undefined: an older probe, which did not search all cron places. */
    unsure: unsure && shorten(unsure, 200),
  }
}

const mostRuns = 20

/** Sources: systemd.time(7), crontab(5). */
export function periodOf(schedule: string): number | null {
  const text = schedule.trim().toLowerCase().replace(/^@/, '')
  if (Object.hasOwn(named, text)) return named[text] ?? null
  const times = calendarTimes(text) ?? cronTimes(text)
  if (!times) return null
  const { weekday, month, day, hour, minute } = times
  // If both days are set, cron runs on either, but systemd only if both match.
  if (weekday !== '*' && day !== '*') return null
  if (month !== '*') return fieldPeriodMs(yearMs, month, 12)
  if (day !== '*') return fieldPeriodMs(monthMs, day, 30)
  if (weekday !== '*') return fieldPeriodMs(weekMs, weekday, 7)
  if (hour !== '*') return fieldPeriodMs(dayMs, hour, 24)
  return minute === '*' ? minuteMs : fieldPeriodMs(hourMs, minute, 60)
}

/** `Mon *-*-* 00:00:00` */
function calendarTimes(text: string) {
  const words = text.split(' ')
  const weekday = /^[a-z][a-z.,]*$/.test(words[0] ?? '') ? words.shift() : '*'
  const [date = '', time = '', _zone, ...rest] = words
  const [day, month] = date.split('-').reverse()
  const [hour, minute] = time.split(':')
  return weekday && day && month && hour && minute && rest.length === 0
    ? { weekday, month, day, hour, minute }
    : null
}

/** `15 3 * * 0` */
function cronTimes(text: string) {
  const [minute, hour, day, month, weekday, ...rest] = text.split(/\s+/)
  return minute && hour && day && month && weekday && rest.length === 0
    ? { minute, hour, day, month, weekday }
    : null
}

/** `wholeMs` divided by the number of times in the field: `0,30` of 60 are two, `*\/6` of 24 are four. */
function fieldPeriodMs(wholeMs: number, field: string, most: number) {
  const counts = field.split(',').map(item => timesOf(item, most))
  const sum = counts.reduce<number>((total, count) => total + (count ?? NaN), 0)
  return sum > 0 ? wholeMs / Math.min(sum, most) : null
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fieldNumber = (text: string) =>
  /^\d{1,4}$/.test(text) ? Number(text) : weekdays.indexOf(text.slice(0, 3))

function timesOf(item: string, most: number) {
  const step = /^[^/]+\/(\d{1,4})$/.exec(item)?.[1]
  if (step !== undefined)
    return Number(step) > 0 ? Math.max(1, Math.floor(most / Number(step))) : null
  const [from = '', to] = item.split(/\.\.|-/)
  if (fieldNumber(from) < 0 || (to !== undefined && fieldNumber(to) < 0)) return null
  return to === undefined ? 1 : ((fieldNumber(to) - fieldNumber(from) + most) % most) + 1
}
