/** A small line over days: where it was, how far it went, where it is now. What it shows stands beside it in words. */

const size = { width: 120, height: 26, margin: 3 }
/** A line that hardly moves is not drawn as if it leapt. */
const leastSpan = 4

export interface Sparkline {
  width: number
  height: number
  line: string
  /** A second, fainter one on the same scale; empty: there is none. */
  faint: string
  /** Where the last value is; null: it is not known. */
  end: { x: string; y: string } | null
  label: string
}

export interface Values {
  /** One for each day; null: not known. */
  values: (number | null)[]
  faint?: (number | null)[]
}

/**
 * @param days when, each a day since any day; in their order
 * @param from the day at the left end, for lines beside each other
 */
export function sparkline(days: number[], { values, faint = [] }: Values, label: string, from: number): Sparkline {
  const { width, height, margin } = size
  const known = [...values, ...faint].filter(value => value !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const spare = Math.max(0, leastSpan - (most - least)) / 2
  const [low, high] = [Math.max(0, least - spare), Math.max(0, least - spare) + Math.max(leastSpan, most - least)]
  const span = Math.max(1, (days.at(-1) ?? from) - from)
  const x = (index: number) => (margin + ((days[index]! - from) / span) * (width - 2 * margin)).toFixed(1)
  const y = (value: number) => (height - margin - ((value - low) / (high - low)) * (height - 2 * margin)).toFixed(1)
  const last = values.at(-1) ?? null
  return {
    width,
    height,
    line: pathOf(values, x, y),
    faint: pathOf(faint, x, y),
    end: last === null ? null : { x: x(values.length - 1), y: y(last) },
    label,
  }
}

/** A value between two that are not known is a dot. */
function pathOf(values: (number | null)[], x: (index: number) => string, y: (value: number) => string): string {
  let isDrawing = false
  return values
    .map((value, index) => {
      if (value === null) {
        isDrawing = false
        return ''
      }
      const part = `${isDrawing ? 'L' : 'M'}${x(index)} ${y(value)}${isDrawing ? '' : 'h0'}`
      isDrawing = true
      return part
    })
    .join('')
}
