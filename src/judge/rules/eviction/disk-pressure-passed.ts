import { weekMs } from '#base/units.ts'
import { agoMs, shownTime } from '#judge/events/events.ts'
import { diskEvictions } from '#judge/events/evictions.ts'
import { evictedWriter, largestPart } from '#judge/help/explained-pressure.ts'
import { diskOf, partCause } from '#judge/help/holder-cause.ts'
import { diskReason, fullestDiskReason, reasonOf } from '#judge/help/holders.ts'
import { staleConditionMs } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  type Failing,
  line,
  nameLength,
  nodeRule,
  percent,
  plural,
  type Satisfied,
  seenFirst,
  settingIn,
  shorten,
  worldCause,
} from '#judge/rule.ts'
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
  why: 'The kubelet evicted or refused pods because of this disk, which has room again. If the workload that holds most of it writes more, pods are evicted again.',
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
    if (conditions.DiskPressure === 'True') return yield* judgeRecentPressure(subject, ledger)
    const evicted = diskEvictions(pods, at, weekMs)
    if (evicted.length === 0) return
    const passed = `The kubelet evicted or refused ${plural(evicted.length, 'pod')} for its disk within a week, and the pressure is over.`
    const evidence = [
      line('event', 'pods evicted or refused for the disk', evicted.length),
      line('event', 'the last of them', evicted.at(-1)?.time ?? 'no time'),
    ]
    const writer = evictedWriter(pods, at, ledger)
    const part = largestPart(ledger)
    if (part) {
      const { holder, lowBytes: low, share } = part
      yield {
        ...reasonOf(partCause(part), subject),
        confidence: 'likely',
        ...seenFirst(
          passed,
          `One container or volume holds ${bytes(low)} (${percent(100 * share)} of the disk), most of what pods write. If it grows, the pressure returns.`,
        ),
        evidence: [...evidence, bytesLine('summary', `largest of ${holder}`, low)],
      }
    } else if (writer) yield evictedWriterFailing(writer, ledger)
    else {
      const reason = fullestDiskReason(subject)
      if (reason)
        yield {
          ...{ title: titles.used, confidence: 'likely', ...reason },
          ...seenFirst(
            `${passed}${reason.seen === undefined ? '' : ` ${reason.seen}`}`,
            'What still holds the disk leaves little room for what filled it then.',
          ),
          evidence,
        }
    }
  },
})

/** The eviction freed what the pod had written. Its next one writes it again. */
function evictedWriterFailing(
  writer: NonNullable<ReturnType<typeof evictedWriter>>,
  ledger: NodeLedger,
): Failing {
  const { capacityBytes = Number.POSITIVE_INFINITY } = diskOf(ledger, 'nodefs') ?? {}
  const { owner, bytes: written } = writer
  return {
    title: titles.gone,
    confidence: 'likely',
    cause: settingIn('workload', 'resources.requests.ephemeral-storage'),
    steps: [{ id: 'move-to-volume', ...writer }],
    ...seenFirst(
      `Container ${shorten(owner.container, nameLength)} of ${shorten(`${owner.namespace}/${owner.pod}`, nameLength)} was using ${bytes(written)}, ${percent((100 * written) / capacityBytes)} of the disk, when its pod was evicted.`,
      'The disk has room again. The next pod of its owner can write as much.',
    ),
    evidence: [bytesLine('event', 'used by the evicted container', written)],
  }
}

/** A condition outlasts its threshold by evictionPressureTransitionPeriod. The rule pressure-stays reports one that stays longer. */
function* judgeRecentPressure(
  subject: Satisfied<'pods' | 'eviction'>,
  ledger: NodeLedger,
): Iterable<Failing> {
  const since = subject.node.status?.conditions?.find(
    ({ type }) => type === 'DiskPressure',
  )?.lastTransitionTime
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
