import { amountOrNull } from '#base/go/quantity.ts'
import { dayMs, gibibyte, minuteMs } from '#base/units.ts'
import { evictionCause, exceededLimit, imageGcLine } from '#facts/kubelet/event-messages.ts'
import { isWithinWindow, shownTime, unknownEvents } from '#judge/events/events.ts'
import {
  allEvictions,
  conditionOfResource,
  type Eviction,
  type EvictionFact,
  evictionFact,
  evictionReason,
  isOfDisk,
  manyEvictions,
  namedThreshold,
  noEvictions,
  ownerName,
  placeOf,
} from '#judge/events/evictions.ts'
import { fullestDiskReason, movedToVolumes } from '#judge/help/disk-reason.ts'
import { largerVolume, volumeToWrite } from '#judge/help/disk-size.ts'
import { isPassedExplained } from '#judge/help/explained-pressure.ts'
import { earlyGc, startsLate } from '#judge/help/freed-by-image-gc.ts'
import { diskOf, type Reason } from '#judge/help/holder-cause.ts'
import { passedPressureOf } from '#judge/help/passed-pressure.ts'
import { diskEvictionPercent } from '#judge/help/thresholds.ts'
import {
  bytes,
  contextRule,
  deviceCause,
  type Failing,
  imageGcThresholds,
  line,
  type NodeContext,
  type NodeSubject,
  percent,
  placedPod,
  plural,
  seenFirst,
  settingIn,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import { conditionOf } from '#model/prediction.ts'

const shown = 5
const titles = { day: 'Pods were evicted from this node, or refused, within a day' }

type EvictedFact = EvictionFact & Partial<ReturnType<typeof factOf>>

/** If more than this share of the disk was freed, the evicted pod had held it. */
const mostOfDisk = 0.5

/** Unpacked size of a large image. */
const pullBytes = 3 * gibibyte

export const podsEvicted = contextRule({
  id: 'pods-evicted',
  family: 'eviction',
  severity: 'medium',
  cause: worldCause('pods-evicted'),
  steps: ['set-ephemeral-storage'],
  titles,
  title: 'Pods were evicted from this node within the last hour',
  why: 'The next pods of the owner may use as much. Controllers and people delete evicted pods: then events of the last hour are all that shows them.',
  fix: 'Give the pods requests and limits that cover what they use, their volumes included. If they used little, look what else uses the resource.',
  sources: ['pkg/kubelet/eviction/eviction_manager.go synchronize, evictPod, Admit'],

  fact: factOf,

  *judge(fact, context) {
    yield* evictedBefore(fact, context)
    yield* unknownEvents(context)
  },

  judgeUnread: context => evictedBefore(noEvictions, context),
})

function factOf(subject: NodeSubject) {
  const evictions = evictionFact(subject, dayMs)
  const held = fullestDiskReason(subject)
  return {
    ...evictions,
    /** Conditions of resources that are short now, which other rules report. */
    short: shortNow(subject),
    /** Conditions that the kubelet reports as over. */
    over: Object.keys(subject.conditions).filter(type => subject.conditions[type] === 'False'),
    /** unread-node reports evictions for a disk that was not measured. */
    isDiskUnread: passedPressureOf(subject) !== null,
    /** Another rule explains the recorded evictions by the disk. */
    isDiskExplained: evictions.recorded.length > 0 && (isPassedExplained(subject) || held !== null),
    /** What pods hold of a disk that is still used this much. */
    held:
      held?.cause.kind === 'holder' && held.cause.freedBy === 'pod-deletion'
        ? { cause: held.cause, steps: movedToVolumes(held.steps) }
        : null,
    /** On the disk that pods and images share. Null: unknown, or they have one each. */
    availableBytes:
      subject.filesystems.layout === 'shared'
        ? (subject.filesystems.nodefs?.availableBytes ?? null)
        : null,
    /** Images that the kubelet deleted. */
    deletions: imageDeletions(subject.host?.logLines ?? []),
    startsLate: startsLate(subject),
    /** Of a disk that one pull takes from image GC to eviction. Null: a larger one, or unknown. */
    narrow: narrowDisk(subject),
  }
}

const imageDeletions = (lines: readonly string[]) =>
  lines.flatMap(text => {
    const found = imageGcLine(text)
    return found && 'image' in found ? [{ at: found.at, bytes: found.bytes }] : []
  })

/** The kubelet evicts a pod at most this long after the same pass has deleted images. Upstream: pkg/kubelet/eviction/eviction_manager.go podCleanupTimeout, and a pass each 10 s. */
const passMs = 2 * minuteMs
/** Least of unused images that a pass deleted. */
const leastDeleted = gibibyte

/** The kubelet deleted unused images just before the first eviction, so image GC began too late. Null: it deleted little, or none are known. */
function deletedTooLate(
  own: readonly Eviction[],
  { deletions = [], startsLate: isLate }: EvictedFact,
): Pick<Reason, 'cause' | 'steps' | 'seen' | 'fix'> | null {
  const firstMs = Math.min(...own.map(({ time }) => Date.parse(time ?? '')))
  const before = deletions.filter(({ at }) => {
    const ms = firstMs - Date.parse(at)
    return ms >= 0 && ms <= passMs
  })
  const sum = before.reduce((total, one) => total + one.bytes, 0)
  const [first] = before
  if (!isLate || !first || sum < leastDeleted) return null
  return {
    cause: imageGcThresholds,
    steps: [{ id: 'set-fields' }],
    fix: { config: { ...earlyGc } },
    seen: `the kubelet deleted ${plural(before.length, 'unused image')} (${bytes(sum)}) at ${shownTime(first.at)}, just before the first eviction: a runtime can free their space later than the kubelet looks.`,
  }
}

function narrowDisk(subject: NodeSubject): Pick<Reason, 'cause' | 'steps' | 'seen'> | null {
  const { identity, imageGC, ledger } = subject
  // With a disk of its own for images, pods are evicted for the other.
  if (!ledger?.isShared) return null
  const disk = diskOf(ledger, 'nodefs')
  const evictionPercent = diskEvictionPercent(subject)
  if (!imageGC?.enabled || !disk || evictionPercent === null) return null
  const { highThresholdPercent: high, lowThresholdPercent: low } = imageGC
  const between = ((100 - high - evictionPercent) / 100) * disk.capacityBytes
  if (between >= pullBytes) return null
  return {
    cause: deviceCause('too-small', { actualBytes: disk.capacityBytes }),
    steps: [largerVolume(identity, volumeToWrite(disk, ledger, identity.amiFamily, low))],
    seen: `image GC starts at ${high} % used and eviction at ${percent(100 - evictionPercent)}: of ${bytes(disk.capacityBytes)} that is ${between > 0 ? `${bytes(between)}, less than one large pull takes` : 'nothing'}.`,
  }
}

/** Of a node whose disks were not read, nothing else says who was evicted. */
function shortNow({ eviction, conditions, disks }: NodeSubject): string[] {
  const met = (eviction?.thresholds ?? []).flatMap(({ signal, met }) =>
    met === true ? conditionOf(signal) : [],
  )
  const reported = disks ? Object.keys(conditions) : []
  return [...new Set([...met, ...reported.filter(type => conditions[type] === 'True')])]
}

function* evictedBefore(fact: EvictedFact, context: NodeContext): Iterable<Failing> {
  const all = allEvictions(fact.recorded, context)
  const found = all.filter(({ pod, message, time }) => {
    const { resource } = evictionCause(message)
    if (resource === null || exceededLimit(message)) return false
    // disk-pressure-passed has the pods that are still there.
    const isRecorded = fact.recorded.some(one => one.pod === pod)
    const isReported =
      isOfDisk(resource) && (fact.isDiskUnread || (fact.isDiskExplained && isRecorded))
    const isShort = fact.short?.includes(conditionOfResource(resource))
    const windowMs = isRecorded && isOfDisk(resource) ? dayMs : undefined
    return !isReported && !isShort && isWithinWindow(time, context.at, windowMs)
  })
  // eviction-loop has the others.
  const few = [...Map.groupBy(found, ownerName).values()].filter(
    own => own.filter(({ time }) => isWithinWindow(time, context.at)).length < manyEvictions,
  )
  const resourceOf = ({ message }: Eviction) => evictionCause(message).resource
  for (const [resource, own] of Map.groupBy(few.flat(), resourceOf))
    yield failingOf(resource ?? '', own, fact, context.at, releasedBytes(own, all, fact))
}

/**
 * What came free since the last of these evictions, if pods of no other owner were evicted for a disk. Null: little, or unknown. Unused images, which
 * go before it, are less than what was missing.
 */
function releasedBytes(
  own: readonly Eviction[],
  all: readonly Eviction[],
  { availableBytes = null, diskBytes }: EvictedFact,
): number | null {
  const evicted = all.filter(({ message }) => {
    const { resource, isRefused } = evictionCause(message)
    return isOfDisk(resource) && !isRefused
  })
  const { resource, threshold } = evictionCause(own.at(-1)?.message ?? '')
  const before = amountOrNull(threshold?.available ?? '')
  const isOfOne = new Set(evicted.map(ownerName)).size === 1
  if (resource !== 'ephemeral-storage' || !isOfOne || before === null) return null
  if (availableBytes === null || diskBytes === null) return null
  const released = availableBytes - before
  return released >= mostOfDisk * diskBytes ? released : null
}

function failingOf(
  resource: string,
  own: readonly Eviction[],
  fact: EvictedFact,
  at: string,
  released: number | null,
): Failing {
  const latest = own.at(-1)!
  const { time, message } = latest
  const { user, ...reason } = reasonOf(own, fact, released)
  const isUnexplained =
    user === null && reason.cause === undefined && resource === 'ephemeral-storage'
  const { isRefused } = evictionCause(message)
  // A refused pod has written nothing.
  const looking = isRefused ? { steps: [{ id: 'look-on-node' as const }] } : {}
  const late = isRefused || reason.cause !== undefined ? null : deletedTooLate(own, fact)
  const { seen, ...other }: Partial<Reason> =
    late ?? (isUnexplained ? (fact.narrow ?? looking) : {})
  const threshold = namedThreshold(own, fact)
  const others = own.length === 1 ? '' : `, the last of ${plural(own.length, 'pod')}`
  const act = isRefused ? 'refused' : 'evicted'
  return {
    ...reason,
    ...other,
    ...(!isWithinWindow(time, at) && { title: titles.day }),
    confidence: 'likely',
    ...seenFirst(
      `${placedPod(placeOf(latest))} was ${act} for ${resource}${time === null ? '' : ` at ${shownTime(time)}`}${others}${threshold === null ? '' : `: ${threshold}`}${user === null || late ? '' : `; ${user}`}.${seen === undefined ? '' : ` On this disk ${seen}`}`,
      `${fact.over?.includes(conditionOfResource(resource)) ? `The node is no longer short of ${resource}. ` : ''}What used it can use as much again.`,
    ),
    evidence: own
      .slice(-shown)
      .map(one => line('event', shorten(`pod ${one.namespace}/${one.name}`, 300), one.message)),
  }
}

/**
 * What pods hold now says more than what the evicted pod held. If the containers that the messages name used little, what came free with the
 * pod was in others, or in its volumes.
 */
function reasonOf(
  own: readonly Eviction[],
  fact: EvictedFact,
  released: number | null,
): ReturnType<typeof evictionReason> {
  const reason = evictionReason(own, fact)
  if (fact.held) return { ...reason, ...fact.held }
  if (reason.cause !== undefined || released === null) return reason
  const owner = { kind: 'pod' as const, ...placeOf(own.at(-1)!), volume: null }
  return {
    user: `${bytes(released)} came free since: its volumes, or a container that the message does not name, held about as much`,
    cause: settingIn('workload', 'resources.requests.ephemeral-storage'),
    steps: [{ id: 'move-to-volume', owner, variant: 'needed' }],
  }
}
