/** Keeps a value of plain JSON until the end of a run, in memory or outside of it. The result reads an equal value. */
export type Keep = <Value>(value: Value) => () => Value

export const keepInMemory: Keep = value => () => value
