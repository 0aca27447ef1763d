/**
 * The eviction manager's configuration, read once.
 *
 * Replays       pkg/kubelet/kubelet.go  NewMainKubelet (eviction.Config)
 * Read at       1.29 to 1.37, alike
 */

import { parseDuration, toMilliseconds } from '#base/go/duration.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { Threshold } from '#model/prediction/prediction.ts'
import {
  parseThresholdConfig,
  type ThresholdConfiguration,
  type ThresholdFlags,
} from './thresholds.ts'

export interface EvictionConfig {
  thresholds: readonly Threshold[]
  /** How long a condition stays after its last threshold was met. 0: no condition is reported. */
  pressureTransitionPeriodMs: number
  /** For soft evictions. */
  maxPodGracePeriodSeconds: number
  localStorageCapacityIsolation: boolean
}

export type EvictionConfiguration = ThresholdConfiguration &
  Pick<KubeletConfiguration, 'evictionPressureTransitionPeriod' | 'evictionMaxPodGracePeriod'> & {
    localStorageCapacityIsolation?: boolean
  }

/** @throws like parseThresholdConfig, with upstream's text; such a kubelet would not start */
export function parseEvictionConfig(
  configuration: EvictionConfiguration,
  flags?: ThresholdFlags,
): EvictionConfig {
  const period =
    configuration.evictionPressureTransitionPeriod ??
    configurationDefaults.evictionPressureTransitionPeriod
  return {
    thresholds: parseThresholdConfig(configuration, flags),
    pressureTransitionPeriodMs: toMilliseconds(parseDuration(period)),
    maxPodGracePeriodSeconds:
      configuration.evictionMaxPodGracePeriod ?? configurationDefaults.evictionMaxPodGracePeriod,
    localStorageCapacityIsolation: configuration.localStorageCapacityIsolation ?? true,
  }
}
