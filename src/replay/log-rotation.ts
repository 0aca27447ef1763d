/**
 * Container log rotation: what one pass makes of a container's log files, and what they may take on the disk.
 *
 * Replays       pkg/kubelet/logs/container_log_manager.go  NewContainerLogManager, parseMaxSize, rotateLogs, processContainer, rotateLog,
 *                                                          filterUnusedLogs, removeExcessLogs, compressLog, rotateLatestLog
 * Read at       1.24 to 1.37; alike in all but the workers and the interval, which can be set since 1.30
 * Kept exactly  only running containers; at the size is enough; sizes by AsInt64, so `1.5Gi` is refused and a negative one turns rotation off;
 *               the oldest by name are removed before the newest is compressed and the log is rotated; leftovers only go with a rotation
 * Left out      files that cannot be read, written or removed; how small gzip makes a file
 */
import { messageOf } from '#model/error-message.ts'
import { goQuote } from '#model/go-text.ts'
import { asInt64, parseQuantity } from '#model/quantity.ts'

export interface LogFile {
  name: string
  /** Null: not known, as of a file that was compressed. A log of unknown size is left as it is. */
  sizeBytes: number | null
}

export interface LogRotatePolicy {
  /** Negative: no rotation. */
  maxSizeBytes: bigint
  maxFiles: number
}

/** `message` is upstream's text: the kubelet would not start. */
class LogRotationError extends Error {}

/** @throws LogRotationError: upstream's text, without the prefix of the caller. Upstream: NewContainerLogManager. */
export function parseLogRotatePolicy(maxSize: string, maxFiles: number): LogRotatePolicy {
  if (maxFiles <= 1) throw new LogRotationError(`invalid MaxFiles ${maxFiles}, must be > 1`)
  try {
    const maxSizeBytes = asInt64(parseQuantity(maxSize))
    if (maxSizeBytes === null) throw new LogRotationError('invalid max log size')
    return { maxSizeBytes, maxFiles }
  } catch (error) {
    const why = messageOf(error)
    throw new LogRotationError(`failed to parse container log max size ${goQuote(maxSize)}: ${why}`)
  }
}

export const isRotationOn = ({ maxSizeBytes }: LogRotatePolicy): boolean => maxSizeBytes >= 0n

export interface LogRotationPass {
  /** The path or name of the log that is written to. */
  log: string
  /** Files of this container instance, by their names; others are not touched. */
  files: readonly LogFile[]
  isRunning: boolean
  /** The node's local time, as upstream writes it: `20250304-050607`. */
  timestamp: string
  /** The runtime cannot open a new log. */
  reopenFails?: boolean
}

/** The files after one pass, by name. */
export function rotateContainerLog(policy: LogRotatePolicy, pass: LogRotationPass): LogFile[] {
  const files = new Map(pass.files.map(file => [file.name, file]))
  if (isRotationOn(policy) && pass.isRunning) processContainer(policy, pass, files)
  return [...files.values()].sort(byName)
}

type Files = Map<string, LogFile>

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)

function processContainer(
  { maxSizeBytes, maxFiles }: LogRotatePolicy,
  pass: LogRotationPass,
  files: Files,
): void {
  const { log, timestamp, reopenFails = false } = pass
  const current = files.get(log) ?? { name: log, sizeBytes: 0 }
  // For a missing log the runtime is first asked to reopen it.
  if (!files.has(log) && reopenFails) return
  files.set(log, current)
  if (current.sizeBytes === null || current.sizeBytes < maxSizeBytes) return

  const kept = removeExcessLogs(filterUnusedLogs(log, files), maxFiles, files)
  for (const name of kept.filter(name => !name.endsWith('.gz'))) {
    files.delete(name)
    files.set(`${name}.gz`, { name: `${name}.gz`, sizeBytes: null })
  }
  if (reopenFails) return
  const rotated = `${log}.${timestamp}`
  files.set(rotated, { name: rotated, sizeBytes: current.sizeBytes })
  files.set(log, { name: log, sizeBytes: 0 })
}

/** The rotated files that are in use, oldest first; the others are removed. */
function filterUnusedLogs(log: string, files: Files): string[] {
  const rotated = [...files.keys()].filter(name => name.startsWith(`${log}.`)).sort()
  const isInUse = (name: string) =>
    !name.endsWith('.tmp') && (name.endsWith('.gz') || !files.has(`${name}.gz`))
  const inUse = rotated.filter(isInUse)
  const unused = rotated.filter(name => !isInUse(name))
  for (const name of unused) files.delete(name)
  return inUse
}

/** Beside the log and its newest rotated file, that will come now, at most `maxFiles` − 2 stay. */
function removeExcessLogs(rotated: string[], maxFiles: number, files: Files): string[] {
  const excess = Math.max(rotated.length - (maxFiles - 2), 0)
  for (const name of rotated.slice(0, excess)) files.delete(name)
  return rotated.slice(excess)
}
