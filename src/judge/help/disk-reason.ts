/** Why a disk is full: its first holder, or what makes another step better. */

import { gibibyte, hourMs } from '#base/units.ts'
import { canMeasureDisks } from '#facts/aws/inspect-targets.ts'
import { holders } from '#facts/holders.ts'
import { agoMs, shownTime } from '#judge/events/events.ts'
import { leastTry } from '#judge/events/evictions.ts'
import { stepsWithoutCommands } from '#judge/fixes/steps.ts'
import { logRotationOf, unrotatedLogs } from '#judge/logs/logs.ts'
import {
  bytes,
  deviceCause,
  kubeletSetting,
  type NodeSubject,
  plural,
  shorten,
  shortName,
  span,
} from '#judge/rule.ts'
import type { HolderCause, StepAction } from '#model/finding.ts'
import { type ContainerStatus, statusesOf, waitsForRestart } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { startsAboveUsedPercent } from '#model/kubelet/image-gc-trigger.ts'
import {
  containerOwner,
  fullestOf,
  listedOwners,
  type NodeLedger,
  type Signal,
} from '#model/prediction.ts'
import type { HeldDisks } from '#model/report.ts'
import {
  endingMs,
  evictedBefore,
  jobOf,
  podDeletion,
  podOf,
  runsForever,
  withDeletion,
  workloadOf,
  writingContainer,
} from './deletion.ts'
import { disksBeside, idleInstanceStores } from './disks-beside.ts'
import {
  filesOfImages,
  imageDiskFreeBytes,
  packedLayerSteps,
  smallImageDisk,
  smallKubeletDisk,
  tooSmallDisk,
  withSize,
} from './disks-of-wrong-size.ts'
import { finishedPodsReason } from './finished-images.ts'
import { freesBelow } from './freed-by-image-gc.ts'
import {
  areOfEvicted,
  diskOf,
  heldBySignal,
  holderCause,
  isTinyDisk,
  isUnusuallyLarge,
  leastOwned,
  lineOf,
  podBytesOf,
  type Reason,
  roomy,
  usedFor,
} from './holder-cause.ts'
import {
  type DiskSubject,
  isDocker,
  measuring,
  podHolding,
  reasonOf,
  reasonOfFirst,
  storageOfPod,
  useOfOwner,
  withSecondHolder,
} from './holder-steps.ts'
import { withMounts } from './host-mounts.ts'
import { shortMemoryReason } from './memory-reason.ts'
import { reservedOf } from './reservations.ts'

/** Looks at what a service writes before it gets a limit: alone, a limit only evicts the pod again. The pod is deleted first; pods of Jobs are not. */
export function seenBeforeLimit(reason: Reason, subject: NodeSubject): Reason {
  const [first] = reason.steps
  const isService = /^(?:Deployment|StatefulSet) /.test(workloadOf(first?.owner) ?? '')
  if (!isService || (first?.id !== 'set-ephemeral-storage' && first?.id !== 'set-volume-limit'))
    return reason
  const look = { ...first, id: 'move-to-volume', variant: 'growing' } as const
  return withDeletion({ ...reason, steps: [look, ...reason.steps] }, subject)
}

/** The steps of a disk that fills now: a limit above what the pod holds comes too late. */
export const movedToVolumes = (steps: readonly StepAction[]): StepAction[] =>
  steps.map(step =>
    step.id === 'set-ephemeral-storage' ? { ...step, id: 'move-to-volume' } : step,
  )

/** Bounds this far apart do not say which disk is large enough. */
const vague = 2

/** Before a disk is bought for what is not known well, it is measured. */
export function withMeasurementFirst(reason: Reason, subject: DiskSubject): Reason {
  const { ledger, identity } = subject
  const { cause, steps } = reason
  if (cause.kind !== 'holder' || !canMeasureDisks(identity)) return reason
  const { low, high } = cause.amount
  const isVague =
    (high ?? Infinity) > vague * low &&
    ledger !== null &&
    diskOf(ledger, cause.filesystem)?.lines.some(({ holder }) => holder === 'unread')
  return isVague && steps[0]?.id === 'larger-disk'
    ? { ...reason, steps: [measuring(subject), ...steps] }
    : reason
}

/** Share of a disk that is used at least where its holder explains pressure. */
const leastUsed = 0.7

/** What holds the fullest disk. Null: it is not that full, or unknown. */
export function fullestDiskReason(subject: DiskSubject): Reason | null {
  const fullest = fullestOf(subject.ledger?.filesystems ?? [])
  if (!fullest || fullest.usedBytes < leastUsed * fullest.capacityBytes) return null
  const reason = diskReason(subject, `${fullest.filesystem}.available`)
  return reason && withMeasurementFirst(reason, subject)
}

/** Words and steps that differ for some holders. */
type Other = Partial<Reason>

/** Of a pod that was deleted and does not end: only a reboot ends its processes, and with them its volumes and layers. */
function endlessPodReason(cause: HolderCause, { pods, at }: DiskSubject): Other | null {
  const owner = podHolding(cause)
  if (!owner || owner.kind === 'process') return null
  const ms = endingMs(podOf(pods, owner), at)
  if (ms === null) return null
  return {
    steps: [{ id: 'reboot', owner }],
    seen: `the pod was deleted ${span(ms)} ago and is still Terminating: its processes do not end.`,
  }
}

/** Why the disk of a signal is full. Null: nothing was measured. */
export function diskReason(subject: DiskSubject, signal: Signal): Reason | null {
  const reason = reasonOfDisk(subject, signal)
  if (reason?.cause.kind !== 'holder') return reason
  const { cause } = reason
  const { steps } = withSecondHolder(reason, subject)
  const sized = { ...reason, steps: steps.map(step => withSize(step, subject, cause)) }
  return withCrashLoop(withOtherDisk(sized, subject, cause), subject)
}

/** A container that fails once an hour or more crash-loops, also while it runs. */
const manyRestarts = 10

function isLooping(status: ContainerStatus, podAgeMs: number | null): boolean {
  const { state, restartCount = 0, lastState } = status
  if (state?.waiting) return waitsForRestart(status)
  const isFrequent = podAgeMs !== null && podAgeMs <= restartCount * hourMs
  return isFrequent && restartCount >= manyRestarts && !!lastState?.terminated?.exitCode
}

/** A container that starts again and again writes again what is deleted. */
function withCrashLoop(reason: Reason, { pods, at = '' }: DiskSubject): Reason {
  const holder = podHolding(reason.cause)
  const pod = holder && podOf(pods, holder)
  const looping = pod
    ? statusesOf(pod).find(
        status =>
          isLooping(status, agoMs(pod.status?.startTime ?? '', at)) &&
          (holder.kind !== 'container' || holder.container === status.name),
      )
    : undefined
  if (!pod || !looping || reason.cause.kind !== 'holder') return reason
  const { name = '', restartCount = 0, lastState } = looping
  const { reason: end, exitCode } = lastState?.terminated ?? {}
  const last = end === undefined ? '' : `, last exit ${shorten(end, 60)} (exit code ${exitCode})`
  const seen = `Container ${shortName(name)} crash-loops: ${plural(restartCount, 'restart')}${last}.`
  const { place: written, holder: kind } = reason.cause
  // No core file lies among logs, and the kernel's kill for memory dumps none.
  const place = kind === 'container-logs' || end === 'OOMKilled' ? null : written
  const step = {
    id: 'end-crash-loop' as const,
    owner: containerOwner(pod, name),
    ...(place !== null && { place }),
  }
  return {
    ...reason,
    steps: [step, ...reason.steps],
    seen: reason.seen === undefined ? seen : `${seen} ${reason.seen}`,
  }
}

/** Times the size of a full disk from which on another disk of the node is better than a larger one. */
const muchLarger = 2

/** Before a disk is bought: another one that the node has. */
function withOtherDisk(reason: Reason, subject: DiskSubject, { filesystem }: HolderCause): Reason {
  const { ledger, identity } = subject
  const disk = ledger && diskOf(ledger, filesystem)
  const index = reason.steps.findIndex(({ id, unit }) => id === 'larger-disk' && unit === undefined)
  const isBare = identity.instanceId === null || identity.owner === 'hybrid'
  const other = isBare ? otherDisk(subject) : idleStore(subject)
  if (!disk || index < 0 || !other || other.size < muchLarger * disk.capacityBytes) return reason
  const { step, seen } = other
  return {
    ...reason,
    // What is on the other disk is not known: the purchase stays.
    steps: reason.steps.toSpliced(index, isBare ? 0 : 1, step),
    seen: reason.seen === undefined ? seen : `${reason.seen} ${seen}`,
  }
}

function otherDisk(subject: DiskSubject): ReturnType<typeof idleStore> {
  const [other] = disksBeside(subject)
  if (!other) return null
  const { device: place, size } = other
  return {
    size,
    step: { id: 'use-other-disk', place, bytes: size },
    seen: `the node has another disk, ${place} (${bytes(size)}), with nothing of the kubelet or the images; what is on it is not known.`,
  }
}

function idleStore({ host }: DiskSubject) {
  const idle = idleInstanceStores(host)
  const size = idle.reduce((sum, one) => sum + one.size, 0)
  if (size === 0) return null
  const step: StepAction = { id: 'use-instance-store' }
  const disks = idle.length === 1 ? 'an instance-store disk' : 'instance-store disks'
  return { size, step, seen: `the node has ${disks} (${bytes(size)}) that nothing uses.` }
}

function reasonOfDisk(subject: DiskSubject, signal: Signal): Reason | null {
  const { ledger, identity, imageGC, configuration } = subject
  const causes = lateGcFirst(heldBySignal(ledger, signal), subject)
  const [first, second] = causes
  if (!first) return null
  const tooSmall = tooSmallDisk(first, subject)
  if (tooSmall) return tooSmall
  const canBeUnused = first.holder === 'images' || first.holder === 'unread'
  const isOfBytes = first.amount.unit === 'bytes'
  const unused = canBeUnused && isOfBytes ? (subject.unusedImages?.() ?? null) : null
  // Of images whose use is unknown, image GC would free too few: they are in use. So are those that evicted pods pull again.
  const isInUse =
    (first.holder === 'images' &&
      isOfBytes &&
      (imageGC?.reachesLow === false || freesBelow(100 * roomy, subject) === false) &&
      unused === null) ||
    (first.freedBy === 'image-gc' && areOfEvicted(ledger?.parts ?? []))
  const inUse = { holder: 'images-in-use', freedBy: holders['images-in-use'].freedBy } as const
  const used = isInUse && causes.find(({ holder }) => holder === inUse.holder)
  const cause: HolderCause = used || { ...first, ...(isInUse && inUse) }
  const reason = reasonOfFirst(cause, subject)
  const other =
    (cause.holder === 'container-logs'
      ? logsReason(reason, subject)
      : largerReserveReason(configuration, cause, ledger)) ??
    endlessPodReason(cause, subject) ??
    largerForPods(reason, subject) ??
    spreadPodsReason(cause, subject) ??
    uncountedLayer(cause, reason, ledger) ??
    rotatedLogReason(cause, reason, ledger) ??
    reasonOfImages(cause, subject)
  if (other) return { ...reason, ...other }
  const isMoreUnread =
    holders[first.holder].actor === 'owner' &&
    second?.holder === 'unread' &&
    second.amount.low > first.amount.low &&
    canMeasureDisks(identity)
  const disk = ledger && diskOf(ledger, first.filesystem)
  const isTooSmall = first.holder === 'unread' && disk && isTinyDisk(disk)
  const roomyBytes = first.filesystem === 'nodefs' ? imageDiskFreeBytes(ledger) : null
  // Images are on a disk with much room, and the kubelet's folder is on the usual small one.
  const isSmall = first.holder === 'unread' && disk && disk.capacityBytes <= smallDiskBytes
  return {
    ...reason,
    ...(unused !== null && { seen: `${unused}.` }),
    ...(isTooSmall && roomyBytes !== null && { seen: smallKubeletDisk(disk, roomyBytes) }),
    steps: [
      ...reason.steps.map(step =>
        first.holder === 'unread' ? withMounts(step, subject) : withSize(step, subject, first),
      ),
      ...(isSmall && roomyBytes !== null
        ? [{ id: 'move-kubelet-root' as const, bytes: roomyBytes }]
        : []),
      ...(isTooSmall && roomyBytes === null
        ? [withSize({ id: 'larger-disk' }, subject, first)]
        : []),
      ...stepsBeside(reason, second, subject),
      ...(disk && cause.holder === 'images-in-use' ? packedLayerSteps(disk, subject) : []),
      ...(isMoreUnread ? [measuring(subject)] : []),
    ],
  }
}

const reasonOfImages = (cause: HolderCause, subject: DiskSubject): Other | null =>
  finishedPodsReason(cause, subject) ??
  smallImageDisk(cause, subject) ??
  (cause.holder === 'unread' ? null : filesOfImages(cause, subject))

/** Used share of a disk above which image GC begins too late, whatever the threshold. */
const lateStart = 0.9
/** Used share of a disk that is left at most by the deletion of unused images, if it is enough. */
const mostLeft = 0.8
/** Share of a disk that the unused images have at least. */
const leastUnused = 0.05

/** Unused images that image GC keeps too long come before images in use. */
function lateGcFirst(causes: HolderCause[], subject: DiskSubject): HolderCause[] {
  const late = causes[0] && keptByLateGc(causes[0], subject)
  return late ? [late, ...causes] : causes
}

/** Beside images in use: unused images that image GC would have deleted, if it began before eviction, and without which there is room. Null: others. */
function keptByLateGc(
  { holder, filesystem, amount }: HolderCause,
  { ledger, imageGC, eviction }: DiskSubject,
): HolderCause | null {
  const disk = ledger && diskOf(ledger, filesystem)
  if (holder !== 'images-in-use' || amount.unit !== 'bytes' || !imageGC?.enabled || !disk)
    return null
  const { capacityBytes, usedBytes } = disk
  const unused = lineOf(disk, 'images-unused')
  const startBytes = (startsAboveUsedPercent(imageGC.highThresholdPercent) / 100) * capacityBytes
  const evictionBytes = (eviction?.thresholds ?? []).flatMap(({ signal, resolved }) =>
    /^(?:nodefs|imagefs)\.available$/.test(signal) &&
    (ledger.isShared || signal.startsWith(filesystem)) &&
    resolved !== null
      ? capacityBytes - resolved
      : [],
  )
  const isLate =
    usedBytes <= startBytes && startBytes >= Math.min(lateStart * capacityBytes, ...evictionBytes)
  return isLate &&
    unused !== undefined &&
    unused.lowBytes >= leastUnused * capacityBytes &&
    usedBytes - unused.lowBytes < mostLeft * capacityBytes
    ? holderCause(unused, disk, ledger)
    : null
}

/** Share of a disk from which on a second holder has a step, if one command ends it. */
const leastBeside = 0.15

/** Of a second holder that nothing frees, and of which no owner has to be asked. */
function stepsBeside(
  { cause, steps }: Reason,
  second: HolderCause | undefined,
  subject: DiskSubject,
): StepAction[] {
  const disk = second && subject.ledger && diskOf(subject.ledger, second.filesystem)
  const isLarge = disk && second.amount.low >= leastBeside * disk.capacityBytes
  if (!isLarge || !ofOneCommand.has(second.holder) || second.amount.unit !== 'bytes') return []
  return cause.kind === 'holder' && cause.freedBy === 'nothing'
    ? reasonOfFirst(second, subject).steps.filter(({ id }) => steps.every(step => step.id !== id))
    : []
}

const ofOneCommand: ReadonlySet<HolderCause['holder']> = new Set([
  'journal',
  'core-dumps',
  'package-caches',
  'log-debris',
])

/** What a finding says in place of settings of image GC that would not make room. */
export function reasonBeyondImageGc(subject: DiskSubject) {
  const larger: Reason = { cause: deviceCause('too-small'), steps: [{ id: 'larger-disk' }] }
  return { ...(diskReason(subject, 'imagefs.available') ?? larger), fix: undefined }
}

/** The default of a managed nodegroup. */
const smallDiskBytes = 20 * gibibyte

/** Share of a disk that what writes without end has when it is evicted: eviction and other holders keep the rest. */
const nearlyWhole = 0.75

/** Whether what pods write does not fit: pods of the same job were evicted before, or jobs from outside hold a third of a small disk. */
function largerForPods({ cause, steps }: Reason, subject: DiskSubject): Other | null {
  const owner = podHolding(cause)
  const disk = cause.kind === 'holder' && subject.ledger && diskOf(subject.ledger, cause.filesystem)
  if (!disk || !owner || !('workload' in owner) || cause.amount.unit !== 'bytes') return null
  if (cause.holder !== 'pod-volumes' && cause.holder !== 'writable-layers') return null
  const evicted = evictedBefore(owner, subject.pods ?? null, leastTry * disk.capacityBytes)
  const isSmall =
    disk.capacityBytes <= smallDiskBytes &&
    cause.amount.low >= disk.capacityBytes / 3 &&
    jobOf(podOf(subject.pods, owner)) !== undefined
  if (!evicted && !isSmall) return null
  // The deletion of a retry is one more failure of its work.
  const isRetry = evicted !== null && owner.workload !== null
  const deletion = isRetry ? null : podDeletion(cause, subject)
  const ofPod = storageOfPod(owner, subject.ledger ?? { parts: [], owners: [] })
  const need = { owner, bytes: Math.max(ofPod, evicted?.bytes ?? 0) }
  const inside = writingContainer(owner, subject.pods ?? null, cause.place)
  if (!evicted)
    return {
      seen: `the disk has ${bytes(disk.capacityBytes)} in all.`,
      steps: [
        ...(deletion ? [deletion] : []),
        withSize({ id: 'larger-disk' }, subject, cause),
        ...steps,
      ],
    }
  const { count, by, since } = evicted
  const first = since === null ? ' before' : ` since ${shownTime(since)}`
  const most = evicted.bytes > 0 ? `, with up to ${bytes(evicted.bytes)}` : ''
  const larger = { id: 'larger-disk', variant: 'needed' } as const
  // What fills nearly all of a disk each time fills a larger one, and a claim.
  const fills = evicted.bytes >= nearlyWhole * disk.capacityBytes
  const limit = { id: 'set-ephemeral-storage', owner } as const
  return {
    seen: `${plural(count, 'pod')} of the same ${by} ${count === 1 ? 'was' : 'were'} evicted here${first}${most}${fills ? ', most of the disk' : ''}.`,
    // A limit below what it needs ends each try.
    steps:
      by === 'owner'
        ? [
            { id: 'move-to-volume', owner, variant: 'needed', ...(inside && { inside }) },
            // What runs forever grows into any disk.
            ...(runsForever(podOf(subject.pods, owner)) ? [] : [larger]),
          ]
        : [
            ...(deletion ? [deletion] : []),
            ...(fills ? [limit] : [larger, { id: 'set-ephemeral-storage' as const, ...need }]),
          ],
  }
}

/** What holds each disk, be it full or not, and memory that is short. */
export function heldDisks(given: NodeSubject): HeldDisks {
  const { ledger } = given
  const memory = shortMemoryReason(given)
  const ofMemory = memory && {
    memory: { cause: memory.cause, steps: stepsWithoutCommands(memory.steps) },
  }
  if (!ledger) return { ...ofMemory }
  // A setting holds nothing.
  const subject = { ...given, configuration: null }
  const ofDisks = Object.fromEntries(
    ledger.filesystems.flatMap(disk => {
      const largest = disk.lines.toSorted((a, b) => b.bytes - a.bytes)[0]
      const reason =
        diskReason(subject, `${disk.filesystem}.available`) ??
        (largest && reasonOf(holderCause(largest, disk, ledger), subject))
      return reason
        ? [[disk.filesystem, { ...reason, steps: stepsWithoutCommands(reason.steps) }]]
        : []
    }),
  )
  return { ...ofDisks, ...ofMemory }
}

/** Upstream: cri-dockerd core/logs.go ReopenContainerLog */
const ofDocker =
  'the kubelet rotates no logs of Docker, whatever containerLogMaxSize is: log-opts max-size in /etc/docker/daemon.json does, for new containers.'

const logsReason = (reason: Reason, subject: DiskSubject): Other | null =>
  isDocker(subject.node)
    ? { seen: ofDocker }
    : (smallerLogs(subject.configuration, reason, subject.ledger) ??
      unrotatedReason(reason, subject))

/** Logs far larger than rotation permits: it does not act. Null: rotation holds most of them. */
export function unrotatedReason(
  { cause, steps }: Reason,
  { configuration, runningLogs, node }: DiskSubject,
): Reason | null {
  const rotation = configuration ? logRotationOf(configuration) : null
  if (cause.kind !== 'holder' || !rotation || isDocker(node)) return null
  const { perContainerBytes } = rotation
  const large = unrotatedLogs(runningLogs?.() ?? [], perContainerBytes)
  const [first] = large
  const sum = large.reduce((total, { usedBytes }) => total + usedBytes, 0)
  if (!first || 2 * sum < cause.amount.low) return null
  const size = bytes(first.usedBytes)
  const logs = large.length === 1 ? `one has ${size}` : `${large.length} have up to ${size}`
  const check: StepAction = {
    id: 'check-rotation',
    variant: 'kubelet',
    ...(cause.place !== null && { place: cause.place }),
  }
  return {
    cause,
    steps: [...steps.filter(({ id }) => id !== 'ask-owner'), check],
    seen: `Rotation by the kubelet permits ${bytes(perContainerBytes)} of a log, and ${logs}: it does not act.`,
  }
}

/** The kubelet's default rotation, if the configured one permits the log that holds the disk. Null: any other case. */
function smallerLogs(
  configuration: KubeletConfiguration | null | undefined,
  { steps }: Reason,
  ledger: NodeLedger | null,
): Other | null {
  const rotation = configuration ? logRotationOf(configuration) : null
  const preset = logRotationOf({})
  if (!rotation || !preset) return null
  const log = ledger?.parts.find(({ holder }) => holder === 'container-logs')
  const isPermitted = (log?.lowBytes ?? 0) <= rotation.perContainerBytes
  if (!isPermitted || rotation.perContainerBytes <= preset.perContainerBytes) return null
  const config = { containerLogMaxSize: preset.maxSize, containerLogMaxFiles: preset.files }
  const freeing = steps.filter(({ id }) => id !== 'ask-owner')
  const [most] = ledger?.namespaces.toSorted((a, b) => b.logBytes - a.logBytes) ?? []
  const share =
    most && most.logBytes > 0
      ? `; namespace ${shortName(most.namespace)} has ${bytes(most.logBytes)} of logs`
      : ''
  return {
    steps: [...freeing, { id: 'set-fields' }],
    fix: { config },
    seen: `the kubelet keeps up to ${rotation.files} files of ${rotation.maxSize} (${bytes(rotation.perContainerBytes)}) for each container${share}.`,
  }
}

const reserve = kubeletSetting('systemReserved.ephemeral-storage')

/**
 * Pods that keep within their requests fill a disk only if less is reserved than images and system hold. Null: any other case.
 * Upstream: pkg/kubelet/cm/node_container_manager_linux.go GetNodeAllocatableReservation
 */
function largerReserveReason(
  configuration: KubeletConfiguration | null | undefined,
  { owner, filesystem, amount }: HolderCause,
  ledger: NodeLedger | null,
): Other | null {
  if (!configuration || !ledger?.isShared || amount.unit !== 'bytes') return null
  const use = useOfOwner(owner, ledger)
  const disk = diskOf(ledger, filesystem)
  const reserved = reservedOf(configuration, 'ephemeral-storage')
  if (!use || !disk || !reserved || use.bytes > (use.requestBytes ?? 0)) return null
  if (disk.lines.some(line => isUnusuallyLarge(line, disk.capacityBytes))) return null
  const unused = lineOf(disk, 'images-unused')?.bytes ?? 0
  const others = disk.usedBytes - unused - podBytesOf(ledger)
  if (others <= reserved.total) return null
  const size = `${Math.ceil((others - reserved.kube) / gibibyte)}Gi`
  const systemReserved = { ...configuration.systemReserved, 'ephemeral-storage': size }
  return {
    cause: reserve,
    steps: [{ id: 'set-fields' }],
    fix: { config: { systemReserved } },
    seen: `${shortName(`${use.owner} in ${use.namespace}`)} holds no more than it requests; images and system hold ${bytes(others)}, and ${bytes(reserved.total)} are reserved.`,
  }
}

/** Owners of which this many hold about the same in each pod, the least at least this share of the most. */
const alike = { owners: 3, share: 0.5 }

/** Where the pods of many owners hold about as much each, the deletion of one ends nothing. Null: any other case. */
function spreadPodsReason(cause: HolderCause, subject: DiskSubject): Other | null {
  const { ledger } = subject
  const { holder, amount, owners, ownerCount = 0 } = cause
  const isOfPods = holder === 'pod-volumes' || holder === 'writable-layers'
  if (!ledger || amount.unit !== 'bytes' || !isOfPods) return null
  if (owners !== 'many' && ownerCount < alike.owners) return null
  const each = ledger.owners.flatMap(one => {
    const held = usedFor(one, holder)
    return held > 0 && (one.requestBytes ?? 0) < held ? [one.bytes / one.pods] : []
  })
  const most = Math.max(...each)
  if (each.length < alike.owners || Math.min(...each) < alike.share * most) return null
  return {
    steps: [
      { id: 'spread-pods', bytes: gibibyte * Math.ceil(most / gibibyte) },
      withSize({ id: 'larger-disk' }, subject, cause),
    ],
    seen: `each pod of ${each.length}${each.length < listedOwners ? '' : ' or more'} owners holds about ${bytes(most)}.`,
  }
}

/** Of a layer above its limit that the kubelet does not count: another limit would not hold either. */
function uncountedLayer(
  { holder, owner }: HolderCause,
  { steps }: Reason,
  ledger: NodeLedger | null,
): Other | null {
  if (holder !== 'writable-layers') return null
  const { limitBytes = null, layerBytes = 0, pods = 1 } = useOfOwner(owner, ledger) ?? {}
  const own = steps.find(({ bytes: held }) => held !== undefined)?.bytes ?? 0
  if (!owner || limitBytes === null || own <= limitBytes / pods || layerBytes >= own) return null
  return {
    steps: [{ id: 'ask-owner', owner }],
    seen: `its limit of ${bytes(limitBytes / pods)} does not hold: the kubelet counts ${layerBytes === 0 ? 'nothing' : bytes(layerBytes)} of its layers.`,
  }
}

const rotated = /(?:-\d{8}|\.\d{1,2})$/

/** A log that is rotated and large again: a deletion buys little time, and its last lines show what writes it. Null: any other case. */
function rotatedLogReason(
  { also, ...cause }: HolderCause,
  { steps }: Reason,
  ledger: NodeLedger | null,
): Other | null {
  const { holder, place, owner, amount } = cause
  if (holder !== 'host-logs' || place === null || owner) return null
  const log = place.replace(rotated, '')
  const other = ledger?.parts.find(
    part =>
      part.place !== place &&
      part.place?.replace(rotated, '') === log &&
      part.lowBytes >= leastOwned * amount.low,
  )
  if (!other) return null
  const [current, since] = other.place === log ? [log, ', written after the rotation'] : [place, '']
  return {
    // The sentence names the other file.
    cause: also && also.place !== other.place ? { ...cause, also } : cause,
    steps: [
      { id: 'look-on-node', variant: 'lines', place: current },
      ...steps.slice(0, 1).map(step => ({ ...step, id: 'empty-log' as const })),
    ],
    seen: `${shortName(other.place ?? '')} has ${bytes(other.lowBytes)} more${since}.`,
  }
}
