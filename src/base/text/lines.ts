/** A part of a text: a line, several parts, or nothing if its condition does not hold. */
export type Lines = string | false | null | undefined | readonly Lines[]

/** The lines of all parts, in order. An empty line stays. */
export const linesOf = (...parts: readonly Lines[]): string[] =>
  parts.flatMap(part => (typeof part === 'string' ? part : linesOf(...(part || []))))
