/** Numbers and times as people read them, always with their unit. What is not known reads `unknown`, never 0. */

const unknown = 'unknown'
/** A number and its unit stay on one line. */
const noBreak = '\u00a0'
const counts = new Intl.NumberFormat('en-US')
const oneDecimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false })
const upToOneDecimal = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

const isNumber = (value: number | null | undefined): value is number => Number.isFinite(value)

/** Bytes in the largest binary unit that keeps the number under 1,024: `512 B`, `72.0 GiB`. */
export function formatBytes(bytes: number | null): string {
  if (!isNumber(bytes)) return unknown
  let size = Math.abs(bytes)
  let unit = 0
  // 1,023.96 would be written 1024.0: it belongs to the next unit already.
  while (unit < byteUnits.length - 1 && (unit === 0 ? size >= 1024 : size >= 1023.95)) {
    size /= 1024
    unit += 1
  }
  return `${bytes < 0 ? '-' : ''}${unit === 0 ? counts.format(size) : oneDecimal.format(size)}${noBreak}${byteUnits[unit]}`
}

export function formatCount(count: number | null): string {
  return isNumber(count) ? counts.format(count) : unknown
}

/** From the least to the greatest, the unit once where it is one: `10.0–40.0 GiB`. Alike as shown reads as one. */
export function formatRange(low: number, high: number, format: (value: number) => string): string {
  const [from, to] = [format(low), format(high)]
  if (from === to) return from
  const [number = from, unit] = from.split(noBreak)
  return `${unit !== undefined && unit === to.split(noBreak)[1] ? number : from}–${to}`
}

/** `1 node`, `412 nodes`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`
}

/** A percentage (85, not 0.85) with one decimal where it has one. Only the full and the empty read 100 % and 0 %. */
export function formatPercent(percent: number | null): string {
  if (!isNumber(percent)) return unknown
  if (percent > 99.9 && percent < 100) return `99.9${noBreak}%`
  if (percent > 0 && percent < 0.05) return `<0.1${noBreak}%`
  return `${upToOneDecimal.format(percent)}${noBreak}%`
}

const durationUnits: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
]

/** A duration in its two largest units: `1 min 30 s`. */
export function formatDuration(durationMs: number | null): string {
  if (!isNumber(durationMs) || durationMs < 0) return unknown
  if (durationMs < 1) return `0${noBreak}s`
  const first = durationUnits.findIndex(([, unitMs]) => durationMs >= unitMs)
  let restMs = Math.floor(durationMs)
  return durationUnits
    .slice(first, first + 2)
    .flatMap(([name, unitMs]) => {
      const whole = Math.floor(restMs / unitMs)
      restMs -= whole * unitMs
      return whole > 0 ? [`${whole}${noBreak}${name}`] : []
    })
    .join(' ')
}

/** An RFC 3339 time in UTC, to the minute: `2026-11-21 00:00 UTC`. */
export function formatUtc(time: string | null): string {
  const at = time === null ? Number.NaN : Date.parse(time)
  return Number.isNaN(at) ? unknown : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
