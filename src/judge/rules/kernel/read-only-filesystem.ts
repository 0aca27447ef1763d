import { writeErrorIn } from '#facts/kubelet/event-messages.ts'
import {
  eventEvidence,
  isWithinWindow,
  recentEvents,
  startReasons,
  unreadEvents,
  waitingContainers,
} from '#judge/events/events.ts'
import { contextRule, line, plural, seenFirst, shorten, worldCause } from '#judge/rule.ts'
import { podName } from '#judge/text.ts'

export const readOnlyFilesystem = contextRule({
  id: 'read-only-filesystem',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('read-only'),
  steps: ['replace-failed-disk'],
  needs: ['pods'],
  title: 'A disk of the node can no longer be written',
  why: 'After an error of a disk the kernel makes its filesystem read-only (ext4, btrfs), or shuts it down (XFS). The node stays Ready: the scheduler sends it pods, and each of them fails.',
  fix: 'Replace the node. Of a volume of EBS, look at its status checks.',
  sources: ['kubernetes/kubernetes#99126', 'ext4(5) errors=remount-ro'],

  fact: ({ pods }) =>
    pods
      .flatMap(pod => [
        {
          pod: podName(pod.metadata),
          message: pod.status?.message ?? '',
          time: pod.status?.startTime ?? null,
        },
        ...waitingContainers(pod).map(one => ({ ...one, time: null })),
      ])
      .filter(({ message }) => writeErrorIn(message) !== null),

  *judge(all, context) {
    const { events, at } = context
    const failed = all.filter(({ time }) => isWithinWindow(time, at))
    const refused = recentEvents(events, at, [...startReasons, 'UnexpectedAdmissionError']).filter(
      ({ message }) => writeErrorIn(message) !== null,
    )
    const pods = new Set([
      ...failed.map(({ pod }) => pod),
      ...refused.map(({ pod }) => `${pod?.namespace}/${pod?.name}`),
    ])
    const [first] = pods
    if (first === undefined) return yield* unreadEvents(context)
    const error = [...failed, ...refused].map(({ message }) => writeErrorIn(message))[0]
    yield {
      ...seenFirst(
        `Kubelet or runtime fail with "${error}": ${plural(pods.size, 'pod')} failed, the first ${shorten(first, 300)}.`,
        'The node is Ready all the same, and gets further pods.',
      ),
      evidence: [
        ...failed.slice(0, 1).map(({ pod, message }) => line('object', `pod ${pod}`, message)),
        ...eventEvidence(refused, at),
      ],
    }
  },
})
