/**
 * Periods, waits and defaults of the control plane's collectors. EKS reports few flags of its control plane, so these values are assumptions unless
 * the cluster itself shows others. A period starts at the end of the previous round.
 */

/** How long a node must be gone before pod GC deletes its pods. Source: pkg/controller/podgc/gc_controller.go quarantineTime. */
export const podGcQuarantineMs = 40_000

/** Source: pkg/controller/certificates/cleaner/cleaner.go approvedExpiration, deniedExpiration, pendingExpiration. */
export const certificateRequestLifetimesMs = { handled: 3_600_000, pending: 86_400_000 }

/** Source: pkg/apis/batch/v1/defaults.go SetDefaults_CronJob. */
export const jobHistoryLimits = { successful: 3, failed: 1 }

/** How long the API server keeps an event. Source: pkg/controlplane/apiserver/options/options.go NewOptions (EventTTL). */
export const eventTtlMs = 3_600_000

/** `--terminated-pod-gc-threshold`. Source: pkg/controller/podgc/config/v1alpha1/defaults.go RecommendedDefaultPodGCControllerConfiguration. */
export const terminatedPodThreshold = 12_500
