import { shortfallBytes as bytesIn } from '#facts/kubelet/event-messages.ts'
import { gcMinutes } from '#facts/kubelet/periods.ts'
import {
  eventEvidence,
  eventTimes,
  isJustReported,
  shortfalls,
  timesText,
  unreadEvents,
  withEvidence,
} from '#judge/events/events.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import type { Reason } from '#judge/help/holder-cause.ts'
import { lowThresholds, whyNoRound } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  contextRule,
  type Failing,
  isLinux,
  line,
  lines,
  type NodeEvent,
  plural,
  type Satisfied,
  seenFirst,
  type Undecided,
  worldCause,
} from '#judge/rule.ts'

export const unreachableGcLowThreshold = contextRule({
  id: 'unreachable-gc-low-threshold',
  family: 'image-gc',
  severity: 'high',
  cause: worldCause('growth'),
  steps: ['look-on-node'],
  needs: ['imageGC'],
  title: 'Image garbage collection cannot free what it has to',
  why: 'The disk is above the high threshold, and all images that may go are counted as less than must go. Each round deletes what it can, fails, and is repeated: what fills the disk is something else than unused images.',
  fix: 'Find what else uses the disk: images in use, container logs and writable layers, emptyDir volumes, files of the host. Free space there, or take a larger disk. Where the disk has room, thresholds below what is in use are raised instead.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go GarbageCollect, freeSpace',
    'kubernetes/kubernetes#71869',
  ],
  appliesTo: ({ imageGC }) => imageGC?.enabled !== false,

  fact: subject => {
    const { triggered, reachesLow } = subject.imageGC
    // If the replay finds enough to free, the kubelet's events are doubted.
    return {
      replayed: [...judgeReplay(subject)].map(each =>
        'consequence' in each ? { ...reasonOf(subject), ...each } : each,
      ),
      triggered,
      isWindows: !isLinux(subject),
      isDoubted: triggered === null || reachesLow === true,
      held: triggered === false ? null : heldBeside(subject),
    }
  },

  *judge(fact, context) {
    const { events, at } = context
    const failures = shortfalls(events, at)
    const observed = fact.replayed.map(each =>
      'consequence' in each ? withFailures(each, failures, { ...fact, at }) : each,
    )
    yield* withEvidence(observed, evidenceOf(failures, at))
    // Usage below the trigger means that the shortage is over: space was freed in another way.
    if (fact.triggered === false || fact.replayed.some(each => 'consequence' in each)) return
    if (failures.length === 0) {
      yield* unreadEvents(context)
      return
    }
    yield { ...failingOf(failures, at, fact.isDoubted), ...fact.held }
  },

  *judgeUnread({ events, at }, applies) {
    const failures = shortfalls(events, at)
    if (applies && failures.length > 0) yield failingOf(failures, at, true)
  },
})

/** Of a disk with room, the thresholds are the cause: nothing is at risk. */
function reasonOf(subject: Satisfied<'imageGC'>): Partial<Failing> | null {
  const low = lowThresholds(subject)
  return low ? { severity: 'medium', ...low } : diskReason(subject, 'imagefs.available')
}

/** What holds the disk, if image GC does not free it. */
function heldBeside(subject: Satisfied<'imageGC'>): Pick<Reason, 'cause' | 'steps'> | null {
  const { cause, steps } = diskReason(subject, 'imagefs.available') ?? {}
  const isOfImages = cause?.kind === 'holder' && cause.freedBy === 'image-gc'
  return !cause || !steps || isOfImages ? null : { cause, steps }
}

/** What the kubelet reports says more than the replay. If no image may go, and nothing measures the disk, more room is what ends it. */
function withFailures(
  failing: Failing,
  failures: readonly NodeEvent[],
  { at, isWindows }: { at: string; isWindows: boolean },
): Failing {
  const newest = failures.at(-1)
  if (!newest || failing.seen !== undefined) return failing
  const { cause, steps = [], consequence } = failing
  const isIdle = bytesIn(newest.message)?.freedBytes === 0
  return {
    ...failing,
    ...seenFirst(
      `Image GC failed ${timesText(eventTimes(failures, at))}: ${freedIn(newest)}.`,
      consequence,
    ),
    ...(isIdle &&
      isWindows &&
      cause?.kind === 'unread' && { steps: [...steps, { id: 'larger-disk' }] }),
  }
}

function failingOf(failures: readonly NodeEvent[], at: string, isDoubted: boolean): Failing {
  const { last, ...times } = eventTimes(failures, at)
  return {
    confidence: !isDoubted && isJustReported(last, at) ? 'certain' : 'likely',
    ...seenFirst(
      `Every ${gcMinutes} min the kubelet deletes whatever image may go, and it is not enough: it said so ${timesText({ ...times, last })}.`,
      'While the disk grows, eviction is next.',
    ),
    evidence: evidenceOf(failures, at),
  }
}

const evidenceOf = (failures: readonly NodeEvent[], at: string) =>
  eventEvidence(
    failures.map(event => ({ ...event, message: freedIn(event) })),
    at,
  )

function freedIn({ message }: NodeEvent): string {
  const { wantedBytes: wanted, freedBytes: freed } = bytesIn(message) ?? {}
  return freed === undefined
    ? message
    : `${wanted == null ? '' : `asked for ${bytes(wanted)}, `}freed ${bytes(freed)}`
}

function* judgeReplay(subject: Satisfied<'imageGC'>): Iterable<Failing | Undecided> {
  const { triggered, reachesLow, bytesToFree, freedBytes, shortfallBytes, deletions, error } =
    subject.imageGC
  if (triggered === null || (!triggered && error !== null)) yield { unknown: whyNoRound(subject) }
  if (!triggered || reachesLow === true) return
  if (reachesLow === null)
    return yield {
      unknown: 'how much image GC can free is not fixed by what is known of the images',
    }
  const going = (deletions ?? []).filter(({ reason }) => reason === 'space')
  const wanted = bytesToFree === null ? 'to free space' : `to free ${bytes(bytesToFree)}`
  const found =
    going.length === 0
      ? 'no image'
      : `${plural(going.length, 'image')} ${freedBytes === null ? '(too little)' : `of ${bytes(freedBytes)}`}`
  yield {
    // Deletions by age come first and might free enough for the round.
    confidence: deletions?.some(({ reason }) => reason === 'age') ? 'likely' : 'certain',
    consequence: `Every ${gcMinutes} min the kubelet has ${wanted}, finds ${deletions ? found : 'too few images'} to delete, and reports FreeDiskSpaceFailed. While the disk grows, eviction is next.`,
    evidence: lines(
      line('configz', 'imageGCLowThresholdPercent', subject.imageGC.lowThresholdPercent),
      bytesToFree !== null && bytesLine('computed', 'to free', bytesToFree),
      freedBytes !== null && bytesLine('computed', 'images that may go, as counted', freedBytes),
      shortfallBytes !== null && bytesLine('computed', 'short of', shortfallBytes),
      error !== null && line('computed', 'by replay the kubelet reports', error),
    ),
  }
}
