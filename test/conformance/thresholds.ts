/** evictionHard and its companions as the kubelet reads them at its start. */
import { formatDuration } from '#base/go/duration.ts'
import { canonicalText, quantityValue } from '#base/go/quantity.ts'
import { byText } from '#base/text.ts'
import type { Threshold, ThresholdValue } from '#model/prediction.ts'
import { parseThresholdConfig, type ThresholdConfiguration } from '#replay/eviction/thresholds.ts'
import type { Family } from './family.ts'

export const thresholds: Family<ThresholdConfiguration> = {
  name: 'thresholds',
  answer(configuration) {
    try {
      const parsed = parseThresholdConfig(configuration)
      return { ok: true, thresholds: inOrder(parsed).map(shown) }
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) }
    }
  },
}

const shown = (threshold: Threshold) => ({
  signal: threshold.signal,
  operator: threshold.operator,
  value: shownValue(threshold.value),
  gracePeriod: shownGracePeriod(threshold),
  gracePeriodMs: threshold.gracePeriodMs,
  minReclaim: threshold.minReclaim && shownValue(threshold.minReclaim),
})

const shownValue = (value: ThresholdValue) =>
  'quantity' in value
    ? { quantity: canonicalText(value.quantity), value: String(quantityValue(value.quantity)) }
    : { percentage: Number.isNaN(value.percentage) ? 'NaN' : value.percentage }

export const shownGracePeriod = ({ gracePeriodMs }: Threshold): string =>
  formatDuration(BigInt(Math.round(gracePeriodMs * 1e6)))

/** By signal, then grace period. */
export const inOrder = (parsed: readonly Threshold[]): Threshold[] =>
  parsed.toSorted((a, b) => byText(a.signal, b.signal) || a.gracePeriodMs - b.gracePeriodMs)
