/** Arithmetic with what is known only between two numbers. */
import type { Bounds } from '#model/cost.ts'

export const exactly = (value: number): Bounds => ({ least: value, most: value })
export const times = ({ least, most }: Bounds, factor: number): Bounds => ({
  least: least * factor,
  most: most * factor,
})
export const sum = (...all: readonly Bounds[]): Bounds =>
  all.reduce(
    (total, { least, most }) => ({ least: total.least + least, most: total.most + most }),
    exactly(0),
  )
/** The later of several that go on side by side. */
export const latest = (...all: readonly Bounds[]): Bounds => ({
  least: Math.max(...all.map(({ least }) => least)),
  most: Math.max(...all.map(({ most }) => most)),
})
