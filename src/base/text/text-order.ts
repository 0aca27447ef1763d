/** Order by UTF-16 units, independent of the locale. For ASCII it is also the order of bytes, in which Go compares. */
export function byText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
