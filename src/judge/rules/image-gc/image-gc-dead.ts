import { gcErrorOf, runtimeErrorIn } from '#facts/kubelet/event-messages.ts'
import { gcMinutes } from '#facts/kubelet/periods.ts'
import {
  eventEvidence,
  eventTimes,
  failingGc,
  isJustReported,
  recentEvents,
  timesText,
  unreadEvents,
  withEvidence,
} from '#judge/events/events.ts'
import { whyNoRound } from '#judge/help/thresholds.ts'
import {
  bytes,
  contextRule,
  type Failing,
  line,
  type NodeContext,
  type NodeEvent,
  type Satisfied,
  seenFirst,
  shorten,
  type Undecided,
  worldCause,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'

const titles = { impossible: 'A disk reports more free bytes than it has: nothing sees it fill' }

export const imageGcDead = contextRule({
  id: 'image-gc-dead',
  family: 'image-gc',
  severity: 'high',
  cause: worldCause('gc-fails'),
  steps: ['read-journal', 'advice'],
  needs: ['imageGC'],
  titles,
  title: 'Image garbage collection fails every time: it sees no image filesystem',
  why: 'The runtime reports an image mount point that the kubelet cannot measure. Its capacity is then 0, and every round ends in an error before anything is deleted for space. Eviction thresholds on imagefs cannot be measured either. Other errors of garbage collection that the kubelet repeats in events are shown in its own words. Errors in the first 10 min after its start do not count.',
  fix: 'Run crictl imagefsinfo, and make sure that the kubelet can measure the mount point that it reports (root in the configuration of the runtime). Restart the runtime first, then the kubelet. For another error, look at the runtime.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go GarbageCollect',
    'pkg/kubelet/stats/cri_stats_provider.go ImageFsStats',
    'pkg/kubelet/kubelet.go StartGarbageCollection',
    'awslabs/amazon-eks-ami#1947',
  ],
  appliesTo: ({ imageGC }) => imageGC?.enabled !== false,

  fact: subject => [...judgeStatistics(subject)],

  *judge(fact, context) {
    const { events, at } = context
    // If the statistics show the failure at this moment, events serve only as evidence.
    const isSeen = fact.some(each => 'consequence' in each)
    yield* withEvidence(fact, eventEvidence(recentEvents(events, at, ['InvalidDiskCapacity']), at))
    yield* failuresOf(context, !isSeen)
    yield* unreadEvents(context)
  },

  judgeUnread: failuresOf,
})

/** Container GC runs even if image GC is off. @param isImageGc whether image GC is judged by its events */
function* failuresOf({ events, at }: NodeContext, isImageGc: boolean): Iterable<Failing> {
  if (isImageGc)
    yield* failingOf(
      'Image',
      [failingGc('InvalidDiskCapacity', events, at), failingGc('ImageGCFailed', events, at)],
      at,
    )
  yield* failingOf('Container', [failingGc('ContainerGCFailed', events, at)], at)
}

const stepsOfError: Readonly<Record<ReturnType<typeof gcErrorOf>, readonly StepAction[]>> = {
  unmeasured: [{ id: 'read-journal' }, { id: 'advice' }],
  // Ended pods keep their containers, and these keep their images in use.
  'in-use': [{ id: 'find-container' }, { id: 'prune-dead-containers' }],
  other: [{ id: 'read-journal' }],
}

/** @param byReason events, each list of one reason */
function* failingOf(
  what: 'Image' | 'Container',
  byReason: NodeEvent[][],
  at: string,
): Iterable<Failing> {
  const newest = byReason.flat().at(-1)
  if (!newest) return
  // One round can produce events of both reasons: the larger count is the number of rounds.
  const times = byReason
    .map(events => eventTimes(events, at))
    .reduce((a, b) => (b.count > a.count ? b : a))
  yield {
    title: `${what} garbage collection fails again and again`,
    // A later round might have succeeded: a success produces no event.
    confidence: isJustReported(times.last, at) ? 'certain' : 'likely',
    ...seenFirst(
      `${what} GC ended in an error ${timesText(times)} ("${shorten(runtimeErrorIn(newest.message), 140)}").`,
    ),
    steps: stepsOfError[gcErrorOf(newest.message)],
    evidence: byReason.flatMap(events => eventEvidence(events, at)),
  }
}

function* judgeStatistics(subject: Satisfied<'imageGC'>): Iterable<Failing | Undecided> {
  const { imageGC, filesystems } = subject
  const { triggered, error } = imageGC
  const { capacityBytes = null, availableBytes = null } = filesystems.imagefs ?? {}
  if (capacityBytes && availableBytes !== null && availableBytes > capacityBytes) {
    const both = `${bytes(availableBytes)} available of a capacity of ${bytes(capacityBytes)}`
    yield {
      title: titles.impossible,
      steps: [{ id: 'read-devices' }, { id: 'replace-node' }],
      ...seenFirst(
        `The image filesystem reports ${both}.`,
        'Image GC takes it for empty, and no threshold is ever met. A damaged filesystem counts so.',
      ),
      evidence: [line('summary', 'image filesystem', both)],
    }
  }
  if (triggered === null) yield { unknown: whyNoRound(subject) }
  // A round that is not triggered ends in an error only if the image filesystem has no capacity.
  if (triggered !== false || error === null) return
  yield {
    ...seenFirst(
      `Every ${gcMinutes} min image GC ends in "${error}" (events InvalidDiskCapacity, ImageGCFailed): no image is deleted for space, however full the disk.`,
    ),
    evidence: [
      line('computed', 'by replay the kubelet reports', error),
      line(
        'computed',
        'image filesystem capacity',
        capacityBytes === null ? 'not in stats/summary' : bytes(capacityBytes),
      ),
    ],
  }
}
