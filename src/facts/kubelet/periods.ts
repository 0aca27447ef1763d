/** Periods of the kubelet's loops. A period starts at the end of the previous round. */

/** Source: pkg/kubelet/kubelet.go ImageGCPeriod. */
export const imageGcPeriodMs = 5 * 60_000
export const gcMinutes = imageGcPeriodMs / 60_000

/** Source: pkg/kubelet/kubelet.go ContainerGCPeriod. */
export const containerGcPeriodMs = 60_000

/** Source: pkg/kubelet/kubelet.go evictionMonitoringPeriod. */
export const evictionMonitoringPeriodMs = 10_000
export const evictionSeconds = evictionMonitoringPeriodMs / 1000

/** How often the eviction manager checks whether evicted pods are cleaned up. Source: pkg/kubelet/eviction/eviction_manager.go podCleanupPollFreq. */
export const podCleanupPollMs = 1_000

/** After this time the next pass begins, even if evicted pods are not cleaned up. Source: pkg/kubelet/eviction/eviction_manager.go podCleanupTimeout. */
export const podCleanupTimeoutMs = 30_000

/** The longest time between two measurements of a node's disks. Source: pkg/kubelet/cadvisor/cadvisor_linux.go maxHousekeepingInterval. */
export const diskMeasurementMs = 15_000

/** The period up to 1.29; later the default of `containerLogMonitorInterval`. Source: pkg/kubelet/logs/container_log_manager.go logMonitorPeriod. */
export const containerLogMonitorPeriodMs = 10_000

/** Default period of a probe. Source: pkg/apis/core/v1/defaults.go SetDefaults_Probe. */
export const probePeriodMs = 10_000
