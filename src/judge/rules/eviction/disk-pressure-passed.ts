import { dayMs, weekMs } from '#base/units.ts'
import { agoMs, isWithinWindow, shownTime } from '#judge/events/events.ts'
import { diskEvictions } from '#judge/events/evictions.ts'
import { diskReason, fullestDiskReason } from '#judge/help/disk-reason.ts'
import { evictedWriter, largestPart } from '#judge/help/explained-pressure.ts'
import { partCause } from '#judge/help/holder-cause.ts'
import { reasonOf } from '#judge/help/holder-steps.ts'
import { staleConditionMs } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  type Failing,
  line,
  nodeRule,
  percent,
  plural,
  type Satisfied,
  seenFirst,
  settingIn,
  shortName,
  worldCause,
} from '#judge/rule.ts'
import { placedWorkload } from '#model/input/record.ts'
import { conditionOf, fullestOf, type NodeLedger } from '#model/prediction.ts'

const titles = {
  young: 'The node reports DiskPressure, and no threshold is met at this moment',
  gone: 'A pod was evicted that had written much of the disk',
  used: 'Pods were evicted or refused for this disk, and most of it is still used',
}

export const diskPressurePassed = nodeRule({
  id: 'disk-pressure-passed',
  family: 'eviction',
  severity: 'medium',
  cause: worldCause('growth'),
  needs: ['pods', 'eviction'],
  titles,
  title: 'After disk pressure, one workload holds most of what pods write',
  why: 'The kubelet evicted or refused pods because of this disk, and no threshold is met now. If the workload that holds most of it writes more, pods are evicted again.',
  fix: 'Give that workload a limit of ephemeral-storage, or a volume for what it writes. If it keeps within its requests, reserve what system and images hold.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go Admit, evictPod',
    'pkg/kubelet/eviction/helpers.go podDiskUsage',
  ],

  *judge(subject) {
    const { pods, eviction, conditions, ledger, at } = subject
    const isMet = eviction.thresholds.some(
      ({ signal, met }) => met === true && conditionOf(signal) === 'DiskPressure',
    )
    if (isMet || !ledger) return
    const gone = evictedWriter(subject, ledger)
    if (conditions.DiskPressure === 'True') return yield* judgeRecentPressure(subject, ledger, gone)
    const evicted = diskEvictions(pods, at, weekMs)
    // The eviction freed what the pod had written. Its next one writes it again.
    const part = largestPart(ledger)
    if (gone && gone.writer.bytes > (part?.lowBytes ?? 0))
      return yield failingOfWriter(gone, subject)
    if (evicted.length === 0) return
    const passed = `The kubelet evicted or refused ${plural(evicted.length, 'pod')} for its disk within a week, and the pressure is over.`
    const evidence = [
      line('event', 'pods evicted or refused for the disk', evicted.length),
      line('event', 'the last of them', evicted.at(-1)?.time ?? 'no time'),
    ]
    if (part) {
      const { holder, lowBytes: low, share } = part
      yield {
        ...reasonOf(partCause(part), subject),
        confidence: 'likely',
        ...seenFirst(
          passed,
          `One container or volume holds ${bytes(low)}, ${percent(100 * share)} of the disk and most of what all pods wrote. If it grows, the pressure returns.`,
        ),
        evidence: [...evidence, bytesLine('summary', `largest of ${holder}`, low)],
      }
    } else {
      const reason = fullestDiskReason(subject)
      if (reason)
        yield {
          title: titles.used,
          confidence: 'likely',
          ...reason,
          ...seenFirst(
            `${passed}${reason.seen === undefined ? '' : ` ${reason.seen}`}`,
            'What still holds the disk leaves little room for what filled it then.',
          ),
          evidence,
        }
    }
  },
})

type EvictedWriter = NonNullable<ReturnType<typeof evictedWriter>>

function failingOfWriter(
  { writer, times, capacityBytes, leftBytes, requestBytes }: EvictedWriter,
  { at, node }: Satisfied<'pods'>,
): Failing {
  const { owner, bytes: written } = writer
  const { namespace, pod, workload } = owner
  // Evictions without a time are not recorded.
  const last = times.at(-1)!
  const isUnfit = written >= leftBytes
  const who =
    workload === null
      ? `Pod ${shortName(`${namespace}/${pod}`)} was`
      : `${plural(times.length, 'pod')} of ${shortName(placedWorkload(namespace, workload))} ${times.length === 1 ? 'was' : 'were'}`
  return {
    title: titles.gone,
    ...(isUnfit && isWithinWindow(last, at, dayMs) && { severity: 'high' }),
    confidence: 'likely',
    cause: settingIn('workload', 'resources.requests.ephemeral-storage'),
    steps:
      requestBytes === null
        ? [{ id: 'move-to-volume', owner, variant: 'needed' }]
        : [{ id: 'spread-pods', ...writer }, { id: 'larger-disk' }],
    ...seenFirst(
      `${who} evicted from ${shortName(node.metadata?.name ?? '')}, the last at ${shownTime(last)}: container ${shortName(owner.container)} had written ${bytes(written)} (layer and logs), ${percent((100 * written) / capacityBytes)} of the disk${requestBytes === null ? '' : `, and requests only ${bytes(requestBytes)}: the scheduler puts others beside it`}. ${bytes(leftBytes)} are left now before the next eviction.`,
      isUnfit
        ? 'If its next pod writes as much here, it is evicted again.'
        : 'The next pod of its owner can write as much.',
    ),
    evidence: [bytesLine('event', 'used by the evicted container', written)],
  }
}

/** A condition outlasts its threshold by evictionPressureTransitionPeriod. The rule pressure-stays reports one that stays longer. */
function* judgeRecentPressure(
  subject: Satisfied<'pods' | 'eviction'>,
  ledger: NodeLedger,
  gone: EvictedWriter | null,
): Iterable<Failing> {
  const since = subject.node.status?.conditions?.find(
    ({ type }) => type === 'DiskPressure',
  )?.lastTransitionTime
  // An eviction before this pressure does not explain it.
  if (gone && (since === undefined || (gone.times.at(-1) ?? '') >= since))
    return yield failingOfWriter(gone, subject)
  const settled = staleConditionMs(subject.configuration)
  const ageMs = since === undefined ? null : agoMs(since, subject.at)
  if (since === undefined || settled === null || ageMs === null || ageMs >= settled) return
  const fullest = fullestOf(ledger.filesystems)
  if (!fullest) return
  const { filesystem, usedBytes, capacityBytes } = fullest
  const reason = diskReason(subject, `${filesystem}.available`)
  yield {
    title: titles.young,
    confidence: 'likely',
    ...reason,
    ...seenFirst(
      `DiskPressure is True since ${shownTime(since)}, and ${filesystem} is ${percent((100 * usedBytes) / capacityBytes)} used now.${reason?.cause.kind === 'setting' ? ` ${reason.seen}` : ''}`,
      'The kubelet refuses pods until no threshold was met for evictionPressureTransitionPeriod. What filled the disk for a moment can do so again.',
    ),
    evidence: [
      line('node', 'condition DiskPressure is True since', since),
      bytesLine('summary', `used of ${filesystem}`, usedBytes),
    ],
  }
}
