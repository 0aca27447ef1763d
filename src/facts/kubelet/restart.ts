/**
 * What a restart of the kubelet does to the pods of its node.
 *
 * Source  pkg/kubelet/prober/prober_manager.go UpdatePodStatus, isContainerStarted; worker.go doProbe, newWorker: results of probes live in memory, a
 *         readiness probe begins as failed. Since 1.35 the status stands until the first result, unless a gate brings the old way back.
 *         kubernetes#100277 (ready pods turn NotReady), kubernetes#133579 (startup probes run again)
 */
import type { KubeletFeatures } from './features.ts'

/** Whether containers that were ready and started stay so. @param featureGates as the configuration sets them */
export const keepsContainerStatus = (
  features: KubeletFeatures,
  featureGates: Readonly<Record<string, unknown>>,
): boolean =>
  features.has('containerStatusOutlivesRestart') &&
  featureGates.ChangeContainerStatusOnKubeletRestart !== true
