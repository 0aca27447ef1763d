/** Converts texts of a running configuration to numbers. */
import { parseDuration, toMilliseconds } from '#base/go/duration.ts'
import { amountOrNull } from '#base/go/quantity.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'

/** Null if the kubelet would not accept the text. Only snapshots made by hand contain such texts. */
export function durationMs(text: string): number | null {
  try {
    return toMilliseconds(parseDuration(text))
  } catch {
    return null
  }
}

/** A threshold or minimum reclaim in bytes or counts; null: invalid. Upstream: eviction/api/types.go GetThresholdQuantity, percentages are float32. */
export function amountOf(text: string, capacity: number): number | null {
  if (!text.endsWith('%')) return amountOrNull(text)
  const part = Math.fround(Math.fround(Number.parseFloat(text)) / 100)
  return Number.isFinite(part) ? Math.trunc(capacity * part) : null
}

/** The kubelet stores percentages as float32. Amounts that differ by at most this much are equal. */
export const float32Rounding = (text: string, amount: number): number =>
  text.endsWith('%') ? amount * 2 ** -23 + 1 : 0

type ThresholdTexts =
  | 'evictionHard'
  | 'evictionSoft'
  | 'evictionSoftGracePeriod'
  | 'evictionMinimumReclaim'

/** The fix that changes some entries of a running map: the kubelet replaces maps as a whole. */
export const withEntries = (
  map: ThresholdTexts,
  configuration: KubeletConfiguration | null,
  entries: Record<string, string>,
) => ({ config: { [map]: { ...configuration?.[map], ...entries } } })
