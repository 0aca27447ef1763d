/**
 * How often the control plane's collectors run, what they wait for, and their defaults. EKS hardly shows the flags of its control plane: where the
 * cluster itself does not say otherwise, these are assumptions. A period starts when the round before it has ended.
 */

/** Source: pkg/controller/podgc/gc_controller.go quarantineTime. Of a node that is gone, before its pods are. */
export const podGcQuarantineMs = 40_000

/** Source: pkg/controller/certificates/cleaner/cleaner.go approvedExpiration, deniedExpiration, pendingExpiration. */
export const certificateRequestLifetimesMs = { handled: 3_600_000, pending: 86_400_000 }

/** Source: pkg/apis/batch/v1/defaults.go SetDefaults_CronJob. */
export const jobHistoryLimits = { successful: 3, failed: 1 }

/** The part of a lease's duration after which the kubelet renews it, and how much later that may be. Source: pkg/kubelet/kubelet.go nodeLeaseRenewIntervalFraction. */
export const leaseRenewal = { fraction: 0.25, jitter: 0.04 }

/** How long the API server remembers an event. Source: pkg/controlplane/apiserver/options/options.go NewOptions (EventTTL). */
export const eventTtlMs = 3_600_000

/** `--terminated-pod-gc-threshold`. Source: pkg/controller/podgc/config/v1alpha1/defaults.go RecommendedDefaultPodGCControllerConfiguration. */
export const terminatedPodThreshold = 12_500
