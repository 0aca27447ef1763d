import { amountOrNull } from '#base/go/quantity.ts'
import { byText } from '#base/text.ts'
import { mebibyte } from '#base/units.ts'
import { runtimeErrorIn } from '#facts/kubelet/event-messages.ts'
import {
  isWithoutAttachment,
  volumeOf,
  volumeProblem,
  volumeProblems,
  volumeReasons,
  volumeWords,
} from '#facts/kubernetes/volume-events.ts'
import {
  eventEvidence,
  eventTimes,
  isWithinWindow,
  recentEvents,
  timesText,
  unreadEvents,
} from '#judge/events/events.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import {
  bytes,
  contextRule,
  counted,
  type Failing,
  type NodeSubject,
  plural,
  seenFirst,
  shortPodName,
  worldCause,
} from '#judge/rule.ts'
import { podName, shorten, shortenMiddle } from '#judge/text.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import { containerOwner } from '#model/prediction.ts'

/** Kubelet and controller try again after 2 min at most, and wait that long for a mount. */
const stillMs = 10 * 60_000
const leastTimes = 3
const shown = 5
/** Of the sentence, and of the words that it quotes. */
const [longest, leastWords] = [290, 120]

const titles = {
  slots: 'An EBS volume is not attached: the node may have no attachment slot left',
  disk: "A pod waits for a volume: the disk of the kubelet's folder has no space left",
  memory: 'A pod waits for a volume in memory that is full: it is no disk of the node',
}

/** No container runs with less: the unit is missing. */
const leastLimit = mebibyte

export const volumeNotMounted = contextRule({
  id: 'volume-not-mounted',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('volume-fails'),
  needs: ['pods'],
  titles,
  title: 'A pod waits for a volume that cannot be attached or mounted',
  why: 'The pod stays in ContainerCreating, whatever room the disks of the node have.',
  fix: 'Read the words of the event: attachment slots of the instance, a volume that another node holds, a CSI driver that does not run, or a damaged filesystem.',
  sources: [
    'pkg/controller/volume/attachdetach/reconciler/reconciler.go',
    'pkg/kubelet/volumemanager/volume_manager.go WaitForAttachAndMount',
    'kubernetes-sigs/aws-ebs-csi-driver#1163',
    'pkg/volume/emptydir/empty_dir.go calculateEmptyDirMemorySize',
  ],

  fact: subject => {
    const waiting = subject.pods.flatMap(pod =>
      pod.status?.phase === 'Pending'
        ? [{ name: podName(pod.metadata), memory: memoryLimitOf(pod) }]
        : [],
    )
    return { waiting, disk: waiting.length > 0 ? diskOfKubelet(subject) : null }
  },

  *judge({ waiting, disk }, context) {
    const { events, podEvents, at } = context
    const ofNode = recentEvents(events, at, volumeReasons)
    const failed = waiting.flatMap(({ name }) => {
      const own = [...ofNode, ...podEvents(name)].filter(
        ({ reason, message, pod }) =>
          podName(pod) === name &&
          volumeReasons.includes(reason) &&
          volumeProblem(message) !== null,
      )
      const { count, last } = eventTimes(own, at)
      return count >= leastTimes && isWithinWindow(last, at, stillMs) ? own : []
    })
    // An attachment that fails says more than a mount that waits for it.
    const [first] = failed.sort(
      (a, b) => rank(a.message) - rank(b.message) || byText(a.reason, b.reason),
    )
    if (first?.pod == null) return yield* unreadEvents(context)
    const problem = volumeProblem(first.message) ?? 'other'
    const pods = new Set(failed.map(({ pod }) => podName(pod)))
    const who = `${plural(pods.size, 'pod')} cannot start, the first ${shortPodName(first.pod)}, ${first.reason} ${timesText(eventTimes([first], at))}`
    const name = podName(first.pod)
    const memory = waiting.find(one => one.name === name)?.memory ?? null
    const volume = problem === 'other' ? volumeOf(first.message) : null
    const driver = volume === null ? null : context.volumeDriver(volume)
    yield {
      ...failingOf(problem, who, first.message, { memory, disk, volume, driver }),
      evidence: failed.slice(0, shown).flatMap(one => eventEvidence([one], at)),
    }
  },
})

interface Facts {
  memory: ReturnType<typeof memoryLimitOf>
  disk: ReturnType<typeof diskOfKubelet>
  /** The PersistentVolume, and its CSI driver. Null: not known. */
  volume: string | null
  driver: string | null
}

function failingOf(
  problem: NonNullable<ReturnType<typeof volumeProblem>>,
  who: string,
  message: string,
  { memory, disk, volume, driver }: Facts,
): Omit<Failing, 'evidence'> {
  if (problem === 'disk') return fullDiskFailing(who, disk)
  if (problem === 'memory')
    return fullMemoryVolume(
      `${who}: no space is left in volume ${shorten(volumeIn(message), 63)}`,
      memory,
    )
  return {
    ...(problem === 'slots' && { title: titles.slots }),
    ...seenFirst(
      `${who}: "${shortenMiddle(volumeWords(runtimeErrorIn(message)), Math.max(leastWords, longest - who.length))}".`,
    ),
    steps: [
      problem === 'other' && isWithoutAttachment(message)
        ? { id: 'read-journal' }
        : {
            id: 'attach-volume',
            variant: problem,
            ...(volume !== null && { place: volume }),
            ...(driver !== null && { source: shorten(driver, 63) }),
          },
    ],
  }
}

const volumeIn = (message: string) => /\bvolume "([^"]{1,253})"/.exec(message)?.[1] ?? ''

/** The container with the smallest limit. Null: one has none, so the pod has none. */
function memoryLimitOf(pod: KubernetesPod) {
  const [least] = (pod.spec?.containers ?? [])
    .map(({ name = '', resources: { limits: { memory = '' } = {} } = {} }) => ({
      owner: containerOwner(pod, name),
      text: memory,
      bytes: amountOrNull(memory) ?? 0,
    }))
    .toSorted((a, b) => a.bytes - b.bytes)
  return least?.text ? least : null
}

/** Its tmpfs ends at the pod's limit of memory, else at the node's allocatable memory. */
function fullMemoryVolume(who: string, limit: ReturnType<typeof memoryLimitOf>) {
  const { owner, text, bytes: size } = limit ?? { text: '', bytes: leastLimit }
  const isUnitMissing = size < leastLimit
  const end = owner
    ? `the pod's limit of memory: container ${shorten(owner.container, 63)} has ${shorten(text, 40)}`
    : 'the memory of the node'
  return {
    title: titles.memory,
    ...seenFirst(
      `${who}. It is memory, and ends at ${end}${isUnitMissing ? `, ${bytes(size)}: its unit is missing` : ''}.`,
      'No disk of the node is full, and nothing is to be attached.',
    ),
    steps: [
      {
        id: 'set-memory' as const,
        ...(owner && { owner }),
        ...(isUnitMissing && { message: text }),
      },
    ],
  }
}

/** What the disk of the kubelet's folder has, and what holds it. Null: not read. */
function diskOfKubelet(subject: NodeSubject) {
  const { nodefs } = subject.filesystems
  return nodefs && { nodefs, held: diskReason(subject, 'nodefs.available') }
}

/** The kubelet makes the folder of each volume on nodefs, also that of a tmpfs. */
function fullDiskFailing(who: string, disk: ReturnType<typeof diskOfKubelet>) {
  const { availableBytes = null, capacityBytes = null, inodesFree = null } = disk?.nodefs ?? {}
  const free =
    availableBytes === null || capacityBytes === null
      ? ''
      : `: ${bytes(availableBytes)} of ${bytes(capacityBytes)}${inodesFree === null ? '' : ` and ${counted(inodesFree)} inodes`} are free`
  return {
    ...disk?.held,
    title: titles.disk,
    ...seenFirst(`${who}: no space is left on the disk of the kubelet's folder${free}.`),
    steps: disk?.held?.steps ?? [{ id: 'look-on-node' as const, place: '/var/lib/kubelet' }],
  }
}

const rank = (message: string) => volumeProblems.indexOf(volumeProblem(message) ?? 'other')
