/** The kubelet's uint64 counters, as JSON carries them. */

/** A counter wraps if a subtraction falls below zero. No machine has a real count above this. */
const wrapsFrom = 2 ** 63
const wrapsBy = 2 ** 64

/** A counter of capacity or usage. Null: absent, not a count, or wrapped below zero. */
export const countOf = (value: number | undefined): number | null =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value < wrapsFrom ? value : null

/**
 * A counter of free amounts. Null: absent or not a count. A wrapped counter is negative, as upstream's int64(…).
 * JSON parsing has rounded such a number to a multiple of 1024 or more: its sign is certain, its amount only approximate.
 */
export const availableOf = (value: number | undefined): number | null => {
  const isWrapped =
    value !== undefined && Number.isInteger(value) && value >= wrapsFrom && value <= wrapsBy
  return isWrapped ? Math.min(value - wrapsBy, -1) : countOf(value)
}
