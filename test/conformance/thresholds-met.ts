/** Thresholds against observations. */

import { canonicalText, quantityValue } from '#base/go/quantity.ts'
import type { Observation, Signal, ThresholdValue } from '#model/prediction.ts'
import {
  getThresholdQuantity,
  thresholdsMet as met,
  parseThresholdConfig,
  type ThresholdConfiguration,
} from '#replay/eviction/thresholds.ts'
import type { Family } from './family.ts'
import { inOrder, shownGracePeriod } from './thresholds.ts'

interface Input {
  config: ThresholdConfiguration
  observations: Partial<Record<Signal, Omit<Observation, 'time'>>>
  enforceMinReclaim: boolean
}

export const thresholdsMet: Family<Input> = {
  name: 'thresholds-met',
  answer({ config, observations, enforceMinReclaim }) {
    const observed: Partial<Record<Signal, Observation>> = {}
    for (const [signal, values] of Object.entries(observations))
      observed[signal as Signal] = { ...values, time: null }
    const thresholds = inOrder(parseThresholdConfig(config))
    const metNow = met(thresholds, observed, enforceMinReclaim)
    return {
      thresholds: thresholds.map(threshold => {
        const { signal, value, minReclaim } = threshold
        const capacity = observed[signal]?.capacity ?? null
        return {
          signal,
          gracePeriod: shownGracePeriod(threshold),
          observed: capacity !== null,
          quantity: shownQuantity(value, capacity),
          minReclaim: shownQuantity(minReclaim, capacity),
          met: metNow.includes(threshold),
        }
      }),
    }
  },
}

function shownQuantity(value: ThresholdValue | null, capacity: number | null) {
  if (value === null || capacity === null) return null
  const quantity = getThresholdQuantity(value, capacity)
  return { canonical: canonicalText(quantity), value: String(quantityValue(quantity)) }
}
