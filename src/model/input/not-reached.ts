/** The reason text for nodes that a run did not reach before it ended. Snapshots store it, and the mail shows it. */

const notReachedWords = /\bnot reached before the [^;:()<>\n]+/

/** For the signal that ends a run: `run's deadline of 840 s`, `run was interrupted`. */
export const notReached = (end: string) => `not reached before the ${end}`

/** The part of a reason that reports it; null: another reason. */
export const notReachedIn = (reason: string): string | null =>
  notReachedWords.exec(reason)?.[0].trim() ?? null
