/** Units of time and of bytes. */

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
export const weekMs = 7 * dayMs

export const mebibyte = 1024 ** 2
export const gibibyte = 1024 ** 3
