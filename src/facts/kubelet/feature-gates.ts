/**
 * The feature gates that decide whether a configuration is valid, with their defaults by minor.
 *
 * Source  pkg/features/kube_features.go defaultVersionedKubernetesFeatureGates
 */
import type { KubeletFeatures } from './features.ts'

export interface GateState {
  isOn: boolean
  /** A gate that has graduated cannot be set to anything else. */
  isLocked: boolean
}

interface Stage extends GateState {
  since: number
}

const off = (since: number): Stage => ({ since, isOn: false, isLocked: false })
const on = (since: number): Stage => ({ since, isOn: true, isLocked: false })
const locked = (since: number): Stage => ({ since, isOn: true, isLocked: true })

const gates = {
  CustomCPUCFSQuotaPeriod: [off(12), on(36)],
  GracefulNodeShutdown: [off(20), on(21)],
  GracefulNodeShutdownBasedOnPodPriority: [off(23), on(24)],
  ImageMaximumGCAge: [off(29), on(30), locked(35)],
  KubeletCrashLoopBackOffMax: [off(32), on(35)],
  MemoryQoS: [off(22)],
  NodeLogQuery: [off(27), locked(36)],
  NodeSwap: [off(22), on(30), locked(34)],
  RotateKubeletServerCertificate: [off(7), on(12)],
} as const satisfies Record<string, readonly Stage[]>

export type Gate = keyof typeof gates

export const isGate = (name: string): name is Gate => Object.hasOwn(gates, name)

/** Null: this minor does not know the gate. */
export function gateState(gate: Gate, { rulesOfMinor }: KubeletFeatures): GateState | null {
  return gates[gate].findLast(({ since }) => since <= rulesOfMinor) ?? null
}
