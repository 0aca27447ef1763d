/** What an invocation of a function takes, and what those of one run take together. */

export interface Spent {
  /** When it began, or the first of several did: RFC 3339. */
  startedAt: string
  /** Of several, side by side or one after the other, the sum. */
  durationMs: number
  /** Of several the largest. */
  peakRssBytes: number
  /** How often which service asked to slow down: none of one that never did. */
  slowDowns: Record<string, number>
}

/** What other functions have taken for a run before its last one. */
export interface SpentBefore extends Spent {
  invocations: number
  /** Of them; one that was killed left no word, and is not counted at all. */
  failed: number
}

/** @param all at least one */
export function together(all: readonly Spent[]): Spent {
  const slowDowns: Record<string, number> = {}
  for (const one of all)
    for (const [service, times] of Object.entries(one.slowDowns))
      slowDowns[service] = (slowDowns[service] ?? 0) + times
  return {
    startedAt: all.map(({ startedAt }) => startedAt).toSorted()[0] ?? '',
    durationMs: all.reduce((total, { durationMs }) => total + durationMs, 0),
    peakRssBytes: Math.max(...all.map(({ peakRssBytes }) => peakRssBytes)),
    slowDowns,
  }
}
