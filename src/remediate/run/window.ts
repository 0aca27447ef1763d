import { oncePerText } from '#base/once.ts'
import { weekdays } from '#model/policy/defaults.ts'
import type { ChangeWindow } from '#model/policy.ts'

const dayMinutes = 24 * 60

/**
 * Whether one of the windows is open. Times are compared as the zone's clock shows them, so a window keeps its hours when the clocks change. An hour
 * that comes twice is in the window twice, and an hour that is left out is missing.
 */
export const isWindowOpen = (windows: readonly ChangeWindow[], now: Date) =>
  windows.length === 0 || windows.some(one => contains(one, now))

function contains({ days, from, to, timezone }: ChangeWindow, now: Date) {
  const { day, minutes } = wallClock(now, timezone)
  const begins = minutesOf(from)
  const ends = minutesOf(to)
  const hasDay = (index: number) => days.some(name => name === weekdays[(index + 7) % 7])
  if (begins < ends) return hasDay(day) && minutes >= begins && minutes < ends
  return (hasDay(day) && minutes >= begins) || (hasDay(day - 1) && minutes < ends)
}

/** @param time `HH:MM` */
function minutesOf(time: string) {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

/** By time zone, because a format takes a hundred times as long to make as to use. */
const formatIn = oncePerText(
  timeZone =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
)

/** `day`: 0 is Monday. */
function wallClock(now: Date, timeZone: string) {
  const parts = Object.fromEntries(
    formatIn(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  )
  const day = weekdays.map(String).indexOf((parts.weekday ?? '').toLowerCase())
  return { day, minutes: (Number(parts.hour) * 60 + Number(parts.minute)) % dayMinutes }
}

/** `mon, tue 22:00 to 04:00 Europe/Berlin` */
const windowText = ({ days, from, to, timezone }: ChangeWindow) =>
  `${days.length === weekdays.length ? 'every day' : days.join(', ')} ${from} to ${to} ${timezone}`

/** The first windows, for people. */
export const windowsText = (windows: readonly ChangeWindow[], most = 3) =>
  windows.slice(0, most).map(windowText).join('; or ')
