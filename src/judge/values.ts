/** Texts of a running configuration as numbers. */
import { parseDuration, toMilliseconds } from '#model/duration.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import { amountOrNull } from '#model/quantity.ts'

/** Null where the kubelet would not read it: a running one shows no such text, a snapshot made by hand may. */
export function durationMs(text: string): number | null {
  try {
    return toMilliseconds(parseDuration(text))
  } catch {
    return null
  }
}

/** A threshold or minimum reclaim in bytes or counts; null as above. Upstream: eviction/api/types.go GetThresholdQuantity, percentages are float32. */
export function amountOf(text: string, capacity: number): number | null {
  if (!text.endsWith('%')) return amountOrNull(text)
  const part = Math.fround(Math.fround(Number.parseFloat(text)) / 100)
  return Number.isFinite(part) ? Math.trunc(capacity * part) : null
}

/** The kubelet keeps percentages as float32: that much beside what was written is no more, and no less. */
export const float32Rounding = (text: string, amount: number): number =>
  text.endsWith('%') ? amount * 2 ** -23 + 1 : 0

type ThresholdTexts = 'evictionHard' | 'evictionSoftGracePeriod' | 'evictionMinimumReclaim'

/** A map as it runs, with some entries changed: the kubelet takes a map as a whole. */
export const withEntries = (
  map: ThresholdTexts,
  configuration: KubeletConfiguration | null,
  entries: Record<string, string>,
) => ({ [map]: { ...configuration?.[map], ...entries } })
