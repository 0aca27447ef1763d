/**
 * How much of the disk a container's logs may take while they are rotated.
 *
 * Replays       pkg/kubelet/logs/container_log_manager.go  rotateLogs, processContainer, rotateLog
 *               pkg/kubelet/kuberuntime/kuberuntime_gc.go  enforceMaxContainersPerEvictUnit: how many dead instances keep their logs
 * Read at       1.24 to 1.37; the interval can be set since 1.30
 * Kept exactly  a log is rotated at its size or beyond, so it grows until the pass after: there is no hard limit, only one by the rate of writing;
 *               an old file goes before another is compressed, so compression never adds to the most
 * Left out      filesystem blocks: each file fills whole blocks
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { containerLogMonitorPeriodMs } from '#facts/kubelet/periods.ts'
import { parseDuration, toMilliseconds } from '#model/duration.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import { isRotationOn, type LogRotatePolicy } from './log-rotation.ts'

export interface LogLoad {
  /** What the runtime writes, its time stamps included. */
  writeBytesPerSecond: number
  monitorIntervalMs: number
  /** From the moment a log is listed until a worker has rotated it. */
  queueWaitMs: number
  /** `--maximum-dead-containers-per-container`; negative: no limit. */
  keptDeadContainers: number
}

export interface LogSpace {
  /** The log itself, the one before it, and the compressed ones. */
  filesPerInstance: number
  bytesPerFile: number
  bytesPerInstance: number
  /** The live one and those dead ones that stay. */
  instances: number
  bytes: number
  /** What must hold for the bound to hold, in words. */
  assumes: string[]
}

/** Null: there is no bound, or a number is none. */
export function logSpaceBound(
  { maxSizeBytes, maxFiles }: LogRotatePolicy,
  load: LogLoad,
): LogSpace | null {
  const { writeBytesPerSecond, monitorIntervalMs, queueWaitMs, keptDeadContainers } = load
  const isKnown = [
    maxFiles,
    writeBytesPerSecond,
    monitorIntervalMs,
    queueWaitMs,
    keptDeadContainers,
  ].every(Number.isFinite)
  if (!isKnown || !isRotationOn({ maxSizeBytes, maxFiles }) || keptDeadContainers < 0) return null
  const gapMs = monitorIntervalMs + queueWaitMs
  // One byte less than the size, and a pass has just looked at it.
  const bytesPerFile =
    Math.max(Number(maxSizeBytes) - 1, 0) + Math.ceil((writeBytesPerSecond * gapMs) / 1000)
  const bytesPerInstance = 2 * bytesPerFile + (maxFiles - 2) * atMostCompressed(bytesPerFile)
  const instances = 1 + keptDeadContainers
  return {
    filesPerInstance: maxFiles,
    bytesPerFile,
    bytesPerInstance,
    instances,
    bytes: bytesPerInstance * instances,
    assumes: [
      `a container never writes more than ${writeBytesPerSecond} bytes of log a second`,
      `each log is looked at, and rotated where it must be, within ${gapMs} ms of the time before`,
      `no more than ${keptDeadContainers} dead instances of a container are kept, and none waits for its removal`,
      'compressed files are counted as if their content could not be compressed',
    ],
  }
}

/** The format's overhead over what is stored without compression: five bytes a block, a last block, header and trailer. */
const atMostCompressed = (bytes: number): number => bytes + 5 * (Math.ceil(bytes / 65_535) + 1) + 18

/** Null where the interval is no duration. */
export function logMonitorIntervalMs(
  { containerLogMonitorInterval }: KubeletConfiguration,
  features: KubeletFeatures,
): number | null {
  if (!features.has('containerLogWorkers') || containerLogMonitorInterval === undefined)
    return containerLogMonitorPeriodMs
  try {
    return toMilliseconds(parseDuration(containerLogMonitorInterval))
  } catch {
    return null
  }
}
