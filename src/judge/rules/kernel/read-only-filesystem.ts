import { writableInstead } from '#facts/host-folders.ts'
import { refusedHostPathIn, writeErrorIn } from '#facts/kubelet/event-messages.ts'
import {
  eventEvidence,
  eventTimes,
  isWithinWindow,
  recentEvents,
  startReasons,
  timesText,
  unreadEvents,
  waitingContainers,
} from '#judge/events/events.ts'
import { hasRoom } from '#judge/help/space-errors.ts'
import {
  contextRule,
  type Failing,
  line,
  type NodeEvent,
  type NodeSubject,
  percent,
  placedPod,
  plural,
  podName,
  seenFirst,
  shorten,
  shortName,
  worldCause,
} from '#judge/rule.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import { podOwner } from '#model/prediction.ts'

const reasons = [...startReasons, 'BackOff', 'FailedMount', 'UnexpectedAdmissionError']

const titles = {
  byDesign: 'A pod needs a folder of a root that is read-only by design: it cannot start here',
}

export const readOnlyFilesystem = contextRule({
  id: 'read-only-filesystem',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('read-only'),
  steps: ['replace-failed-disk'],
  needs: ['pods'],
  titles,
  title: 'A disk of the node can no longer be written',
  why: 'After an error of a disk the kernel makes its filesystem read-only (ext4, btrfs), or shuts it down (XFS). The node stays Ready: the scheduler sends it pods, and each of them fails.',
  fix: 'Replace the node. Of a volume of EBS, look at its status checks.',
  sources: ['kubernetes/kubernetes#99126', 'ext4(5) errors=remount-ro'],

  fact: ({ pods, node, filesystems, recentStarts }) => ({
    failed: pods
      .flatMap(pod => [
        {
          pod: podName(pod.metadata),
          message: pod.status?.message ?? '',
          time: pod.status?.startTime ?? null,
        },
        ...waitingContainers(pod).map(one => ({ ...one, time: null })),
      ])
      .filter(({ message }) => writeErrorIn(message) !== null),
    startedPods: Object.keys(recentStarts()),
    pods: pods.filter(({ status }) => status?.phase === 'Pending'),
    osImage: node.status?.nodeInfo?.osImage ?? '',
    used: usedText(filesystems),
  }),

  *judge({ failed: all, startedPods, pods: waitingPods, osImage, used }, context) {
    const { events, at } = context
    const failed = all.filter(({ time }) => isWithinWindow(time, at))
    const refused = recentEvents(events, at, reasons).filter(
      ({ pod, message }) => isReadOnly(message) && !startedPods.includes(podName(pod)),
    )
    const isByDesign = ({ message }: NodeEvent) => insteadOf(message, osImage) !== null
    const [designed, broken] = [refused.filter(isByDesign), refused.filter(one => !isByDesign(one))]
    if (designed[0]) yield failingByDesign(designed[0], designed, { osImage, waitingPods, at })
    const pods = new Set([
      ...failed.map(({ pod }) => pod),
      ...broken.map(({ pod }) => podName(pod)),
    ])
    const [first] = pods
    if (first === undefined) return yield* designed.length > 0 ? [] : unreadEvents(context)
    const message = (broken[0] ?? failed[0])?.message ?? ''
    const { error, folder } = writeErrorIn(message) ?? {
      error: 'read-only file system',
      folder: refusedHostPathIn(message) ?? '',
    }
    const times = broken.length === 0 ? '' : `, ${timesText(eventTimes(broken, at))}`
    yield {
      ...seenFirst(
        `Kubelet or runtime fail with "${error}" in ${shortName(folder)}: ${plural(pods.size, 'pod')} failed, the first ${shorten(first, 300)}${times}. No new pod can start here.${used}`,
        'The node is Ready all the same, and gets further pods.',
      ),
      evidence: [
        ...failed.slice(0, 1).map(({ pod, message }) => line('object', `pod ${pod}`, message)),
        ...eventEvidence(broken, at),
      ],
    }
  },
})

const isReadOnly = (message: string) =>
  writeErrorIn(message) !== null || refusedHostPathIn(message) !== null

/** Null: nothing is read-only by design. */
function insteadOf(message: string, osImage: string): string | null {
  const path = refusedHostPathIn(message)
  return path === null ? null : writableInstead(osImage, path)
}

function usedText({ nodefs, imagefs }: NodeSubject['filesystems']): string {
  const used = Object.entries({ nodefs, imagefs }).flatMap(([name, disk]) =>
    disk?.usedPercent != null && hasRoom(disk)
      ? [`${name} is ${percent(disk.usedPercent)} used`]
      : [],
  )
  return used.length === 0 ? '' : ` No disk is full: ${used.join(', ')}.`
}

function failingByDesign(
  first: NodeEvent,
  events: readonly NodeEvent[],
  { osImage, waitingPods, at }: { osImage: string; waitingPods: KubernetesPod[]; at: string },
): Failing {
  const name = podName(first.pod)
  const path = shortName(refusedHostPathIn(first.message) ?? '')
  const instead = insteadOf(first.message, osImage) ?? ''
  const pod = waitingPods.find(({ metadata }) => podName(metadata) === name)
  const owner = pod && podOwner(pod, null)
  const count = new Set(events.map(({ pod }) => podName(pod))).size
  return {
    title: titles.byDesign,
    cause: worldCause('read-only', 'root'),
    ...seenFirst(
      `${plural(count, 'pod')} cannot start, the first ${owner ? placedPod(owner) : shorten(name, 300)}, ${first.reason} ${timesText(eventTimes([first], at))}: its hostPath needs ${path}, and the root of ${shorten(osImage, 60)} is read-only by design.`,
      'No disk has failed, and nothing is to be attached.',
    ),
    steps: [{ id: 'replace-host-path', ...(owner && { owner }), place: path, message: instead }],
    evidence: events.slice(0, 3).flatMap(one => eventEvidence([one], at)),
  }
}
