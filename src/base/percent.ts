/** The one rounding of percentages, for rules and reports alike. */

/**
 * The number of a percentage (85, not 0.85) with at most one decimal. Only a full or empty disk reads 100 or 0:
 * a little less reads 99.9, and a little more reads <0.1.
 */
export function percentNumber(percent: number) {
  if (percent > 99.9 && percent < 100) return '99.9'
  if (percent > 0 && percent < 0.05) return '<0.1'
  const rounded = Number(percent.toFixed(1))
  // A locale takes ten times as long.
  return percent >= 0 && rounded < 1000 ? String(rounded) : rounded.toLocaleString('en-US')
}

/** Used percent of a disk, exactly; image GC rounds its own count up. Null: not observed. */
export function usedPercentOf(
  capacity: number | null | undefined,
  available: number | null | undefined,
): number | null {
  if (capacity == null || available == null || !(capacity > 0)) return null
  return 100 - (100 * Math.min(Math.max(available, 0), capacity)) / capacity
}
