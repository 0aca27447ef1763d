/** How often the kubelet's loops run. A period starts when the round before it has ended. */

/** Source: pkg/kubelet/kubelet.go ImageGCPeriod. */
export const imageGcPeriodMs = 5 * 60_000

/** Source: pkg/kubelet/kubelet.go ContainerGCPeriod. */
export const containerGcPeriodMs = 60_000

/** Source: pkg/kubelet/kubelet.go evictionMonitoringPeriod. */
export const evictionMonitoringPeriodMs = 10_000

/** How often the eviction manager looks whether what it evicted is cleaned up. Source: pkg/kubelet/eviction/eviction_manager.go podCleanupPollFreq. */
export const podCleanupPollMs = 1_000

/** The next pass begins after that, even if what was evicted is not cleaned up. Source: pkg/kubelet/eviction/eviction_manager.go podCleanupTimeout. */
export const podCleanupTimeoutMs = 30_000

/** The longest time between two measurements of a node's disks. Source: pkg/kubelet/cadvisor/cadvisor_linux.go maxHousekeepingInterval. */
export const diskMeasurementMs = 15_000

/** Up to 1.29; since then the default of `containerLogMonitorInterval`. Source: pkg/kubelet/logs/container_log_manager.go logMonitorPeriod. */
export const containerLogMonitorPeriodMs = 10_000

/** Default of a probe. Source: pkg/apis/core/v1/defaults.go SetDefaults_Probe. */
export const probePeriodMs = 10_000
