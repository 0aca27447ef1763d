import { featuresOf } from '#facts/kubelet/features.ts'
import { containerLogMonitorPeriodMs } from '#facts/kubelet/periods.ts'
import { unrotatedReason } from '#judge/help/disk-reason.ts'
import { diskOf, holderCause, lineOf } from '#judge/help/holder-cause.ts'
import { reasonOf } from '#judge/help/holder-steps.ts'
import { unobserved } from '#judge/help/thresholds.ts'
import {
  type LogRotation,
  logMonitorMs,
  logRates,
  logRotationOf,
  maxLogBytes,
  remainingLogBytes,
  roomForLogs,
  unrotatedLogs,
} from '#judge/logs/logs.ts'
import type { ContainerLog } from '#judge/logs/running-logs.ts'
import {
  bytes,
  bytesLine,
  type Failing,
  isLinux,
  line,
  logRotation,
  nodeRule,
  type Satisfied,
  shortName,
  span,
} from '#judge/rule.ts'

/** Logs that rotation holds below this share of the disk do not fill the disk. */
const leastShare = 0.1
/** Shares of the disk from which on logs that nothing rotates are reported, call for somebody, and are urgent. */
const unrotated = { leastShare: 0.05, mediumShare: 0.1, highShare: 0.5 }

const titles = { unrotated: 'A container log is far larger than rotation permits' }

export const logRotationOvershoot = nodeRule({
  id: 'log-rotation-overshoot',
  family: 'logs',
  severity: 'low',
  cause: logRotation,
  needs: ['configuration', 'eviction', 'pods', 'summary'],
  titles,
  title: 'Rotated container logs may take more than the disk has left',
  why: `Each running container may keep containerLogMaxFiles files of containerLogMaxSize, and one that was restarted as many again of its dead instance. The size is no hard limit either: a log is looked at every ${containerLogMonitorPeriodMs / 1000} s and grows meanwhile, longer where few workers have many logs to rotate. What the files may take beyond the room before eviction ends in DiskPressure.`,
  fix: 'Lower containerLogMaxSize or containerLogMaxFiles, or give the node a larger disk; more containerLogMaxWorkers (kubelet 1.30 and later) keep logs near their size.',
  sources: [
    'pkg/kubelet/logs/container_log_manager.go rotateLogs, rotateLog',
    'pkg/kubelet/stats/host_stats_provider.go getPodContainerLogStats',
    'kubernetes#110630',
    'kubernetes#134287',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { configuration, filesystems, at } = subject
    const rotation = logRotationOf(configuration)
    // The rule invalid-log-size reports refused values and rotation that is off.
    if (!rotation) return
    const { perContainerBytes } = rotation
    const room = roomForLogs(subject)
    const capacity = filesystems.nodefs?.capacityBytes ?? null
    if (room === null || capacity === null) return yield unobserved(subject, 'what nodefs has left')
    const logs = subject.runningLogs()
    const large = unrotatedFailing(subject, logs, rotation, capacity)
    if (large) return yield large
    // Without room the kubelet evicts already, which eviction-due reports.
    if (room === 0) return
    const evidence = () => rotationLines(subject, rotation, logs, room)
    const monitorMs = logMonitorMs(subject)
    const bytesPerMs = logRates(logs, at).reduce((sum, rate) => sum + rate.bytesPerMs, 0)
    // The duration of a rotation pass is unknown. The minimum is the log growth between two checks with idle workers.
    const overshootBytes = Math.trunc(bytesPerMs * monitorMs)
    if (overshootBytes > room)
      return yield {
        confidence: 'likely',
        consequence: `The logs grow by ${bytes(bytesPerMs * 1000)} a second or more. Rotation looks every ${span(monitorMs)}: they pass containerLogMaxSize by ${bytes(overshootBytes)} before it can act, and after ${bytes(room)} more on nodefs pods are evicted.`,
        evidence: [
          ...evidence(),
          bytesLine(
            'computed',
            'logs were written a second, at least',
            Math.round(bytesPerMs * 1000),
          ),
          bytesLine('computed', 'written between two looks, at least', overshootBytes),
        ],
      }
    const growthBytes = remainingLogBytes(logs, perContainerBytes)
    if (maxLogBytes(logs, perContainerBytes) < capacity * leastShare || growthBytes <= room) return
    yield {
      // Then the bound is none: one container may fill the disk.
      ...(perContainerBytes > capacity && { severity: 'medium' }),
      confidence: 'possible',
      consequence: `The logs of ${logs.length} running containers may grow by ${bytes(growthBytes)} before rotation holds them; after ${bytes(room)} more on nodefs pods are evicted.`,
      evidence: [...evidence(), bytesLine('computed', 'logs may grow by', growthBytes)],
    }
  },
})

/** Logs that hold a part of the disk, and that rotation would long have cut. Null: there are none. */
function unrotatedFailing(
  subject: Satisfied<'configuration'>,
  logs: readonly ContainerLog[],
  { maxSize, files, perContainerBytes }: LogRotation,
  capacityBytes: number,
): Failing | null {
  const { ledger } = subject
  const large = unrotatedLogs(logs, perContainerBytes)
  const [log] = large
  const disk = ledger && diskOf(ledger, 'nodefs')
  const held = disk && lineOf(disk, 'container-logs')
  const share = large.reduce((sum, one) => sum + one.usedBytes, 0) / capacityBytes
  if (!log || !ledger || !disk || !held || share < unrotated.leastShare) return null
  const { usedBytes: size } = log
  const reason = reasonOf(holderCause(held, disk, ledger), subject)
  return {
    ...(unrotatedReason(reason, subject) ?? reason),
    title: titles.unrotated,
    severity: severityOf(share),
    consequence: `The log of ${shortName(log.name)} has ${bytes(size)}, where rotation permits ${bytes(perContainerBytes)}. Other values of containerLogMaxSize change nothing then, and the log grows until pods are evicted.`,
    evidence: [
      line('configz', 'containerLogMaxSize', maxSize),
      line('configz', 'containerLogMaxFiles', files),
      bytesLine('summary', `log of ${shortName(log.name)}`, size),
      bytesLine('summary', 'capacity of nodefs', capacityBytes),
    ],
  }
}

function severityOf(share: number): 'low' | 'medium' | 'high' {
  if (share < unrotated.mediumShare) return 'low'
  return share < unrotated.highShare ? 'medium' : 'high'
}

function rotationLines(
  { identity, configuration }: Satisfied<'configuration'>,
  { maxSize, files }: NonNullable<ReturnType<typeof logRotationOf>>,
  logs: readonly ContainerLog[],
  roomBytes: number,
) {
  const restarted = logs.filter(({ wasRestarted }) => wasRestarted).length
  const lines = [
    line('configz', 'containerLogMaxSize', maxSize),
    line('configz', 'containerLogMaxFiles', files),
    line('runtime', 'running containers', logs.length),
  ]
  if (restarted > 0)
    lines.push(line('computed', 'of them restarted, with the logs of a dead instance', restarted))
  if (featuresOf(identity.kubeletVersion).has('containerLogWorkers')) {
    const workers = String(configuration.containerLogMaxWorkers ?? 1)
    lines.push(line('configz', 'containerLogMaxWorkers', workers))
  }
  return [...lines, bytesLine('computed', 'nodefs has left before eviction', roomBytes)]
}
