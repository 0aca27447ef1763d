/** How often the kubelet's loops run. A period starts when the round before it has ended. */

/** Source: pkg/kubelet/kubelet.go ImageGCPeriod. */
export const imageGcPeriodMs = 5 * 60_000

/** Source: pkg/kubelet/kubelet.go evictionMonitoringPeriod. */
export const evictionMonitoringPeriodMs = 10_000
