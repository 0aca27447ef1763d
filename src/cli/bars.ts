/** Numbers over days as a line of blocks: one per day, blank if unknown. */

const blocks = '▁▂▃▄▅▆▇█'
const dayMs = 86_400_000

export interface DayValue {
  day: string
  value: number | null
}

/**
 * @param values in the order of their days; null: blank
 * @param most maximum number of days; the last ones are shown
 * @param full value of the highest block; absent: the greatest value
 */
export function bars(values: DayValue[], most: number, { full }: { full?: number } = {}): string {
  const last = values.at(-1)
  if (last === undefined) return ''
  const at = new Map(values.map(({ day, value }) => [Date.parse(day) / dayMs, value]))
  const to = Date.parse(last.day) / dayMs
  const from = Math.max(Math.min(...at.keys()), to - Math.max(1, most) + 1)
  const top = full ?? Math.max(1, ...values.map(({ value }) => value ?? 0))
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const value = at.get(from + index) ?? null
    return value === null
      ? ' '
      : blocks[Math.min(blocks.length - 1, Math.floor((value / top) * blocks.length))]
  }).join('')
}
