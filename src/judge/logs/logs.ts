import { durationMs } from '#base/go/duration.ts'
import { asInt64, quantityOrNull } from '#base/go/quantity.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { containerLogMonitorPeriodMs } from '#facts/kubelet/periods.ts'
import { watchingThresholds } from '#judge/help/thresholds.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { ContainerLog } from './running-logs.ts'

/* Container logs as rules read them: bytes written by each running container, and the limit that rotation sets. */

/** Maximum bytes of the logs. A restarted container counts for two instances. */
export const maxLogBytes = (logs: readonly ContainerLog[], perContainerBytes: number) =>
  logs.reduce((sum, log) => sum + maxBytesOf(log, perContainerBytes), 0)

/** Bytes by which the logs may still grow. A log without statistics counts as empty. */
export const remainingLogBytes = (logs: readonly ContainerLog[], perContainerBytes: number) =>
  logs.reduce(
    (sum, log) => sum + Math.max(0, maxBytesOf(log, perContainerBytes) - (log.usedBytes ?? 0)),
    0,
  )

const maxBytesOf = ({ wasRestarted }: ContainerLog, perContainerBytes: number) =>
  (wasRestarted ? 2 : 1) * perContainerBytes

/** A log so many times larger than rotation permits is rotated by nothing. */
const unrotatedTimes = 5

/** Logs on which rotation does not act, the largest first. */
export const unrotatedLogs = (logs: readonly ContainerLog[], perContainerBytes: number) =>
  logs
    .flatMap(log => (log.usedBytes === null ? [] : [{ ...log, usedBytes: log.usedBytes }]))
    .filter(log => log.usedBytes >= unrotatedTimes * maxBytesOf(log, perContainerBytes))
    .toSorted((a, b) => b.usedBytes - a.usedBytes)

export type LogRate = ReturnType<typeof logRates>[number]

/** Below these, no rate is known: a start writes much, and disk blocks count whole. */
const leastMs = 120_000
const leastBytes = 1024 ** 2

/**
 * Minimum rate at which the logs were written. Rotation compresses and removes files, so the remaining bytes are at most the written ones.
 * Only blocks that a filesystem (xfs) reserves for a growing file can raise the rate. Source: pkg/kubelet/stats/host_stats_provider.go, by du.
 */
export function logRates(logs: readonly ContainerLog[], at: string) {
  const nowMs = Date.parse(at)
  return logs.flatMap(({ name, usedBytes, sinceMs }) => {
    const elapsedMs = sinceMs === null ? 0 : nowMs - sinceMs
    if (usedBytes === null || usedBytes < leastBytes || !(elapsedMs >= leastMs)) return []
    return [{ name, usedBytes, elapsedMs, bytesPerMs: usedBytes / elapsedMs }]
  })
}

export type LogRotation = NonNullable<ReturnType<typeof logRotationOf>>

const mostInt32 = 2 ** 31 - 1

/** Null: the kubelet refuses it, or rotation is off. `maxSize` is written as in the configuration. */
export function logRotationOf({ containerLogMaxSize, containerLogMaxFiles }: KubeletConfiguration) {
  const maxSize = containerLogMaxSize ?? configurationDefaults.containerLogMaxSize ?? '10Mi'
  const files = Math.min(
    containerLogMaxFiles ?? configurationDefaults.containerLogMaxFiles ?? 5,
    mostInt32,
  )
  const quantity = quantityOrNull(maxSize)
  const sizeBytes = Number((quantity && asInt64(quantity)) ?? -1)
  return sizeBytes < 0 || files <= 1
    ? null
    : { maxSize, sizeBytes, files, perContainerBytes: sizeBytes * files }
}

/** The interval in ms between checks of the logs. The default if the value is no valid duration. */
export function logMonitorMs({ identity, configuration }: NodeSubject) {
  const written = featuresOf(identity.kubeletVersion).has('containerLogWorkers')
    ? configuration?.containerLogMonitorInterval
    : undefined
  return (written === undefined ? null : durationMs(written)) ?? containerLogMonitorPeriodMs
}

/** Bytes of nodefs that logs may take before pods are evicted; 0 if eviction is due. Null: unknown. */
export function roomForLogs({
  eviction,
  filesystems,
}: Pick<NodeSubject, 'eviction' | 'filesystems'>): number | null {
  const available = filesystems.nodefs?.availableBytes ?? null
  if (available === null || !eviction) return null
  const watching = watchingThresholds('nodefs.available', { eviction, filesystems })
  return Math.max(0, available - Math.max(0, ...watching.map(({ resolved }) => resolved ?? 0)))
}
