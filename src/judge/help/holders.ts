/**
 * What holds a disk, as causes with their steps. Ranked by bytes: those that nothing frees count more than those that an owner frees,
 * and these more than unused images, which image GC deletes.
 */

import { canMeasureDisks, type InspectIdentity } from '#facts/aws/inspect-targets.ts'
import { holders } from '#facts/holders.ts'
import { stepsWithoutCommands } from '#judge/fixes/steps.ts'
import { logRotationOf } from '#judge/logs/logs.ts'
import {
  bytes,
  gibibyte,
  kubeletSetting,
  type NodeSubject,
  nameLength,
  settingIn,
  shorten,
  span,
} from '#judge/rule.ts'
import type { Cause, FreedBy, HolderCause, StepAction, StepActionId } from '#model/finding/cause.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type {
  FilesystemLedger,
  HolderOwner,
  HolderPart,
  LedgerLine,
  NodeLedger,
} from '#model/prediction/disk-ledger.ts'
import type { ImageGcPrediction, Signal } from '#model/prediction/prediction.ts'
import { conditionOf } from '#model/prediction/prediction.ts'
import type { HeldDisks } from '#model/report.ts'
import { volumeToWrite } from './disk-size.ts'
import { areMeasured, isOfDaemonSet, largestPod } from './drain.ts'
import { writableMounts } from './host-mounts.ts'
import { daemonsOf, reservedOf } from './reservations.ts'

export interface Reason {
  cause: Cause
  steps: StepAction[]
  /** What the step `set-fields` sets. */
  fix?: { config: Record<string, unknown> }
  seen?: string
}

const weights: Readonly<Record<FreedBy, number>> = {
  nothing: 1.5,
  'process-end': 1.5,
  'image-deletion': 1.5,
  'pod-deletion': 1.25,
  'container-gc': 1.25,
  'image-gc': 0.8,
}
/** Share of the disk below which a holder is no cause; of the usual contents of a node; of pods, before what was not read. */
const least = { share: 0.05, usual: 0.25, beforeUnread: 0.25 }
const ranked = 3
/** Share of a disk that is used at most where enough room is left. */
const roomy = 0.7

/** What an unread cause names, if a measurement of the disk is missing. */
export const diskUse = 'disk use'

type Unit = 'bytes' | 'inodes'

/** The causes of a disk that is full or nearly so, the first counts most. Empty: there is no ledger of it. */
export function heldBySignal(ledger: NodeLedger | null, signal: Signal): HolderCause[] {
  const unit: Unit = signal.endsWith('.inodesFree') ? 'inodes' : 'bytes'
  const name = signal.startsWith('nodefs.') || ledger?.isShared ? 'nodefs' : 'imagefs'
  const disk = ledger?.filesystems.find(({ filesystem }) => filesystem === name)
  if (ledger === null || disk === undefined || conditionOf(signal) !== 'DiskPressure') return []
  const size = unit === 'bytes' ? disk.capacityBytes : (disk.usedInodes ?? 0)
  const lines = withUnmeasuredPods(disk.lines)
    .filter(line => {
      const isUsual = holders[line.holder].isUsual === true
      return expectedAmount(line, unit) >= size * (isUsual ? least.usual : least.share)
    })
    .toSorted((a, b) => weight(b, unit) - weight(a, unit))
  const first = firstOf(lines, disk, unit)
  return [...(first ? [first] : []), ...lines.filter(line => line !== first)]
    .slice(0, ranked)
    .map(line => holderCause(line, disk, ledger.parts, unit))
}

/** @param lines by weight */
function firstOf(
  lines: LedgerLine[],
  { capacityBytes, usedBytes, usedInodes }: FilesystemLedger,
  unit: Unit,
) {
  const [first] = lines
  const size = unit === 'bytes' ? capacityBytes : (usedInodes ?? 0)
  const large = lines.filter(line => expectedAmount(line, unit) >= size * least.beforeUnread)
  // What is known comes before a measurement of the rest.
  if (first?.holder === 'unread')
    return large.find(({ holder }) => holders[holder].actor === 'owner') ?? first
  // What should not be there comes before the usual contents of a node.
  if (first && holders[first.holder].isUsual) return large.find(isUnusual) ?? first
  // Images in use fit a disk that has room without the unused ones.
  const unused = lines.find(({ holder }) => holder === 'images-unused')
  const fits = unit === 'bytes' && usedBytes - (unused?.lowBytes ?? 0) < roomy * capacityBytes
  return first?.holder === 'images-in-use' && fits ? (unused ?? first) : first
}

const isUnusual = ({ holder }: LedgerLine) =>
  holders[holder].isUsual !== true && !imageHolders.has(holder) && holder !== 'unread'

/** If pods have no statistics, what they hold is unread, too: as much as the bounds of images leave. */
function withUnmeasuredPods(lines: readonly LedgerLine[]): readonly LedgerLine[] {
  const isPartial = lines.some(
    ({ holder, bytes, highBytes }) => holder === 'writable-layers' && highBytes > bytes,
  )
  if (!isPartial) return lines
  return lines.map(line => (line.holder === 'unread' ? { ...line, bytes: line.highBytes } : line))
}

/** The middle of the bounds: of unread images, for example. */
function expectedAmount({ holder, bytes, lowBytes, highBytes, inodes }: LedgerLine, unit: Unit) {
  if (unit === 'inodes') return inodes ?? 0
  return holder === 'unread' ? bytes : (lowBytes + Math.min(highBytes, bytes)) / 2
}

/** Size of a node's system with its first logs. Unread bytes up to this size are no cause. */
const usualSystem: Readonly<Record<Unit, number>> = { bytes: 3 * gibibyte, inodes: 0 }

const weight = (line: LedgerLine, unit: Unit) =>
  line.holder === 'unread'
    ? expectedAmount(line, unit) - usualSystem[unit]
    : expectedAmount(line, unit) * weights[holders[line.holder].freedBy]

export function holderCause(
  { holder, lowBytes, highBytes, inodes }: LedgerLine,
  { filesystem, usedBytes }: FilesystemLedger,
  parts: readonly HolderPart[],
  unit: Unit = 'bytes',
): HolderCause {
  // Where the users of some images are unknown, the line counts all images, and the parts tell them apart.
  const own = parts
    .filter(
      part =>
        part.filesystem === filesystem &&
        (holder === 'images' ? part.owner?.kind === 'image' : part.holder === holder),
    )
    .toSorted((a, b) =>
      unit === 'inodes' ? (b.inodes ?? 0) - (a.inodes ?? 0) : b.lowBytes - a.lowBytes,
    )
  const largestBytes = unit === 'bytes' ? bytesOfLargest(own) : null
  const isOfMany = largestBytes !== null && largestBytes < leastOwned * lowBytes && isOfPod(own[0])
  const largest = isOfMany ? undefined : own[0]
  const isLeft = holder === 'pod-folders' && isUnmounted(largest?.place ?? null)
  return {
    kind: 'holder',
    holder,
    filesystem,
    freedBy: isLeft ? 'nothing' : holders[holder].freedBy,
    amount:
      unit === 'inodes'
        ? { unit, low: inodes ?? 0, high: inodes }
        : { unit, low: lowBytes, high: Math.min(highBytes, usedBytes) },
    owner: largest?.owner ?? null,
    ...(largest?.owner == null &&
      holders[holder].actor === 'owner' && { owners: isOfMany ? 'many' : 'unknown' }),
    // The root folder is no place to look into.
    place: largest === undefined || largest.place === '/' ? null : largest.place,
    ...(largestBytes !== null &&
      !isOfMany &&
      largestBytes < nearlyAll * lowBytes && { largestBytes: Math.round(largestBytes) }),
  }
}

const nearlyAll = 0.9
/** Share of a holder from which on its largest owner is the one to act. With less, many owners hold it together. */
const leastOwned = 0.1

const isOfPod = (part: HolderPart | undefined) =>
  part?.owner?.kind === 'container' || part?.owner?.kind === 'pod'

/** Of all parts that have the owner of the first, which is the largest. Null: images, or the parts that are not listed may have that owner, too. */
function bytesOfLargest(parts: readonly HolderPart[]) {
  const [largest] = parts
  if (largest === undefined || largest.owner?.kind === 'image') return null
  const key = ownerOf(largest)
  const same = parts.filter(part => ownerOf(part) === key)
  if (same.length === parts.length && parts.length > 1) return null
  return same.reduce((sum, { lowBytes }) => sum + lowBytes, 0)
}

function ownerOf({ owner, place }: HolderPart) {
  if (owner === null || owner.kind === 'image') return `place ${place}`
  if (owner.kind === 'process') return `process ${owner.pid}`
  return `${owner.namespace}/${owner.workload ?? owner.pod}`
}

const mostPods = 5

/** The pods of the owner that hold a tenth of the holder or more, the largest first. */
function podsOf({ owner, holder, filesystem, amount }: HolderCause, parts: readonly HolderPart[]) {
  if (owner === null || !('workload' in owner) || owner.workload === null) return []
  const sums = new Map<string, number>()
  for (const part of parts) {
    const own = part.holder === holder && part.filesystem === filesystem ? part.owner : null
    if (own === null || !('workload' in own) || own.pod === null) continue
    if (own.namespace !== owner.namespace || own.workload !== owner.workload) continue
    const size = amount.unit === 'inodes' ? (part.inodes ?? 0) : part.lowBytes
    sums.set(own.pod, (sums.get(own.pod) ?? 0) + size)
  }
  return [...sums]
    .filter(([, size]) => size >= leastOwned * amount.low)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, mostPods)
    .map(([pod]) => pod)
}

const inPods: ReadonlySet<HolderCause['holder']> = new Set([
  ...(['writable-layers', 'pod-volumes', 'memory-volumes'] as const),
])
/** Share from which on the end of one pod makes room. */
const leastShareOfPod = 0.5

/** The deletion of the pods that hold most of it. Null: another holder, or no deletion of few pods ends it. */
export function podDeletion(
  cause: Cause,
  { ledger, pods }: Pick<NodeSubject, 'ledger' | 'pods'>,
): StepAction | null {
  if (cause.kind !== 'holder' || !inPods.has(cause.holder)) return null
  const { owner, amount, largestBytes = amount.low } = cause
  const deletion = deletionOf(owner, pods)
  if (deletion?.id === 'end-pod' && largestBytes < leastShareOfPod * amount.low) return null
  const own = podsOf(cause, ledger?.parts ?? [])
  return deletion && { ...deletion, ...(own.length > 0 && { pods: own }) }
}

/** Null: it is no pod, or a deletion ends none of its processes, or ends the mounts of others. */
export function deletionOf(
  owner: HolderOwner | null,
  pods: NodeSubject['pods'],
): StepAction | null {
  if (owner === null || !('workload' in owner) || owner.pod === null) return null
  if (isOfDaemonSet(owner)) return isOfMounts(pods, owner) ? null : { id: 'restart-pod', owner }
  if (owner.workload !== null) return { id: 'delete-pod', owner }
  return isBare(pods, owner) ? { id: 'end-pod', owner } : null
}

/** With the deletion of the pods first, if no step ends them yet. */
export function withDeletion(
  reason: Reason,
  subject: Pick<NodeSubject, 'ledger' | 'pods'>,
): Reason {
  const isEnded = reason.steps.some(({ id }) => endings.has(id))
  const deletion = isEnded ? null : podDeletion(reason.cause, subject)
  return deletion === null ? reason : { ...reason, steps: [deletion, ...reason.steps] }
}

const endings: ReadonlySet<StepActionId> = new Set(['end-pod', 'reboot', 'restart-pod'])

/** The deletion of the pod that uses most of the memory. Null: none does. */
export function memoryDeletion(
  { cause, steps }: Reason,
  subject: Pick<NodeSubject, 'ledger' | 'pods' | 'eviction'>,
): StepAction | null {
  if (cause.kind === 'holder') return podDeletion(cause, subject)
  const { owner = null, bytes = 0 } = steps.find(({ id }) => id === 'set-memory') ?? {}
  const { capacityBytes = 0, availableBytes = 0 } =
    subject.eviction?.signals['memory.available'] ?? {}
  return bytes < leastShareOfPod * (capacityBytes - availableBytes)
    ? null
    : deletionOf(owner, subject.pods)
}

/** Share of a disk above which no pod can request what it holds: it would fit no node of its group. */
const largestRequest = 0.4

/** Docker writes them down elsewhere too, and may use them: its own command deletes those that no container uses. */
const ofDockerVolumes = /^\/var\/lib\/docker\/volumes(?:\/|$)/
const ofDocker = /^\/var\/lib\/docker(?:\/|$)/

/** Folders of the runtime and the kubelet: containers may need what lies there. */
const ofRuntime = /^\/var\/lib\/(?:containerd|kubelet)(?:-[\w-]+)?(?:\/|$)/

/** Folders of the AMI, which no node can make smaller. Other folders of the system hold data. */
const ofAmi = /^\/(?:usr|boot)(?:\/|$)/

/** Archives of the checkpoint API, which the kubelet never deletes. Source: kubernetes.io/docs/reference/node/kubelet-checkpoint-api */
const checkpoints = /\/checkpoints$/

/**
 * In place of a volume that is not mounted: the kubelet deletes no such folder that has files.
 * Upstream: pkg/kubelet/kubelet_volumes.go removeOrphanedPodVolumeDirs
 */
const isUnmounted = (place: string | null) => place?.includes('/volumes/kubernetes.io~') === true

/** The table's steps, or others where these cannot end it. */
function stepsOf(
  { holder, place, owner, amount: { unit } }: HolderCause,
  { discardUnpackedLayers = false, version = '' }: RuntimeFacts,
): readonly StepActionId[] {
  // Requests, limits and sizeLimit count bytes: none of them limits files.
  if (unit === 'inodes' && holder === 'writable-layers') return ['restart-pod', 'ask-owner']
  const own = unit === 'inodes' && holder === 'pod-volumes' ? (['ask-owner'] as const) : null
  // The pod of a DaemonSet is not drained: its deletion makes room at once.
  if ((holder === 'writable-layers' || holder === 'pod-volumes') && isOfDaemonSet(owner))
    return [...(own ?? holders[holder].steps), 'restart-pod']
  if (own !== null) return own
  if (holder === 'system' && place !== null && !ofAmi.test(place)) return ['delete-place']
  if (holder === 'kubelet' && place !== null && checkpoints.test(place)) return ['delete-place']
  const isOfDocker = version.startsWith('docker ') && place !== null && ofDocker.test(place)
  if (isOfDocker && holders[holder].steps[0] === 'delete-place')
    return ofDockerVolumes.test(place) ? ['prune-volumes'] : ['look-on-node', 'replace-node']
  if (holder === 'unknown-folder' && place !== null && ofRuntime.test(place))
    return ['look-on-node', 'replace-node']
  if (holder === 'pod-folders' && isUnmounted(place)) return ['move-into-volume']
  // Which pod it is, and whether its deletion ends it, has to be seen.
  if (holder === 'pod-folders' && owner === null) return ['delete-pod-folder']
  // Packed layers of pulls that did not end: a lease keeps them.
  if (holder === 'image-content' && discardUnpackedLayers) return ['look-on-node', 'replace-node']
  return holders[holder].steps
}

/**
 * @param ledger one part is what its owner can act on
 */
export function reasonOf(
  cause: HolderCause,
  { parts, filesystems }: Pick<NodeLedger, 'parts' | 'filesystems'>,
  identity: InspectIdentity,
  runtime: RuntimeFacts = {},
): Reason {
  const { holder, filesystem, owner, place, amount } = cause
  const isReadable = canMeasureDisks(identity)
  if (holder === 'unread') {
    const { unit } = amount
    return {
      cause: { kind: 'unread', source: diskUse, reason: isReadable ? 'not-asked' : 'unsupported' },
      steps: [
        { id: isReadable ? 'read-on-node' : 'look-on-node', ...(unit === 'inodes' && { unit }) },
      ],
    }
  }
  const { actor } = holders[holder]
  const alike = parts.filter(part => part.holder === holder && part.filesystem === filesystem)
  const [own] = alike
  const folders = alike.flatMap(part => (part.owner === null ? (part.place ?? []) : []))
  const isOfMany = owner === null && isOfPod(own)
  const values = {
    ...(owner !== null && owner.kind !== 'image' && { owner }),
    ...(place !== null && { place }),
    ...(!isOfMany && { bytes: own?.lowBytes ?? amount.low }),
  }
  const disk = filesystems.find(one => one.filesystem === filesystem)
  const hasRoom = filesystem === 'imagefs' && isRoomy(filesystems, amount.low)
  const isTooLarge =
    (values.bytes ?? 0) > largestRequest * (disk?.capacityBytes ?? Number.POSITIVE_INFINITY)
  const pods = podsOf(cause, parts)
  const isUnknown = cause.owners === 'unknown' && amount.unit === 'bytes'
  const steps = [...(isUnknown ? (['look-on-node'] as const) : []), ...stepsOf(cause, runtime)]
    .filter(id => (id !== 'read-on-node' || isReadable) && (id !== 'restart-pod' || !isOfMany))
    .map(id => (id === 'set-ephemeral-storage' && isTooLarge ? 'move-to-volume' : id))
  const isOwned = actor === 'platform' && values.owner !== undefined
  return {
    cause,
    steps: steps.map(id => ({
      // Pods use the folder: only their owner can say what is no longer needed.
      id: isOwned && id === 'delete-place' ? 'clean-with-owner' : id,
      ...values,
      ...(id === 'move-to-volume' && { place: hasRoom ? 'emptyDir' : undefined }),
      ...(id === 'restart-pod' && pods.length > 0 && { pods }),
      ...(id === 'delete-pod-folder' && folders.length > 1 && { folders }),
      ...(amount.unit === 'inodes' && { unit: amount.unit }),
      ...(id === 'upgrade-runtime' &&
        runtime.version !== undefined && { message: runtime.version }),
    })),
  }
}

/** Whether nodefs has enough room for so much more in volumes of pods. */
function isRoomy(filesystems: readonly FilesystemLedger[], moved: number): boolean {
  const nodefs = filesystems.find(({ filesystem }) => filesystem === 'nodefs')
  return nodefs !== undefined && nodefs.usedBytes + moved < roomy * nodefs.capacityBytes
}

/** Bounds this far apart do not say which disk is large enough. */
const vague = 2

/** Before a disk is bought for what is not known well, it is measured. */
export function measuredFirst(
  reason: Reason,
  { ledger, identity }: Pick<DiskSubject, 'ledger' | 'identity'>,
): Reason {
  const { cause, steps } = reason
  if (cause.kind !== 'holder' || !canMeasureDisks(identity)) return reason
  const { low, high } = cause.amount
  const disk = ledger?.filesystems.find(one => one.filesystem === cause.filesystem)
  const isVague =
    (high ?? Number.POSITIVE_INFINITY) > vague * low &&
    disk?.lines.some(({ holder }) => holder === 'unread') === true
  return isVague && steps[0]?.id === 'larger-disk'
    ? { ...reason, steps: [{ id: 'read-on-node' }, ...steps] }
    : reason
}

/** How long after its grace period a pod still ends by itself. */
const mostEndingMs = 600_000

/** Of a pod that was deleted and does not end: only a reboot ends its processes, and with them its volumes and layers. */
function withEndlessPods(reason: Reason, { pods, at }: Pick<DiskSubject, 'pods' | 'at'>): Reason {
  const owner = reason.cause.kind === 'holder' ? reason.cause.owner : null
  if (owner === null || !('pod' in owner) || owner.kind === 'process') return reason
  const deleted = pods?.find(({ metadata }) => isPod(metadata, owner))?.metadata?.deletionTimestamp
  const endingMs = Date.parse(at ?? '') - Date.parse(deleted ?? '')
  if (!(endingMs > mostEndingMs)) return reason
  return {
    ...reason,
    steps: [{ id: 'reboot', owner }],
    seen: `the pod was deleted ${span(endingMs)} ago and is still Terminating: its processes do not end.`,
  }
}

const isPod = (
  metadata: KubernetesPod['metadata'],
  { namespace, pod }: { namespace: string | null; pod: string | null },
) => metadata?.name === pod && metadata?.namespace === namespace

/**
 * The deletion of a mirror pod restarts no container of its static pod; that of a pod without a controller ends it. Of a pod that mounts volumes for others, such as a CSI driver, it can end their mounts.
 */
export function withStaticPods(reason: Reason, pods: NodeSubject['pods']): Reason {
  const { cause } = reason
  const owner = cause.kind === 'holder' ? cause.owner : null
  if (owner === null || !('pod' in owner)) return reason
  const hasController = 'workload' in owner && owner.workload !== null
  if (!hasController && isBare(pods, owner)) return withStep(reason, 'end-pod')
  const isLog = cause.kind === 'holder' && cause.holder === 'container-logs'
  if (!isMirror(pods, owner) && (isLog || !isOfMounts(pods, owner))) return reason
  return withStep(reason, isLog ? 'empty-log' : null)
}

/** With another step in place of a restart of the pod, or with none. */
const withStep = (reason: Reason, id: StepActionId | null): Reason => ({
  ...reason,
  steps: reason.steps.flatMap(step => {
    if (step.id !== 'restart-pod') return [step]
    return id === null ? [] : [{ ...step, id }]
  }),
})

/** No controller starts the pod again. */
const isBare = (pods: NodeSubject['pods'], owner: PodName) =>
  pods?.some(({ metadata }) => isPod(metadata, owner) && !metadata?.ownerReferences?.length) ===
  true

type PodName = Parameters<typeof isPod>[1]

const isMirror = (pods: NodeSubject['pods'], owner: PodName) =>
  pods?.some(
    ({ metadata }) =>
      isPod(metadata, owner) && metadata?.ownerReferences?.some(({ kind }) => kind === 'Node'),
  ) === true

const isOfMounts = (pods: NodeSubject['pods'], owner: PodName) =>
  pods?.some(
    ({ metadata, spec }) =>
      isPod(metadata, owner) &&
      spec?.volumes?.some(({ hostPath }) => hostPath?.path?.startsWith('/var/lib/kubelet')),
  ) === true

/** Why the disk of a signal is full. Null: nothing was measured. */
export function diskReason(
  { ledger, identity, imageGC, host, node, configuration, pods = null, at }: DiskSubject,
  signal: Signal,
): Reason | null {
  const [first, second] = heldBySignal(ledger, signal)
  if (first === undefined) return null
  // Of images whose use is unknown, image GC would free too few: they are in use. So are those that evicted pods pull again.
  const isInUse =
    (first.holder === 'images' && imageGC?.reachesLow === false) ||
    (first.freedBy === 'image-gc' && areOfEvicted(ledger?.parts ?? []))
  const inUse = { holder: 'images-in-use', freedBy: holders['images-in-use'].freedBy } as const
  const cause: HolderCause = { ...first, ...(isInUse && inUse) }
  const reason = withStaticPods(
    reasonOf(cause, ledger ?? { parts: [], filesystems: [] }, identity, runtimeOf({ host, node })),
    pods,
  )
  const set =
    cause.holder === 'container-logs'
      ? (logsOfDocker(reason, runtimeOf({ host, node })) ??
        smallerLogs(configuration, reason, ledger))
      : largerReserve(configuration, cause, ledger)
  if (set !== null) return { ...reason, ...set }
  const endless = withEndlessPods(reason, { pods, at })
  if (endless !== reason) return endless
  const unlimited = withoutLimit(reason, ledger)
  if (unlimited !== reason) return unlimited
  const isMoreUnread =
    holders[first.holder].actor === 'owner' &&
    second?.holder === 'unread' &&
    second.amount.low > first.amount.low &&
    canMeasureDisks(identity)
  return {
    ...reason,
    steps: [
      ...reason.steps.map(step =>
        first.holder === 'unread'
          ? withMounts(step, pods)
          : withSize(step, { ledger, identity, imageGC }, first),
      ),
      ...(isMoreUnread ? [{ id: 'read-on-node' as const }] : []),
    ],
  }
}

/** What holds each disk, be it full or not. */
export function heldDisks({ ledger, identity, imageGC, host, node }: NodeSubject): HeldDisks {
  if (ledger === null) return {}
  return Object.fromEntries(
    ledger.filesystems.flatMap(disk => {
      const largest = disk.lines.toSorted((a, b) => b.bytes - a.bytes)[0]
      const reason =
        diskReason({ ledger, identity, imageGC, host, node }, `${disk.filesystem}.available`) ??
        (largest &&
          reasonOf(
            holderCause(largest, disk, ledger.parts),
            ledger,
            identity,
            runtimeOf({ host, node }),
          ))
      return reason
        ? [[disk.filesystem, { cause: reason.cause, steps: stepsWithoutCommands(reason.steps) }]]
        : []
    }),
  )
}

/** Of logs that the kubelet cannot rotate. Null: of another runtime. Upstream: cri-dockerd core/logs.go ReopenContainerLog */
const logsOfDocker = ({ steps }: Reason, { version = '' }: RuntimeFacts) =>
  version.startsWith('docker ')
    ? {
        steps,
        seen: 'the kubelet rotates no logs of Docker, whatever containerLogMaxSize is: log-opts max-size in /etc/docker/daemon.json does, for new containers.',
      }
    : null

/** The kubelet's default rotation, if the configured one permits the log that holds the disk. Null: any other case. */
function smallerLogs(
  configuration: KubeletConfiguration | null | undefined,
  { steps }: Reason,
  ledger: NodeLedger | null,
): Pick<Reason, 'steps' | 'fix'> | null {
  const rotation = configuration ? logRotationOf(configuration) : null
  const preset = logRotationOf({})
  if (rotation === null || preset === null) return null
  const log = ledger?.parts.find(({ holder }) => holder === 'container-logs')
  const isPermitted = (log?.lowBytes ?? 0) <= rotation.perContainerBytes
  if (!isPermitted || rotation.perContainerBytes <= preset.perContainerBytes) return null
  const config = { containerLogMaxSize: preset.maxSize, containerLogMaxFiles: preset.files }
  const freeing = steps.filter(({ id }) => id !== 'ask-owner')
  return { steps: [...freeing, { id: 'set-fields' }], fix: { config } }
}

/** Whether a holder is neither of pods nor of images, and larger than on other nodes. What was not read has the system in it. */
function isOdd(line: LedgerLine, capacityBytes: number): boolean {
  const { actor, isUsual } = holders[line.holder]
  if (actor === 'owner' || imageHolders.has(line.holder)) return false
  const share = isUsual === true || line.holder === 'unread' ? least.usual : least.share
  return expectedAmount(line, 'bytes') >= share * capacityBytes
}

const reserve = kubeletSetting('systemReserved.ephemeral-storage')

/**
 * Pods that keep within their requests fill a disk only if less is reserved than images and system hold. Null: any other case.
 * Upstream: pkg/kubelet/cm/node_container_manager_linux.go GetNodeAllocatableReservation
 */
function largerReserve(
  configuration: KubeletConfiguration | null | undefined,
  { owner, filesystem, amount }: HolderCause,
  ledger: NodeLedger | null,
): Pick<Reason, 'cause' | 'steps' | 'fix' | 'seen'> | null {
  if (!configuration || !ledger?.isShared || amount.unit !== 'bytes') return null
  const use = useOf(owner, ledger)
  const disk = ledger.filesystems.find(one => one.filesystem === filesystem)
  const reserved = reservedOf(configuration, 'ephemeral-storage')
  if (!use || !disk || reserved === null || use.bytes > (use.requestBytes ?? 0)) return null
  if (disk.lines.some(line => isOdd(line, disk.capacityBytes))) return null
  const unused = disk.lines.find(({ holder }) => holder === 'images-unused')?.bytes ?? 0
  const ofPods = ledger.namespaces.reduce((sum, one) => sum + one.bytes, 0)
  const others = disk.usedBytes - unused - ofPods
  if (others <= reserved.total) return null
  const size = `${Math.ceil((others - reserved.kube) / gibibyte)}Gi`
  const systemReserved = { ...configuration.systemReserved, 'ephemeral-storage': size }
  return {
    cause: reserve,
    steps: [{ id: 'set-fields' }],
    fix: { config: { systemReserved } },
    seen: `${shorten(`${use.owner} in ${use.namespace}`, nameLength)} holds no more than it requests; images and system hold ${bytes(others)}, and ${bytes(reserved.total)} are reserved.`,
  }
}

/** What the kubelet counts of an owner's pods. */
function useOf(owner: HolderOwner | null, ledger: NodeLedger | null) {
  if (owner?.kind !== 'container' && owner?.kind !== 'pod') return undefined
  const name = owner.workload ?? `Pod ${owner.pod}`
  return ledger?.owners.find(one => one.namespace === owner.namespace && one.owner === name)
}

/** Of a layer above its limit that the kubelet does not count: another limit would not hold either. */
function withoutLimit(reason: Reason, ledger: NodeLedger | null): Reason {
  const { cause, steps } = reason
  if (cause.kind !== 'holder' || cause.holder !== 'writable-layers') return reason
  const { owner } = cause
  const { limitBytes = null, layerBytes = 0, pods = 1 } = useOf(owner, ledger) ?? {}
  const own = steps.find(({ bytes: held }) => held !== undefined)?.bytes ?? 0
  if (owner === null || limitBytes === null || own <= limitBytes / pods || layerBytes >= own)
    return reason
  return {
    ...reason,
    steps: [{ id: 'ask-owner', owner }],
    seen: `its limit of ${bytes(limitBytes / pods)} does not hold: the kubelet counts ${layerBytes === 0 ? 'nothing' : bytes(layerBytes)} of its layers.`,
  }
}

/** Of kubelet, runtime, system and kernel, on a node that is in order. */
const usualOutsideBytes = gibibyte
const leastMemoryVolume = 0.2
/** Share of the memory of a pod from which on it is mostly cache. */
const leastCached = 0.7
/** Share of memory below which the largest pod is no cause. */
const leastMemoryPod = 0.05

/** Why memory runs short: a volume in memory, else the pod with the largest working set, else what no pod uses. */
export function memoryReason(
  subject: Pick<NodeSubject, 'ledger' | 'summary' | 'pods' | 'identity' | 'eviction'>,
): Reason {
  const { ledger, identity, eviction, summary } = subject
  const capacityBytes = eviction?.signals['memory.available']?.capacityBytes ?? 0
  const volume = ledger?.parts.find(({ filesystem }) => filesystem === 'memory')
  if (volume && volume.lowBytes >= leastMemoryVolume * capacityBytes) {
    const { holder, filesystem, lowBytes: low, highBytes: high, owner, place } = volume
    const { freedBy } = holders[holder]
    const amount = { unit: 'bytes' as const, low, high }
    const cause = { kind: 'holder' as const, holder, filesystem, freedBy, amount, owner, place }
    return reasonOf(cause, ledger!, identity)
  }
  const largest = largestPod(subject, ({ memory }) => Number(memory?.workingSetBytes ?? 0))
  const isSmall = largest !== null && largest.amount < leastMemoryPod * capacityBytes
  const daemons = daemonsOf(summary).used
  const isLess = daemons.some(({ bytes }) => bytes > (largest?.amount ?? bytes))
  // More than half of it is not with pods, whatever they use.
  const isOfDaemon = daemons.some(({ bytes }) => 2 * bytes > capacityBytes)
  const outer = outsidePods(subject)
  const { subject: daemon, bytes: outside = 0 } = outer
  // A pod this small would not make room.
  const isMostly = 2 * outside > capacityBytes && outside > 3 * (largest?.amount ?? 0)
  if (((isSmall || isLess || isMostly) && areMeasured(subject)) || isOfDaemon) {
    if (outside <= usualOutsideBytes) return { cause: outer, steps: [{ id: 'larger-instance' }] }
    const isKnown = daemon === 'kubelet' || daemon === 'containerd'
    const first: StepAction = isKnown
      ? { id: 'restart-daemon', place: daemon }
      : { id: 'list-memory' }
    return { cause: outer, steps: [first, { id: 'reboot' }] }
  }
  const cause = settingIn('workload', 'resources.requests.memory')
  if (largest === null)
    return {
      cause: { kind: 'unread', source: 'memory of pods', reason: 'incomplete' },
      steps: [{ id: 'list-memory' }],
      seen: 'the kubelet has no statistics of its pods.',
    }
  if (isSmall) return { cause, steps: [{ id: 'read-pods' }] }
  const { owner, amount } = largest
  const own = summary?.pods?.find(
    ({ podRef }) => podRef?.namespace === owner.namespace && podRef?.name === owner.pod,
  )?.memory
  // -1: the answer had no number there.
  const anonymous = Number(own?.rssBytes ?? -1)
  const cached = anonymous < 0 ? 0 : amount - anonymous
  return {
    cause,
    steps: [{ id: 'set-memory', owner, bytes: amount }],
    ...(cached >= leastCached * amount && {
      seen: `Of the ${bytes(amount)} of ${shorten(`${owner.namespace}/${owner.pod}`, nameLength)}, ${bytes(cached)} are cache of files that it reads or writes, or files in memory: the kubelet counts them, and a memory limit makes the kernel drop such a cache.`,
    }),
  }
}

/** The program of the node with most of the memory that no pod uses, if the kubelet counts it. */
function outsidePods({
  summary,
  eviction,
}: Pick<NodeSubject, 'summary' | 'eviction'>): Extract<Cause, { kind: 'world' }> {
  const { capacityBytes = 0, availableBytes = 0 } = eviction?.signals['memory.available'] ?? {}
  const ofPods = (summary?.pods ?? []).reduce(
    (sum, { memory }) => sum + Number(memory?.workingSetBytes ?? 0),
    0,
  )
  const bytes = Math.max(0, capacityBytes - availableBytes - ofPods)
  const daemon = daemonsOf(summary).used.find(one => 2 * one.bytes >= bytes)
  const cause = { kind: 'world', event: 'memory-outside-pods' } as const
  return daemon === undefined
    ? { ...cause, subject: null, bytes }
    : { ...cause, subject: programs[daemon.name] ?? daemon.name, bytes: daemon.bytes }
}

/** Programs by their name in the kubelet's statistics. */
const programs: Readonly<Record<string, string>> = { runtime: 'containerd' }

/** Writers of folders, of which the kubelet counts nothing. */
function withMounts(step: StepAction, pods: NodeSubject['pods']): StepAction {
  const mounts = step.id === 'read-on-node' ? writableMounts(pods) : []
  return mounts.length === 0 ? step : { ...step, mounts }
}

function withSize(
  step: StepAction,
  { ledger, identity: { amiFamily, owner, instanceId }, imageGC }: DiskSubject,
  { filesystem }: HolderCause,
): StepAction {
  const disk = ledger?.filesystems.find(one => one.filesystem === filesystem)
  if (step.id !== 'larger-disk' || ledger === null || disk === undefined) return step
  const lowPercent = imageGC?.lowThresholdPercent ?? 100
  const { id } = step
  // The disks of hybrid nodes and of other clouds are no EBS volumes.
  if (owner === 'hybrid' || instanceId === null) return { id }
  const namespaces = filesystem === 'nodefs' ? ledger.namespaces : []
  return {
    id,
    ...volumeToWrite(disk, ledger.parts, {
      amiFamily,
      lowPercent,
      namespaces,
      volumes: ledger.volumes,
    }),
    ...(owner === 'auto-mode' && { place: 'NodeClass' }),
  }
}

interface DiskSubject {
  ledger: NodeLedger | null
  at?: string
  pods?: NodeSubject['pods']
  identity: InspectIdentity
  imageGC?: ImageGcPrediction | null
  configuration?: NodeSubject['configuration']
  host?: NodeSubject['host']
  node?: NodeSubject['node']
}

export interface RuntimeFacts {
  /** containerd keeps no packed layers of images. */
  discardUnpackedLayers?: boolean
  /** `containerd 1.7.27`. */
  version?: string
}

export function runtimeOf({ host, node }: Pick<DiskSubject, 'host' | 'node'>): RuntimeFacts {
  const version = node?.status?.nodeInfo?.containerRuntimeVersion?.replace('://', ' ')
  return {
    discardUnpackedLayers: host?.containerd?.discardUnpackedLayers === true,
    ...(version !== undefined && { version: shorten(version, 60) }),
  }
}

/** Whether pods that were evicted here run most of the unused images. */
function areOfEvicted(parts: readonly HolderPart[]): boolean {
  const signed = parts.map(({ owner, lowBytes }) => {
    const isUnused = owner?.kind === 'image' && owner.workloads.length === 0
    return isUnused && owner.isInUse !== true ? lowBytes * (owner.isEvicted ? 1 : -1) : 0
  })
  return signed.reduce((sum, one) => sum + one, 0) > 0
}

const imageHolders: ReadonlySet<string> = new Set([
  'images',
  'images-unused',
  'images-in-use',
  'images-pinned',
])

/** Whether something else than images holds most of a disk, even if it is not known what. False: unknown, too. */
export function isHeldByOthers(ledger: NodeLedger | null, signal: Signal): boolean {
  const [first] = heldBySignal(ledger, signal)
  if (first === undefined || imageHolders.has(first.holder)) return false
  if (first.holder !== 'unread') return true
  const disk = ledger?.filesystems.find(({ filesystem }) => filesystem === first.filesystem)
  const mostBytes = (disk?.lines ?? [])
    .filter(({ holder }) => imageHolders.has(holder))
    .reduce((sum, { highBytes }) => sum + highBytes, 0)
  return disk !== undefined && mostBytes < disk.usedBytes / 2
}
