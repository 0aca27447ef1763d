/**
 * How often the control plane's collectors run, what they wait for, and their defaults. EKS hardly shows the flags of its control plane: where the
 * cluster itself does not say otherwise, these are assumptions. A period starts when the round before it has ended.
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'

/** Source: pkg/controller/podgc/gc_controller.go quarantineTime. Of a node that is gone, before its pods are. */
export const podGcQuarantineMs = 40_000

/** Source: pkg/controller/certificates/cleaner/cleaner.go approvedExpiration, deniedExpiration, pendingExpiration. */
export const certificateRequestLifetimesMs = { handled: 3_600_000, pending: 86_400_000 }

/** Source: pkg/apis/batch/v1/defaults.go SetDefaults_CronJob. */
export const jobHistoryLimits = { successful: 3, failed: 1 }

/** `--node-monitor-period`. Source: pkg/controller/apis/config/v1alpha1/defaults.go, staging/src/k8s.io/cloud-provider/config/v1alpha1/defaults.go. */
export const nodeMonitorPeriodMs = 5_000

/** `--node-startup-grace-period`. Source: pkg/controller/nodelifecycle/config/v1alpha1/defaults.go. */
export const nodeStartupGracePeriodMs = 60_000

/** `--node-monitor-grace-period`. Source: pkg/controller/nodelifecycle/config/v1alpha1/defaults.go. */
export const nodeMonitorGracePeriodMs = (features: KubeletFeatures): number =>
  features.has('nodeMonitorGracePeriod50s') ? 50_000 : 40_000

/** The part of a lease's duration after which the kubelet renews it, and how much later that may be. Source: pkg/kubelet/kubelet.go nodeLeaseRenewIntervalFraction. */
export const leaseRenewal = { fraction: 0.25, jitter: 0.04 }

/** How long the API server remembers an event. Source: pkg/controlplane/apiserver/options/options.go NewOptions (EventTTL). */
export const eventTtlMs = 3_600_000

/** `--terminated-pod-gc-threshold`. Source: pkg/controller/podgc/config/v1alpha1/defaults.go RecommendedDefaultPodGCControllerConfiguration. */
export const terminatedPodThreshold = 12_500
