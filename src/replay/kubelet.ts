/** The kubelet whose decisions are replayed: what its version does, with the feature gates that its configuration switches. */
import type { Gate } from '#facts/kubelet/feature-gates.ts'
import { type GateSettings, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'

export interface Kubelet {
  features: KubeletFeatures
  isGateOn(gate: Gate): boolean
}

/**
 * @param kubeletVersion as the node reports it; null: the newest rules
 * @param featureGates what the configuration sets, AllAlpha and AllBeta among them; null: every gate at its default
 */
export function kubeletOf(
  kubeletVersion: string | null,
  featureGates: GateSettings = null,
): Kubelet {
  const features = featuresOf(kubeletVersion)
  return { features, isGateOn: gate => isGateOn(gate, featureGates, features) }
}
