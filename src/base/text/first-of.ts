/** The first texts of a list, and how many more there are. */

/** `a, b and 3 more`. @param count the number of all, if `names` has only the first of them */
export function firstNames(names: readonly string[], most: number, count = names.length) {
  const shown = names.slice(0, most)
  const more = count > shown.length ? ` and ${count - shown.length} more` : ''
  return `${shown.join(', ')}${more}`
}

/** `a`, `b`, `and 3 more` */
export const firstLines = (lines: readonly string[], most: number, more = 'more') => [
  ...lines.slice(0, most),
  ...(lines.length > most ? [`and ${lines.length - most} ${more}`] : []),
]

/** `a; b; and 3 more` */
export const firstReasons = (reasons: readonly string[], most: number) =>
  firstLines(reasons, most).join('; ')
