import { mebibyte } from '#base/units.ts'
import { diskOf, lineOf, roomy } from '#judge/help/holder-cause.ts'
import {
  type LogRate,
  logRates,
  logRotationOf,
  remainingLogBytes,
  roomForLogs,
} from '#judge/logs/logs.ts'
import type { ContainerLog } from '#judge/logs/running-logs.ts'
import {
  bytes,
  isLinux,
  line,
  logRotation,
  nodeRule,
  plural,
  shortName,
  span,
} from '#judge/rule.ts'

const shown = 5
/** Share of a short disk from which on logs fill it. */
const largeShare = 0.1
const tidySizes = [20, 50, 100, 200, 500, 1024, 2048, 5120, 10_240]

export const logRetentionTooShort = nodeRule({
  id: 'log-retention-too-short',
  family: 'logs',
  severity: 'low',
  cause: logRotation,
  needs: ['configuration', 'pods', 'summary'],
  policy: ['logRetentionMinutes'],
  title: 'Container logs are rotated away within minutes',
  why: 'The kubelet keeps containerLogMaxFiles files of containerLogMaxSize for a container, and removes what is older. One that writes fast keeps a short past: kubectl logs no longer shows how a trouble began, and a log agent that stands still for that long loses lines for good.',
  fix: 'Raise containerLogMaxSize (or containerLogMaxFiles) as far as the disk allows, or have the container write less. Policy logRetentionMinutes says how long logs must last.',
  sources: [
    'pkg/kubelet/logs/container_log_manager.go rotateLog, removeExcessLogs',
    'pkg/kubelet/stats/host_stats_provider.go getPodContainerLogStats',
    'METR/hawk#537',
  ],
  appliesTo: isLinux,

  *judge(subject, policy) {
    const { configuration, at } = subject
    const rotation = logRotationOf(configuration)
    // The rule invalid-log-size reports refused values and rotation that is off.
    if (!rotation) return
    // Rotation does not bound logs that fill a disk: larger ones are no advice.
    const disk = subject.ledger && diskOf(subject.ledger, 'nodefs')
    const heldBytes = (disk && lineOf(disk, 'container-logs')?.bytes) ?? 0
    const isShort = disk != null && disk.usedBytes > roomy * disk.capacityBytes
    if (isShort && heldBytes >= largeShare * disk.capacityBytes) return
    const logs = subject.runningLogs()
    if (
      logs.length > 0 &&
      logs.every(({ usedBytes, sinceMs }) => usedBytes === null || sinceMs === null)
    )
      return yield {
        unknown: 'stats/summary does not tell what the containers have written to their logs',
      }
    const retentionMs = ({ bytesPerMs }: LogRate) => rotation.perContainerBytes / bytesPerMs
    const limitMs = policy.logRetentionMinutes * 60_000
    const short = logRates(logs, at)
      // A larger log than rotation keeps has lost no lines yet.
      .filter(
        rate => retentionMs(rate) < limitMs && rate.usedBytes <= 2 * rotation.perContainerBytes,
      )
      .toSorted((a, b) => b.bytesPerMs - a.bytesPerMs)
    const [worst, ...others] = short
    if (!worst) return
    const perMinute = ({ bytesPerMs }: LogRate) => bytesPerMs * 60_000
    yield {
      // The rate is the mean since the start and might change.
      confidence: 'likely',
      consequence: `Container ${shortName(worst.name)} writes ${bytes(perMinute(worst))} of log a minute or more. At that rate the ${bytes(rotation.perContainerBytes)} that are kept of it last ${span(retentionMs(worst))} at most, and older lines are gone.${others.length === 0 ? '' : ` So it is with ${plural(others.length, 'other')}.`}`,
      evidence: [
        line('configz', 'containerLogMaxSize', rotation.maxSize),
        line('configz', 'containerLogMaxFiles', rotation.files),
        line('policy', 'policy logRetentionMinutes', policy.logRetentionMinutes),
        ...short
          .slice(0, shown)
          .map(rate =>
            line(
              'computed',
              `container ${shortName(rate.name)}`,
              `${bytes(rate.usedBytes)} of log within ${span(rate.elapsedMs)}: kept for ${span(retentionMs(rate))} at most`,
            ),
          ),
      ],
      fix: largerSize(
        (worst.bytesPerMs * limitMs) / rotation.files,
        rotation.files,
        logs,
        roomForLogs(subject),
      ),
    }
  },
})

/** Undefined: the disk has no room for larger logs, or no listed size is large enough. */
function largerSize(
  neededBytes: number,
  files: number,
  logs: readonly ContainerLog[],
  room: number | null,
) {
  const mebibytes = tidySizes.find(size => size * mebibyte >= neededBytes)
  if (
    mebibytes === undefined ||
    room === null ||
    remainingLogBytes(logs, mebibytes * mebibyte * files) > room
  )
    return undefined
  return {
    config: {
      containerLogMaxSize: mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`,
    },
  }
}
