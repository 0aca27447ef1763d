/** Order by the first key that differs: numbers upward, false before true, texts by `byText`. No key may be NaN. */
export const by =
  <Item>(...keys: ((item: Item) => number | string | boolean)[]) =>
  (a: Item, b: Item) => {
    for (const keyOf of keys) {
      const one = keyOf(a)
      const other = keyOf(b)
      if (one !== other) return one < other ? -1 : 1
    }
    return 0
  }

/** Order by UTF-16 units, independent of the locale. For ASCII it is also the order of bytes, in which Go compares. */
export const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
