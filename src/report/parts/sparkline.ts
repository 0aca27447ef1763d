/** A small line over days. The text beside it has the same values. */

/** SVG units, two per pixel. Whole numbers keep the many lines of a page short. */
const size = { width: 240, height: 52, margin: 6 }
/** Minimum range of the vertical scale, so that small changes look small. */
const leastSpan = 4

export interface Values {
  /** One value for each day; null: unknown. */
  values: (number | null)[]
  faint?: (number | null)[]
}

/**
 * @param days day numbers, ascending
 * @param from the day at the left end, so that lines can be compared
 */
export function sparkline(
  days: number[],
  { values, faint = [] }: Values,
  label: string,
  from: number,
) {
  const { width, height, margin } = size
  const known = [...values, ...faint].filter(value => value !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const spare = Math.max(0, leastSpan - (most - least)) / 2
  const [low, high] = [
    Math.max(0, least - spare),
    Math.max(0, least - spare) + Math.max(leastSpan, most - least),
  ]
  const span = Math.max(1, (days.at(-1) ?? from) - from)
  const x = (index: number) =>
    Math.round(margin + ((days[index]! - from) / span) * (width - 2 * margin))
  const y = (value: number) =>
    Math.round(height - margin - ((value - low) / (high - low)) * (height - 2 * margin))
  const last = values.at(-1) ?? null
  return {
    viewBox: `0 0 ${width} ${height}`,
    line: pathOf(values, x, y),
    faint: pathOf(faint, x, y),
    end: last === null ? null : { x: x(values.length - 1), y: y(last) },
    label,
  }
}

/** The SVG path of the values. A value between two unknown values is a dot. */
function pathOf(
  values: (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
) {
  let before: { x: number; y: number } | null = null
  let path = ''
  for (const [index, value] of values.entries()) {
    if (value === null) {
      before = null
      continue
    }
    const point = { x: x(index), y: y(value) }
    const down = before ? point.y - before.y : 0
    path += before
      ? `l${point.x - before.x}${down < 0 ? '' : ' '}${down}`
      : `M${point.x} ${point.y}h0`
    before = point
  }
  return path
}
