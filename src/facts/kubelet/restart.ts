/**
 * Effects of a kubelet restart on the pods of its node.
 *
 * Source  pkg/kubelet/prober/prober_manager.go UpdatePodStatus, isContainerStarted; worker.go doProbe, newWorker: probe results are kept in memory, and
 *         a readiness probe starts as failed. Since 1.35 the status stays until the first result, unless a gate restores the old behaviour.
 *         kubernetes#100277 (ready pods turn NotReady), kubernetes#133579 (startup probes run again)
 */
import type { KubeletFeatures } from './features.ts'

/** Whether containers that were ready and started stay so. @param featureGates as configured */
export const keepsContainerStatus = (
  features: KubeletFeatures,
  featureGates: Readonly<Record<string, unknown>>,
): boolean =>
  features.has('containerStatusOutlivesRestart') &&
  featureGates.ChangeContainerStatusOnKubeletRestart !== true
