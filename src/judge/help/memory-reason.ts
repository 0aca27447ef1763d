/** Why memory runs short, and what ends it. */
import { amountOrNull } from '#base/go/quantity.ts'
import { gibibyte } from '#base/units.ts'
import { bytes, type NodeSubject, settingIn, shortName } from '#judge/rule.ts'
import type { Cause, StepAction } from '#model/finding.ts'
import type { PodHolder } from '#model/prediction.ts'
import {
  areMeasured,
  deletionOf,
  largestPod,
  leastShareOfPod,
  podDeletion,
  podOf,
  statsOf,
} from './deletion.ts'
import { partCause, type Reason } from './holder-cause.ts'
import { reasonOf } from './holder-steps.ts'
import { daemonsOf } from './reservations.ts'

/** As the kubelet counts it. Upstream: pkg/kubelet/eviction/helpers.go makeSignalObservations */
function memoryOf({ eviction, summary }: NodeSubject) {
  const { availableBytes = 0, workingSetBytes = 0 } = summary?.node?.memory ?? {}
  const read = {
    availableBytes: Number(availableBytes),
    capacityBytes: Number(availableBytes) + Number(workingSetBytes),
  }
  return { ...read, ...eviction?.signals['memory.available'] }
}

/** What makes room in memory: the end of the pod that uses most of it, if one does, and what its owner can do. */
export function memoryRoom(subject: NodeSubject): StepAction[] {
  const reason = memoryReason(subject)
  const deletion = memoryDeletion(reason, subject)
  return [...(deletion ? [deletion] : []), ...reason.steps]
}

/** The deletion of the pod that uses most of the memory. Null: none does. */
export function memoryDeletion({ cause, steps }: Reason, subject: NodeSubject): StepAction | null {
  if (cause.kind === 'holder') return podDeletion(cause, subject)
  const { owner = null, bytes = 0 } = steps.find(({ id }) => id === 'set-memory') ?? {}
  const { capacityBytes, availableBytes } = memoryOf(subject)
  return bytes < leastShareOfPod * (capacityBytes - availableBytes)
    ? null
    : deletionOf(owner, subject.pods)
}

/** Of kubelet, runtime, system and kernel, on a node that is in order. */
const usualOutsideBytes = gibibyte
const leastMemoryVolume = 0.2
/** Share of the memory of a pod from which on it is mostly cache. */
const leastCached = 0.7
/** Share of memory below which the largest pod is no cause. */
export const leastMemoryPod = 0.05

/** A volume in memory that holds much of it. Null: none does. */
export function memoryVolumeReason(subject: NodeSubject): Reason | null {
  const { ledger } = subject
  const { capacityBytes } = memoryOf(subject)
  const volume = ledger?.parts.find(({ filesystem }) => filesystem === 'memory')
  return volume && volume.lowBytes >= leastMemoryVolume * capacityBytes
    ? reasonOf(partCause(volume), subject)
    : null
}

/** Share of memory that is free at most on a node that is short of it. */
const mostFree = 0.2

/** What uses the memory of a node that is short of it now. Null: it is not, or no pod uses much. */
export function shortMemoryReason(subject: NodeSubject): Reason | null {
  const { capacityBytes, availableBytes } = memoryOf(subject)
  if (!subject.summary || availableBytes > mostFree * capacityBytes) return null
  const reason = memoryReason(subject)
  return reason.steps[0]?.id === 'set-memory' ? { ...reason, steps: memoryRoom(subject) } : null
}

/** Share of memory that is left at most where its holder has to act now. */
const nearlyNone = 0.05

/** What ends a lack of memory that is near. Empty: there is enough, or it is unknown. */
export function nearMemorySteps(subject: NodeSubject): StepAction[] {
  const { capacityBytes, availableBytes } = memoryOf(subject)
  return subject.summary && availableBytes < nearlyNone * capacityBytes ? memoryRoom(subject) : []
}

/** A daemon with more than this, in bytes and as a share of memory, is not in order. */
const mostOfDaemon = { bytes: 2 * gibibyte, share: 0.1 }

/** What ends the growth of a daemon: no reservation is derived from it. Null: none has that much. */
export function swollenDaemonReason(subject: NodeSubject) {
  const { capacityBytes } = memoryOf(subject)
  const largest = daemonsOf(subject.summary).used.toSorted((a, b) => b.bytes - a.bytes)[0]
  const most = Math.max(mostOfDaemon.bytes, mostOfDaemon.share * capacityBytes)
  return largest && largest.bytes > most
    ? { ...outsideReason(daemonCause(largest)), fix: undefined }
    : null
}

/** Why memory runs short: a volume in memory, else the pod with the largest working set, else what no pod uses. */
export function memoryReason(subject: NodeSubject): Reason {
  const { summary } = subject
  const { capacityBytes } = memoryOf(subject)
  const volume = memoryVolumeReason(subject)
  if (volume) return volume
  const largest = largestPod(subject, ({ memory }) => Number(memory?.workingSetBytes ?? 0))
  const isSmall = largest !== null && largest.amount < leastMemoryPod * capacityBytes
  const daemons = daemonsOf(summary).used
  const isLess = daemons.some(({ bytes }) => bytes > (largest?.amount ?? bytes))
  // More than half of it is not with pods, whatever they use.
  const isOfDaemon = daemons.some(({ bytes }) => 2 * bytes > capacityBytes)
  const outer = nodeMemoryCause(subject)
  const { bytes: outside = 0 } = outer
  // A pod this small would not make room.
  const isMostly = 2 * outside > capacityBytes && outside > 3 * (largest?.amount ?? 0)
  if (((isSmall || isLess || isMostly) && areMeasured(subject)) || isOfDaemon) {
    if (outside <= usualOutsideBytes) return { cause: outer, steps: [{ id: 'larger-instance' }] }
    return outsideReason(outer)
  }
  const cause = settingIn('workload', 'resources.requests.memory')
  if (!largest)
    return {
      cause: { kind: 'unread', source: 'memory of pods', reason: 'incomplete' },
      steps: [{ id: 'list-memory' }],
      seen: 'the kubelet has no statistics of its pods.',
    }
  if (isSmall) return { cause, steps: [{ id: 'read-pods' }] }
  const { owner, amount } = largest
  // -1: the answer had no number there.
  const anonymous = Number(statsOf(summary, owner)?.memory?.rssBytes ?? -1)
  const cached = anonymous < 0 ? 0 : amount - anonymous
  return {
    cause,
    steps: [
      {
        id: 'set-memory',
        owner,
        bytes: amount,
        ...(amount <= requestedBytes(subject, owner) && { variant: 'requested' }),
      },
    ],
    ...(cached >= leastCached * amount && {
      seen: `Of the ${bytes(amount)} of ${shortName(`${owner.namespace}/${owner.pod}`)}, ${bytes(cached)} are cache of files that it reads or writes, files in memory, or memory of the kernel: the kubelet counts them, and a memory limit makes the kernel drop such a cache.`,
    }),
  }
}

/** Of all containers of the pod. A limit without a request requests as much. */
const requestedBytes = ({ pods }: NodeSubject, owner: PodHolder) =>
  (podOf(pods, owner)?.spec?.containers ?? [])
    .map(({ resources: { limits, requests } = {} }) => requests?.memory ?? limits?.memory)
    .reduce((sum, amount) => sum + (amountOrNull(amount) ?? 0), 0)

/** The program of the node with most of the memory that no pod uses, if the kubelet counts it. */
function nodeMemoryCause(subject: NodeSubject): WorldCause {
  const { summary } = subject
  const { capacityBytes, availableBytes } = memoryOf(subject)
  const ofPods = (summary?.pods ?? []).reduce(
    (sum, { memory }) => sum + Number(memory?.workingSetBytes ?? 0),
    0,
  )
  const bytes = Math.max(0, capacityBytes - availableBytes - ofPods)
  const daemon = daemonsOf(summary).used.find(one => 2 * one.bytes >= bytes)
  return daemon ? daemonCause(daemon) : { ...outsidePods, subject: null, bytes }
}

const outsidePods = { kind: 'world', event: 'memory-outside-pods' } as const

type WorldCause = Extract<Cause, { kind: 'world' }>

const daemonCause = ({ name, bytes }: { name: string; bytes: number }): WorldCause => ({
  ...outsidePods,
  subject: programs[name] ?? name,
  bytes,
})

function outsideReason(cause: WorldCause): Pick<Reason, 'cause' | 'steps'> {
  const { subject: daemon } = cause
  const isKnown = daemon === 'kubelet' || daemon === 'containerd'
  const first: StepAction = isKnown
    ? { id: 'restart-daemon', place: daemon }
    : { id: 'list-memory' }
  return { cause, steps: [first, { id: 'reboot' }] }
}

/** Programs by their name in the kubelet's statistics. */
const programs: Readonly<Record<string, string>> = { runtime: 'containerd' }
