/** One-line mutations of the engine of image GC and eviction. Upstream's vectors and the prediction must both notice each: they call one engine. */
import type { Mutant } from './security.ts'

interface BrokenLine extends Omit<Mutant, 'tests'> {
  /** Path below `test/`, without `.test.ts`, of a test of the prediction. */
  prediction: string
}

const lines: readonly BrokenLine[] = [
  {
    file: 'src/replay/image-gc/round.ts',
    line: 'bytes - itself * bytesOf(place) >= wantedBytes',
    instead: 'bytes - itself * bytesOf(place) >= 2 * wantedBytes',
    prediction: 'replay/image-gc',
  },
  {
    file: 'src/replay/image-gc/round.ts',
    line: 'difference(a.lastUsed.earliestMs, b.lastUsed.earliestMs) ||',
    instead: 'difference(b.lastUsed.earliestMs, a.lastUsed.earliestMs) ||',
    prediction: 'replay/image-gc',
  },
  {
    file: 'src/replay/image-gc/round.ts',
    line: 'usage.usagePercent < highThresholdPercent',
    instead: 'usage.usagePercent <= highThresholdPercent',
    prediction: 'replay/image-gc',
  },
  {
    file: 'src/replay/image-gc/round.ts',
    line: 'amountToFree(usage, lowThresholdPercent)',
    instead: 'amountToFree(usage, highThresholdPercent)',
    prediction: 'replay/image-gc',
  },
  {
    file: 'src/replay/image-gc/round.ts',
    line: 'freedBytes !== null && freedBytes < wantedBytes',
    instead: 'freedBytes !== null && freedBytes > wantedBytes',
    prediction: 'replay/image-gc',
  },
  {
    file: 'src/replay/image-gc/round.ts',
    line: 'freeOldImages(inOrder, freeTimeMs, minimumAgeMs, null), everything)',
    instead: 'freeOldImages(inOrder, freeTimeMs, minimumAgeMs, null), 1)',
    prediction: 'replay/image-gc',
  },
  {
    file: 'src/replay/image-gc/policy.ts',
    line: 'if (maximumAgeMs === 0) return null',
    instead: 'if (maximumAgeMs !== 0) return null',
    prediction: 'replay/image-gc',
  },
  {
    file: 'src/replay/eviction/synchronize.ts',
    line: 'actionable.some(isMemory) ? actionable.filter(isMemory) : actionable',
    instead: 'actionable',
    prediction: 'replay/eviction/bounds',
  },
  {
    file: 'src/replay/eviction/synchronize.ts',
    line: 'nowMs - atMs >= threshold.gracePeriodMs',
    instead: 'nowMs - atMs >= 0',
    prediction: 'replay/eviction/bounds',
  },
]

export const engineMutants: Mutant[] = lines.flatMap(({ prediction, ...mutation }) =>
  ['conformance/conformance', prediction].map(test => ({ ...mutation, tests: [test] })),
)
