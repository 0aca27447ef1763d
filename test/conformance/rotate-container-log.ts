/**
 * Container log rotation: what one pass does with a container's log files. No rule reads it.
 *
 * Replays       pkg/kubelet/logs/container_log_manager.go  rotateLogs, processContainer, rotateLog,
 *                                                          filterUnusedLogs, removeExcessLogs, compressLog, rotateLatestLog
 * Read at       1.29 to 1.37; alike except for workers and interval, which can be set since 1.30
 * Kept exactly  only running containers; a size equal to the limit rotates; sizes by AsInt64: `1.5Gi` is refused, a negative size turns rotation off;
 *               the oldest by name are removed before the newest is compressed and the log is rotated; leftovers are removed only with a rotation
 * Left out      files that cannot be read, written or removed; how small gzip makes a file
 */

import type { LogRotatePolicy } from '#replay/configuration/validation/fields.ts'

export interface LogFile {
  name: string
  /** Null: not known, as for a compressed file. A log of unknown size is not rotated. */
  sizeBytes: number | null
}

export const isRotationOn = ({ maxSizeBytes }: LogRotatePolicy): boolean => maxSizeBytes >= 0n

export interface LogRotationPass {
  /** The path or name of the log that the container writes to. */
  log: string
  /** Files of this container instance, by name. Other files are not touched. */
  files: readonly LogFile[]
  isRunning: boolean
  /** The node's local time, as upstream writes it: `20250304-050607`. */
  timestamp: string
  /** True: the runtime cannot open a new log. */
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
) {
  const { log, timestamp, reopenFails = false } = pass
  const current = files.get(log) ?? { name: log, sizeBytes: 0 }
  // If the log is missing, the runtime is first asked to reopen it.
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

/** The rotated files in use, oldest first. The other rotated files are removed. */
function filterUnusedLogs(log: string, files: Files) {
  const rotated = [...files.keys()].filter(name => name.startsWith(`${log}.`)).sort()
  const isInUse = (name: string) =>
    !name.endsWith('.tmp') && (name.endsWith('.gz') || !files.has(`${name}.gz`))
  const inUse = rotated.filter(isInUse)
  const unused = rotated.filter(name => !isInUse(name))
  for (const name of unused) files.delete(name)
  return inUse
}

/** Keeps at most `maxFiles` − 2 files, beside the log and the rotated file that this pass adds. */
function removeExcessLogs(rotated: string[], maxFiles: number, files: Files) {
  const excess = Math.max(rotated.length - (maxFiles - 2), 0)
  for (const name of rotated.slice(0, excess)) files.delete(name)
  return rotated.slice(excess)
}
