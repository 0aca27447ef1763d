/** The kubelet whose decisions are replayed: the behavior of its version, with the feature gates that its configuration sets. */

import { type Gate, type GateSettings, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'

export interface Kubelet {
  features: KubeletFeatures
  isGateOn(gate: Gate): boolean
}

/**
 * @param kubeletVersion as the node reports it; null: the newest rules
 * @param featureGates gates in the configuration, including AllAlpha and AllBeta; null: every gate at its default
 */
export function kubeletOf(
  kubeletVersion: string | null,
  featureGates: GateSettings = null,
): Kubelet {
  const features = featuresOf(kubeletVersion)
  return { features, isGateOn: gate => isGateOn(gate, featureGates, features) }
}
