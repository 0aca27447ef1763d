/**
 * Container logs that both logrotate and the kubelet rotate: which of the two acts, and what becomes of the lines.
 *
 * Sources: pkg/kubelet/logs/container_log_manager.go (processContainer, removeExcessLogs), logrotate's logrotate.c (findNeedRotating,
 * rotateSingleLog) and config.c (defConfig).
 */

import { formatBytes } from '#base/go/quantity.ts'
import type { Satisfied } from '#judge/rule.ts'
import { line } from '#judge/rule.ts'
import { bounded, bytes, counted, exactBytes, span } from '#judge/text.ts'
import type { Evidence, Severity } from '#model/finding/finding.ts'
import { seenLogsOf } from './log-paths.ts'
import {
  type LogBlock,
  limitBytes,
  rotationsOf,
  type Settings,
  settingOf,
  sizeIn,
} from './logrotate.ts'
import {
  type LogRotation,
  logGrowth,
  logMonitorMs,
  logRotationOf,
  roomForLogs,
  runningLogs,
} from './logs.ts'

interface DoubleRotation {
  consequence: string
  severity: Severity
  evidence: Evidence[]
  fix?: { config: Record<string, unknown> }
}

const isSet = (settings: Settings, name: string) => settingOf(settings, name).canonical !== ''

/** Null: the kubelet does not rotate; `invalid-log-size` reports that. */
export function doubleRotation(
  subject: Satisfied<'host'>,
  { settings }: LogBlock,
): DoubleRotation | null {
  const { configuration } = subject
  const kubelet = configuration && logRotationOf(configuration)
  if (configuration && !kubelet) return null
  const leastBytes = leastSizeOf(settings)
  const isIdle = kubelet !== null && leastBytes !== null && leastBytes > kubelet.sizeBytes
  return {
    consequence: isIdle
      ? `The kubelet acts first: it rotates a log at ${bounded(kubelet.maxSize)}, looking every ${span(logMonitorMs(subject))}, so hardly one comes to the ${bytes(leastBytes)} that logrotate waits for.`
      : `The kubelet rotates the same logs, and neither knows of the other. ${whatHappens(settings)}`,
    severity: !isIdle && isLeftBehind(settings) ? 'medium' : 'low',
    evidence: [
      line('configz', 'containerLogMaxSize', kubelet ? bounded(kubelet.maxSize) : 'not known'),
      line('configz', 'containerLogMaxFiles', kubelet ? String(kubelet.files) : 'not known'),
      ...debrisOf(subject),
    ],
    fix: kubelet ? kubeletsOwn(subject, settings, kubelet) : undefined,
  }
}

/** Minimum size in bytes at which logrotate touches a log. Null: only time decides. */
function leastSizeOf(settings: Settings) {
  const limit = limitBytes(settings)
  if (sizeIn(settings, 'size') !== null) return limit
  const whenDue = sizeIn(settings, 'minsize')
  return whenDue === null ? null : Math.min(whenDue, limit ?? whenDue)
}

const isCopied = (settings: Settings) => isSet(settings, 'copytruncate') || isSet(settings, 'copy')

/** The log is renamed and an empty file replaces it. The kubelet then requests no reopening. */
const isLeftBehind = (settings: Settings) => !isCopied(settings) && isSet(settings, 'create')

function whatHappens(settings: Settings) {
  const name = isSet(settings, 'dateext') ? '0.log-DATE' : '0.log.1'
  const copies = isSet(settings, 'dateext')
    ? `The kubelet knows no ${name}: what logrotate does not remove stays until the pod is gone.`
    : `The kubelet takes ${name} for one of its own, and removes it before its older ones.`
  if (isSet(settings, 'copytruncate'))
    return `Lines written between copy and truncation are lost (copytruncate), and log readers start again. ${copies}`
  if (isSet(settings, 'copy'))
    return `Each run adds a copy of lines that the kubelet keeps already. ${copies}`
  return isLeftBehind(settings)
    ? `The container keeps writing to the renamed ${name}, and logrotate creates an empty log (create). kubectl logs shows no new lines, and the renamed file grows unrotated until the container restarts.`
    : `The container keeps writing to the renamed ${name} until the kubelet finds the log missing and has it reopened. ${copies}`
}

function debrisOf({ host }: Satisfied<'host'>) {
  const others = seenLogsOf(host)?.byOthers ?? null
  if (others === null) return []
  const [first] = others.sample
  const example = first ? `, as ${bounded(first.path, 200)}` : ''
  const value =
    others.files === 0
      ? 'none'
      : `${counted(others.files, 'file')}, ${exactBytes(others.bytes)}${example}`
  return [line('host', 'files there that were rotated, but not by the kubelet', value)]
}

const mebibyte = 1024 ** 2
const mostFiles = 100

/** The block's size and count as kubelet settings. Undefined if the size is no whole number of MiB, or the disk has no room. */
function kubeletsOwn(subject: Satisfied<'host'>, settings: Settings, kubelet: LogRotation) {
  const sizeBytes = limitBytes(settings)
  const files = (rotationsOf(settings) ?? 0) + 1
  if (
    sizeBytes === null ||
    sizeBytes < mebibyte ||
    sizeBytes % mebibyte !== 0 ||
    files < 2 ||
    files > mostFiles
  )
    return undefined
  if (sizeBytes === kubelet.sizeBytes && files === kubelet.files) return undefined
  const { pods, summary } = subject
  const room = roomForLogs(subject)
  const hasRoom =
    pods !== null &&
    summary !== null &&
    room !== null &&
    logGrowth(runningLogs(subject), sizeBytes * files) <= room
  if (sizeBytes * files > kubelet.perContainerBytes && !hasRoom) return undefined
  return { config: { containerLogMaxSize: formatBytes(sizeBytes), containerLogMaxFiles: files } }
}
