/** A time as people read it in texts and reports, to the minute: `2026-11-21 05:00 UTC`. Null: the text is no time. */
export function utcMinute(time: string | number): string | null {
  const at = new Date(time)
  return Number.isNaN(at.getTime())
    ? null
    : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
