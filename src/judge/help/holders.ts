/** The steps against what holds a disk. */

import { isPlainPath } from '#base/text.ts'
import { gibibyte, hourMs } from '#base/units.ts'
import { canMeasureDisks, type InspectIdentity } from '#facts/aws/inspect-targets.ts'
import { holders } from '#facts/holders.ts'
import { isDatastore, isOfRuntime, logFolder, rotatorOf } from '#facts/host-folders.ts'
import { agoMs, isWithinWindow, shownTime } from '#judge/events/events.ts'
import { leastTry } from '#judge/events/evictions.ts'
import { stepsWithoutCommands } from '#judge/fixes/steps.ts'
import { matchesPath } from '#judge/logs/log-paths.ts'
import { patternsOf } from '#judge/logs/logrotate.ts'
import { logRotationOf } from '#judge/logs/logs.ts'
import {
  bytes,
  deviceCause,
  kubeletSetting,
  type NodeSubject,
  nameLength,
  plural,
  shorten,
  span,
} from '#judge/rule.ts'
import type { Cause, HolderCause, StepAction, StepActionId } from '#model/finding.ts'
import { repositoryOf } from '#model/input/image-reference.ts'
import {
  type ContainerStatus,
  type FilesystemStats,
  type NodeIdentity,
  placedWorkload,
  statusesOf,
  waitsForRestart,
} from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import {
  areOfOnePool,
  containerOwner,
  type FilesystemLedger,
  fullestOf,
  type HolderOwner,
  type HolderPart,
  listedOwners,
  type NodeLedger,
  type Signal,
} from '#model/prediction.ts'
import type { HeldDisks } from '#model/report.ts'
import {
  endingMs,
  endPod,
  evictedBefore,
  isOfDaemonSet,
  jobOf,
  keepsData,
  podDeletion,
  podOf,
  podsOf,
  runsForever,
  startsAgain,
  statsOf,
  usesKubeletFolder,
  withDeletion,
  writingContainer,
} from './deletion.ts'
import { largerVolume, volumeToWrite } from './disk-size.ts'
import { disksBeside } from './disks-beside.ts'
import { freesBelow } from './freed-by-image-gc.ts'
import {
  areAllUsed,
  areOfEvicted,
  diskOf,
  heldBySignal,
  holderCause,
  isBelowSystem,
  isPodPart,
  isTinyDisk,
  isUnmounted,
  isUnusuallyLarge,
  leastOwned,
  littleText,
  mostOf,
  ofLocalStorage,
  podBytesOf,
  type Reason,
  roomy,
  usedFor,
} from './holder-cause.ts'
import { cutMounts, mountsAt, withMounts } from './host-mounts.ts'
import { reservedOf } from './reservations.ts'
import { hasFreeAge } from './thresholds.ts'

/** What an unread cause names, if a measurement of the disk is missing. */
export const diskUse = 'disk use'

/** Share of a disk above which no pod can request what it holds: it would fit no node of its group. */
const largestRequest = 0.4

/** Docker writes down elsewhere too what lies there, and may use it: its own commands delete what no container uses. */
const ofDocker =
  /^\/var\/lib\/docker(?:\/|$)|\/docker\/(?:overlay2|volumes|containers|image|buildkit)(?:\/|$)/
/** Not the folder of all pods, where live ones are. */
const onePodFolder = /\/pods\/[^/]+/
const ofDockerVolumes = /^\/var\/lib\/docker\/volumes(?:\/|$)/

/** Folders of the AMI, which no node can make smaller. Other folders of the system hold data. */
const ofAmi = /^\/(?:usr|boot)(?:\/|$)/

/** Archives of the checkpoint API, which the kubelet never deletes. Source: kubernetes.io/docs/reference/node/kubelet-checkpoint-api */
const checkpoints = /\/checkpoints$/

/** The table's steps, or others where these cannot end it. */
function stepsOf(
  { holder, place, owner, amount: { unit } }: HolderCause,
  { host, node, pods }: HolderSubject,
): readonly StepActionId[] {
  // Requests, limits and sizeLimit count bytes: none of them limits files.
  if (unit === 'inodes' && holder === 'writable-layers') return ['restart-pod', 'ask-owner']
  // The pod of a DaemonSet is not drained: its deletion makes room at once. All its pods would get the request.
  const isInContainer = holder === 'writable-layers' || holder === 'image-volumes'
  if (isInContainer && isOfDaemonSet(owner)) return ['move-to-volume', 'restart-pod']
  if (holder === 'pod-volumes' && unit !== 'inodes' && keepsData(owner, pods))
    return ['move-to-volume']
  if (holder === 'pod-volumes') {
    const steps = unit === 'inodes' ? (['ask-owner'] as const) : holders[holder].steps
    return isOfDaemonSet(owner) ? [...steps, 'restart-pod'] : steps
  }
  if (holder === 'system' && place !== null && !ofAmi.test(place)) return ['delete-place']
  if (holder === 'kubelet' && place !== null && checkpoints.test(place)) return ['delete-place']
  const isOfDocker =
    place !== null &&
    (ofDocker.test(place) || (holder === 'other-runtime' && place.endsWith('/docker')))
  if (isOfDocker && holders[holder].steps[0] === 'delete-place') {
    if (!isDocker(node)) return ['prune-docker']
    return ofDockerVolumes.test(place) ? ['prune-volumes'] : ['look-on-node', 'replace-node']
  }
  if (place !== null && isDatastore(place)) return ['compact-datastore']
  if (holder === 'unknown-folder' && place !== null && isOfRuntime(place))
    return ['look-on-node', 'replace-node']
  if (holder === 'pod-folders' && isUnmounted(place)) return ['move-into-volume']
  // Which pod it is, and whether its deletion ends it, has to be seen.
  if (holder === 'pod-folders' && !owner)
    return [place !== null && onePodFolder.test(place) ? 'delete-pod-folder' : 'look-on-node']
  // Packed layers of pulls that did not end: a lease keeps them.
  if (holder === 'image-content' && host?.containerd?.discardUnpackedLayers === true)
    return ['look-on-node', 'replace-node']
  return holders[holder].steps
}

/** What the owner of one part can do, and then the owner of a second one that is about as large. */
export const reasonOf = (cause: HolderCause, subject: HolderSubject): Reason =>
  withSecondHolder(reasonOfFirst(cause, subject), subject)

/** A reader who ends the first holder alone ends half. */
function withSecondHolder(reason: Reason, subject: HolderSubject): Reason {
  const also = reason.cause.kind === 'holder' && reason.cause.also
  if (!also) return reason
  const known = new Set(reason.steps.map(step => JSON.stringify(withoutBytes(step))))
  const more = reasonOfFirst(also, subject).steps.filter(
    step => !known.has(JSON.stringify(withoutBytes(step))),
  )
  return { ...reason, steps: [...reason.steps, ...more] }
}

const withoutBytes = ({ bytes: _, ...step }: StepAction) => step

/** Why no measurement shows what holds the disk. `unmeasured`: one did not get through. */
function unreadReason({ identity, host }: Pick<HolderSubject, 'identity' | 'host'>) {
  if (host?.diskUse) return 'unmeasured'
  return canMeasureDisks(identity) ? 'not-asked' : 'unsupported'
}

/** What the snapshotter holds may be in no folder, and the kubelet reports nothing of it. */
const lacksImageFs = ({ summary, filesystems }: Pick<HolderSubject, 'summary' | 'filesystems'>) =>
  summary?.node != null && filesystems?.imagefs == null

/** A measurement that did not finish would not finish again: the step is to look on the node. */
const measuring = (subject: Pick<HolderSubject, 'identity' | 'host'>) => ({
  id: unreadReason(subject) === 'not-asked' ? ('read-on-node' as const) : ('look-on-node' as const),
})

function unreadDisk(
  inodes: false | Pick<StepAction, 'unit'>,
  { filesystem }: HolderCause,
  subject: HolderSubject,
): Reason {
  const disk = inodes ? null : subject.ledger && diskOf(subject.ledger, filesystem)
  const seen = disk && littleText(disk)
  return {
    cause: { kind: 'unread', source: diskUse, reason: unreadReason(subject) },
    steps: [
      ...(lacksImageFs(subject) ? [{ id: 'read-snapshots' as const }] : []),
      { ...measuring(subject), ...inodes },
    ],
    ...(seen && { seen }),
  }
}

function reasonOfFirst(cause: HolderCause, subject: HolderSubject): Reason {
  const { holder, filesystem, owner, place, amount } = cause
  const { identity, node } = subject
  const held = subject.ledger ?? { parts: [], filesystems: [], owners: [] }
  const inodes = amount.unit === 'inodes' && { unit: amount.unit }
  if (holder === 'unread')
    return (inodes ? null : pooledReason(subject)) ?? unreadDisk(inodes, cause, subject)
  const alike = held.parts.filter(part => part.holder === holder && part.filesystem === filesystem)
  const own = alike.find(part => owner !== null && part.owner === owner) ?? alike[0]
  const folders = alike.flatMap(part => (part.owner ? [] : (part.place ?? [])))
  const isOfMany = owner === null && isPodPart(own)
  const ownBytes = own?.lowBytes ?? amount.low
  const values = {
    ...(owner !== null && owner.kind !== 'image' && { owner }),
    ...(place !== null && { place }),
    ...(!isOfMany && { bytes: ownBytes }),
  }
  const { capacityBytes = Number.POSITIVE_INFINITY } = diskOf(held, filesystem) ?? {}
  const podBytes = !isOfMany && own?.owner && 'pod' in own.owner ? storageOfPod(own.owner, held) : 0
  const isTooLarge = (values.bytes ?? 0) > largestRequest * capacityBytes
  const pods = podsOf(cause, held.parts)
  const isUnknown = cause.owners === 'unknown' && holder !== 'host-path'
  const steps = [...(isUnknown ? (['look-on-node'] as const) : []), ...stepsOf(cause, subject)]
    .filter(
      id =>
        (id !== 'read-on-node' || canMeasureDisks(identity)) && (id !== 'restart-pod' || !isOfMany),
    )
    .filter(id => id !== 'check-rotation' || owner === null)
    .filter(id => id !== 'upgrade-runtime' || isContainerd(node))
    .map(id => (id === 'set-ephemeral-storage' && isTooLarge ? 'move-to-volume' : id))
  // Nothing that runs shows what a dead container holds.
  const isHidden = isOfMany || holder === 'dead-containers'
  const inside = isHidden ? undefined : writingContainer(owner, subject.pods ?? null, place)
  const mounts = mountsBeside(cause, subject)
  const isOwned =
    holders[holder].actor === 'platform' && (values.owner !== undefined || mounts.length > 0)
  const isFile = isLogFile(cause, alike)
  const ofFile: StepActionId = isFile ? 'empty-log' : 'delete-place'
  // Pods use the folder: only their owner can say what is no longer needed.
  const deletionStep = isOwned ? 'clean-with-owner' : ofFile
  const version = node?.status?.nodeInfo?.containerRuntimeVersion?.replace('://', ' ')
  const log = writtenLogPath(cause, subject)
  const emptying = { id: 'empty-log', place: log ?? '', variant: 'writer' } as const
  const ids = steps.map(id => (id === 'delete-place' ? deletionStep : id))
  const ofOwner = ids.map(id => ({
    id,
    // What a holder has is no size of a volume, and its folder no device.
    ...(id !== 'larger-disk' && values),
    ...(id === 'set-ephemeral-storage' && podBytes > 0 && { bytes: podBytes }),
    ...(id === 'move-to-volume' && { place: volumeFor(cause, subject) }),
    ...(id === 'move-to-volume' && volumeVariants[holder]),
    ...(inside && { inside }),
    ...(ofPods.has(id) && pods.length > 0 && { pods }),
    ...(id === 'delete-pod-folder' && folders.length > 1 && { folders }),
    ...inodes,
    ...(id === 'clean-with-owner' && mounts.length > 0 && cutMounts(mounts)),
    ...(id === 'check-rotation' && place !== null && rotatorStep(place, subject)),
    ...(id === 'upgrade-runtime' && version !== undefined && { message: shorten(version, 60) }),
  }))
  // The rotation of a log that is all of it leaves nothing to its owner.
  const rest = log !== null && log === place && isFile ? [] : ofOwner
  const reason = { cause, steps: log === null ? rest : [emptying, ...rest] }
  return withCriticalPod(withStaticPods(reason, subject.pods ?? null), alike, subject)
}

/** Its owner knows the folder by its mount. Empty: the folder is that mount, or no pod can write there. */
function mountsBeside({ place, owner }: HolderCause, subject: HolderSubject): string[] {
  const all = place === null ? [] : mountsAt(subject, place)
  return owner !== null && all.some(one => one.startsWith(`${place} (`)) ? [] : all
}

/** Of a disk that is part of a pool: its other parts, which may be mounted nowhere, make it smaller. Null: it is a disk of its own, or not known. */
function pooledReason({ filesystems, summary }: HolderSubject): Reason | null {
  const { nodefs, imagefs } = filesystems ?? {}
  if (!filesystems || !areOfOnePool(filesystems) || !nodefs || !imagefs) return null
  const used = (imagefs.capacityBytes ?? 0) - (imagefs.availableBytes ?? 0)
  const counted = summary?.node?.runtime?.imageFs?.usedBytes ?? 0
  const images =
    counted > 2 * used
      ? ` The runtime counts ${bytes(counted)} of images, imagefs holds ${bytes(used)}: images lie in other parts.`
      : ''
  return {
    cause: { kind: 'unread', source: diskUse, reason: 'unsupported' },
    steps: [{ id: 'look-on-node', variant: 'datasets' }],
    seen: `nodefs and imagefs have the same ${bytes(nodefs.availableBytes ?? 0)} left: they are likely parts of one pool, and what its other parts hold (snapshots of images, for example) makes both smaller.${images}`,
  }
}

const ofPods: ReadonlySet<StepActionId> = new Set(['restart-pod', 'prune-dead-containers'])

/** A log that is one file may be open. */
const isLogFile = ({ holder, place }: HolderCause, alike: readonly HolderPart[]) =>
  (holder === 'host-logs' || place?.startsWith(`${logFolder}/`) === true) &&
  alike.some(part => part.place === place && part.inodes === 1)

/** Looks at what a service writes before it gets a limit: alone, a limit only evicts the pod again. The pod is deleted first; pods of Jobs are not. */
export function seenBeforeLimit(reason: Reason, subject: NodeSubject): Reason {
  const [first] = reason.steps
  const { owner } = first ?? {}
  const isService =
    owner && 'workload' in owner && /^(?:Deployment|StatefulSet) /.test(owner.workload ?? '')
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

const volumeVariants: Partial<Record<HolderCause['holder'], Pick<StepAction, 'variant'>>> = {
  'image-volumes': { variant: 'declared' },
  // A limit would end its only copy.
  'pod-volumes': { variant: 'data' },
}

/** Where to put data that is too large for the layer: an empty claim of the container, or an emptyDir if nodefs has room. */
function volumeFor(cause: HolderCause, subject: HolderSubject): string | undefined {
  const nodefs = subject.ledger && diskOf(subject.ledger, 'nodefs')
  const hasRoom = cause.filesystem === 'imagefs' && nodefs != null && isTakenBy(nodefs, cause)
  const isBounded = hasRoom || cause.holder === 'image-volumes'
  return emptyClaimOf(cause, subject) ?? (isBounded ? 'emptyDir' : undefined)
}

/** Share of a volume that is used at most after data was moved into it: the data grows. */
const mostMoved = 0.8

const isTakenBy = (
  { usedBytes = 0, capacityBytes = 0 }: FilesystemStats,
  { amount, largestBytes = amount.low }: HolderCause,
) => usedBytes + largestBytes < mostMoved * capacityBytes

/** A claim with less than this share of the layer counts as empty. */
const leastOfLayer = 0.01

/** The mount path of a claim that the container can write, that is nearly empty beside its layer, and that can take it. */
function emptyClaimOf(cause: HolderCause, { pods, summary }: HolderSubject): string | undefined {
  const { holder, owner, amount } = cause
  if (holder !== 'writable-layers' || owner?.kind !== 'container' || amount.unit !== 'bytes')
    return undefined
  const pod = podOf(pods, owner)
  const empty = (statsOf(summary, owner)?.volume ?? [])
    .filter(({ pvcRef, usedBytes = Infinity }) => pvcRef && usedBytes < leastOfLayer * amount.low)
    .flatMap(volume => (isTakenBy(volume, cause) ? (volume.name ?? []) : []))
  const [path] = (pod?.spec?.containers ?? [])
    .filter(({ name }) => name === owner.container)
    .flatMap(({ volumeMounts = [] }) => volumeMounts)
    .flatMap(({ name = '', mountPath, readOnly }) =>
      empty.includes(name) && readOnly !== true ? (mountPath ?? []) : [],
    )
  return path !== undefined && isPlainPath(path) ? path : undefined
}

/** Steps that end by the kubelet's eviction of the pod. */
const limits: ReadonlySet<StepActionId> = new Set([
  'set-ephemeral-storage',
  'set-volume-limit',
  'move-to-volume',
])

/** Of a pod that the kubelet does not evict, whatever its limit: room is made inside, and the second holder counts. */
function withCriticalPod(
  reason: Reason,
  alike: readonly HolderPart[],
  { eviction }: HolderSubject,
): Reason {
  const { cause, steps } = reason
  const owner = podHolding(cause)
  const isCritical = eviction?.protected?.some(
    ({ namespace, name }) => namespace === owner?.namespace && name === owner.pod,
  )
  if (cause.kind !== 'holder' || !owner || !isCritical || !steps.some(({ id }) => limits.has(id)))
    return reason
  const inside = steps.find(step => step.inside)?.inside
  const next = nextHolderText(cause, alike)
  return {
    ...reason,
    steps: [
      ...(inside ? [{ id: 'clean-in-pod' as const, owner, inside }] : []),
      ...steps.map(step =>
        limits.has(step.id)
          ? {
              ...step,
              id: 'move-to-volume' as const,
              place: undefined,
              variant: 'critical' as const,
            }
          : step,
      ),
    ],
    ...(next !== null && { seen: next }),
  }
}

/** Of pods that the kubelet does not evict, the owner of the second largest part. Null: it holds little. */
function nextHolderText(
  { owner, amount }: HolderCause,
  parts: readonly HolderPart[],
): string | null {
  const workloadOf = (one: HolderOwner | null) =>
    one && 'workload' in one && one.workload !== null
      ? placedWorkload(one.namespace ?? '', one.workload)
      : null
  const next = parts
    .filter(part => workloadOf(part.owner) !== workloadOf(owner))
    .toSorted((a, b) => b.lowBytes - a.lowBytes)[0]
  const name = workloadOf(next?.owner ?? null)
  return next && name !== null && next.lowBytes >= leastOwned * amount.low
    ? `${shorten(name, nameLength)} holds ${bytes(next.lowBytes)} more.`
    : null
}

/** A buffer of a log shipper holds what it has not sent. */
const nameOfLog = /\.log$|\/(?:messages|syslog)$/

/** A log below /var/log that a pod writes through a hostPath, and that holds most of it. Null: none, or nothing writes it now. */
function writtenLogPath(
  { holder, place, amount }: HolderCause,
  { host, at = '' }: HolderSubject,
): string | null {
  if (holder !== 'host-path' || !place?.startsWith(`${logFolder}/`)) return null
  const log = host?.logs?.biggest?.find(
    ({ path = '', bytes: size = 0, modifiedAt = null }) =>
      (path === place || path.startsWith(`${place}/`)) &&
      2 * size >= amount.low &&
      nameOfLog.test(path) &&
      modifiedAt !== null &&
      isWithinWindow(modifiedAt, at),
  )
  return log?.path ?? null
}

/** What rotates these logs: logrotate, if one of its patterns is of them. Null: there are logs of many programs. */
function rotatorStep(place: string, { host }: HolderSubject) {
  const usual = rotatorOf(place)
  const patterns = host?.logrotate?.flatMap(({ directives }) => patternsOf(directives?.patterns))
  if (usual === null || !patterns) return usual && { variant: usual }
  if (patterns.some(one => one.startsWith(`${place}/`) || matchesPath(one, place)))
    return { variant: 'logrotate' as const }
  return { variant: usual === 'logrotate' ? ('writer' as const) : usual }
}

/** Bounds this far apart do not say which disk is large enough. */
const vague = 2

/** Before a disk is bought for what is not known well, it is measured. */
export function withMeasurementFirst(reason: Reason, subject: DiskSubject): Reason {
  const { ledger, identity } = subject
  const { cause, steps } = reason
  if (cause.kind !== 'holder' || !canMeasureDisks(identity)) return reason
  const { low, high } = cause.amount
  const isVague =
    (high ?? Number.POSITIVE_INFINITY) > vague * low &&
    (ledger && diskOf(ledger, cause.filesystem))?.lines.some(
      ({ holder }) => holder === 'unread',
    ) === true
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

const podHolding = (cause: Cause) =>
  cause.kind === 'holder' && cause.owner && 'pod' in cause.owner ? cause.owner : null

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

/**
 * The deletion of a mirror pod restarts no container of its static pod; that of a pod without a controller ends it. Of a pod that mounts volumes for others, such as a CSI driver, it can end their mounts.
 */
function withStaticPods(reason: Reason, pods: NodeSubject['pods']): Reason {
  const { cause } = reason
  const owner = podHolding(cause)
  if (!owner) return reason
  const again = startsAgain(pods, owner)
  if (again === 'kubelet' && cause.kind === 'holder' && cause.holder === 'host-path')
    return { ...reason, steps: reason.steps.map(ofPlatform) }
  const hasWorkload = 'workload' in owner && owner.workload !== null
  if (!hasWorkload && again === 'nothing')
    return {
      ...reason,
      steps: reason.steps.map(step => (step.id === 'restart-pod' ? endPod(owner, pods) : step)),
    }
  const isLog = cause.kind === 'holder' && cause.holder === 'container-logs'
  if (again !== 'kubelet' && (isLog || !usesKubeletFolder(pods, owner))) return reason
  return withStep(reason, isLog ? 'empty-log' : null)
}

/** Who runs the nodes owns a static pod: its logs need rotation, other folders need a look. */
const ofPlatform = (step: StepAction): StepAction => {
  if (step.id !== 'clean-with-owner') return step
  const { owner: _, ...where } = step
  return step.place?.startsWith(`${logFolder}/`)
    ? { ...where, id: 'check-rotation', variant: 'writer' }
    : { ...where, id: 'look-on-node' }
}

/** With another step in place of a restart of the pod, or with none. */
const withStep = (reason: Reason, id: StepActionId | null): Reason => ({
  ...reason,
  steps: reason.steps.flatMap(step => {
    if (step.id !== 'restart-pod') return [step]
    return id === null ? [] : [{ ...step, id }]
  }),
})

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
  const seen = `Container ${shorten(name, nameLength)} crash-loops: ${plural(restartCount, 'restart')}${last}.`
  const { place: written, holder: kind } = reason.cause
  // No core file lies among logs.
  const place = kind === 'container-logs' ? null : written
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

/** Before a disk is bought: another one that the node has. Those of EC2 instances have rules of their own. */
function withOtherDisk(reason: Reason, subject: DiskSubject, { filesystem }: HolderCause): Reason {
  const { ledger, identity } = subject
  const disk = ledger && diskOf(ledger, filesystem)
  const index = reason.steps.findIndex(({ id, unit }) => id === 'larger-disk' && unit === undefined)
  const isBare = identity.instanceId === null || identity.owner === 'hybrid'
  const [other] = isBare ? disksBeside(subject) : []
  if (!disk || index < 0 || !other || other.size < muchLarger * disk.capacityBytes) return reason
  const { device: place, size } = other
  const seen = `the node has another disk, ${place} (${bytes(size)}), with nothing of the kubelet or the images; what is on it is not known.`
  return {
    ...reason,
    steps: reason.steps.toSpliced(index, 0, { id: 'use-other-disk', place, bytes: size }),
    seen: reason.seen === undefined ? seen : `${reason.seen} ${seen}`,
  }
}

function reasonOfDisk(subject: DiskSubject, signal: Signal): Reason | null {
  const { ledger, identity, imageGC, node, configuration } = subject
  const causes = heldBySignal(ledger, signal)
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
      ? (logsOfDocker(reason, node) ?? smallerLogs(configuration, reason, ledger))
      : largerReserveReason(configuration, cause, ledger)) ??
    endlessPodReason(cause, subject) ??
    largerForPods(reason, subject) ??
    spreadPodsReason(cause, subject) ??
    uncountedLayer(cause, reason, ledger) ??
    rotatedLogReason(cause, reason, ledger) ??
    smallImageDisk(cause, subject) ??
    (cause.holder === 'unread' ? null : filesOfImages(cause, subject))
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
export const reasonBeyondImageGc = (
  subject: DiskSubject,
): Omit<Reason, 'fix'> & { fix: undefined } => ({
  ...(diskReason(subject, 'imagefs.available') ?? {
    cause: deviceCause('too-small'),
    steps: [{ id: 'larger-disk' }],
  }),
  fix: undefined,
})

const usualOfTiny: ReadonlySet<HolderCause['holder']> = new Set([
  ...(['unread', 'system', 'images', 'images-in-use', 'images-unused'] as const),
])

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

/** What the kubelet counts of a pod: its layers, logs and emptyDirs. A limit of one of them alone ends the pod at once. */
function storageOfPod(owner: HolderOwner, { parts, owners }: Pick<NodeLedger, 'parts' | 'owners'>) {
  const ofSame = parts.filter(
    ({ holder, owner: other }) =>
      ofLocalStorage.has(holder) &&
      other &&
      'pod' in other &&
      'pod' in owner &&
      other.pod === owner.pod &&
      other.namespace === owner.namespace,
  )
  const use = useOfOwner(owner, { owners })
  return Math.max(
    ofSame.reduce((sum, { lowBytes }) => sum + lowBytes, 0),
    use ? use.bytes / use.pods : 0,
  )
}

const smallKubeletDisk = ({ capacityBytes }: FilesystemLedger, roomyBytes: number | null) =>
  `the kubelet's folder is on a disk of ${bytes(capacityBytes)}${roomyBytes === null ? '' : `; that of the images has ${bytes(roomyBytes)} free`}.`

/** A disk that is too small whatever holds it: for the system and its first images, or for the kubelet's folder. Null: any other disk, or one that holds something unusual. */
function tooSmallDisk(first: HolderCause, subject: DiskSubject): Reason | null {
  const { ledger } = subject
  const disk = ledger && diskOf(ledger, first.filesystem)
  if (!disk || first.amount.unit !== 'bytes' || !isBelowSystem(disk)) return null
  if (!ledger.isShared && first.filesystem === 'nodefs') {
    const roomyBytes = imageDiskFreeBytes(ledger)
    const deletion = podDeletion(first, subject)
    return {
      cause: deviceCause('too-small'),
      steps: [
        ...(deletion ? [deletion] : []),
        { id: 'move-kubelet-root', ...(roomyBytes !== null && { bytes: roomyBytes }) },
      ],
      seen: smallKubeletDisk(disk, roomyBytes),
    }
  }
  if (!usualOfTiny.has(first.holder)) return null
  return {
    cause: deviceCause('too-small'),
    steps: [withSize({ id: 'larger-disk' }, subject, first), { id: 'look-on-node' }],
    seen: `${bytes(disk.capacityBytes)} in all is less than a node's system and its first images need.`,
  }
}

/** Holders of images' disk that a larger one ends. */
const ofImageDisk: ReadonlySet<HolderCause['holder']> = new Set([
  ...(['images-in-use', 'image-content', 'unread'] as const),
])

/** Images on a disk of their own, while another of the node has much more room. Null: any other disk. */
function smallImageDisk({ holder, filesystem, amount }: HolderCause, subject: DiskSubject) {
  const { ledger, host } = subject
  const [disk, nodefs] = [
    ledger?.isShared === false && diskOf(ledger, 'imagefs'),
    ledger && diskOf(ledger, 'nodefs'),
  ]
  if (!disk || !nodefs || filesystem !== 'imagefs' || amount.unit !== 'bytes') return null
  const freeBytes = nodefs.capacityBytes - nodefs.usedBytes
  const isRoomy = nodefs.usedBytes <= roomy * nodefs.capacityBytes
  if (!ofImageDisk.has(holder) || !isRoomy || freeBytes < 2 * disk.capacityBytes) return null
  const { device, mount: place } = host?.filesystems?.find(({ role }) => role === 'imagefs') ?? {}
  const name = device === undefined ? '' : `, ${shorten(`${device} at ${place}`, nameLength)},`
  return {
    cause: deviceCause('too-small'),
    steps: [
      {
        ...{ id: 'move-kubelet-root' as const, variant: 'image' as const, bytes: freeBytes },
        ...(place !== undefined && { place }),
      },
      ...packedLayerSteps(disk, subject),
    ],
    seen: `images have a disk of their own${name} with ${bytes(disk.capacityBytes)} in all; the node's other disk has ${bytes(freeBytes)} free.`,
  }
}

/** Share of a disk from which on packed layers are worth a setting. */
const leastPacked = 0.2

function packedLayerSteps(
  { lines, capacityBytes }: FilesystemLedger,
  { host }: DiskSubject,
): StepAction[] {
  const packed = lines.find(({ holder }) => holder === 'image-content')?.lowBytes ?? 0
  return host?.containerd?.discardUnpackedLayers === false && packed >= leastPacked * capacityBytes
    ? [{ id: 'set-discard-unpacked' }]
    : []
}

/**
 * Images hold most files of the disk, or may hold those that were not counted: unused images go first, and then by age. Of images in use, fewer or
 * a disk with more inodes. Null: another disk.
 */
export function filesOfImages(
  { holder, filesystem, amount: { unit } }: HolderCause,
  subject: DiskSubject,
): Pick<Reason, 'steps' | 'seen' | 'fix'> | null {
  const { ledger, node } = subject
  const disk = ledger && diskOf(ledger, filesystem)
  const canHold =
    holder === 'unread' &&
    disk &&
    2 * mostOf(disk, one => one.holder === 'images' || one.holder === 'images-unused') >=
      disk.usedBytes
  if (unit !== 'inodes' || !(canHold || holder === 'images' || holder === 'images-unused'))
    return null
  const unused = subject.unusedImages?.() ?? null
  const names = (node?.status?.images ?? []).flatMap(image => repositoryOf(image.names?.[0] ?? ''))
  const [[largest, alike] = ['', []], [, next] = ['', []]] = [
    ...Map.groupBy(names, name => name),
  ].toSorted(([, a], [, b]) => b.length - a.length)
  if (areAllUsed(ledger?.parts ?? []))
    return {
      steps: [{ id: 'larger-disk', unit }],
      seen: 'pods use every image that is known here: image GC frees none of these files.',
    }
  // Image GC starts by bytes, not by inodes: only its age deletes images earlier.
  const isFree = !canHold && hasFreeAge(subject)
  const lasting: StepAction = isFree ? { id: 'set-fields' } : { id: 'larger-disk', unit }
  const reason = {
    steps: [
      { id: 'prune-images' as const },
      canHold ? { id: 'look-on-node' as const, unit } : lasting,
    ],
    ...(isFree && { fix: { config: { imageMaximumGCAge: '168h0m0s' } } }),
  }
  if (unused !== null) return { ...reason, seen: `N${unused.slice(1)}.` }
  if (alike.length <= Math.max(1, next.length)) return reason
  return {
    ...reason,
    seen: `${alike.length} of the ${names.length} images that the node lists are of ${shorten(largest, nameLength)}.`,
  }
}

/** What the images' own disk has free. Null: images have none, or it has no room for the kubelet's folder. */
function imageDiskFreeBytes(ledger: NodeLedger | null): number | null {
  const [nodefs, imagefs] = [
    ledger && diskOf(ledger, 'nodefs'),
    ledger?.isShared === false && diskOf(ledger, 'imagefs'),
  ]
  if (!nodefs || !imagefs || imagefs.usedBytes > roomy * imagefs.capacityBytes) return null
  const free = imagefs.capacityBytes - imagefs.usedBytes
  return free < 2 * nodefs.capacityBytes ? null : free
}

/** What holds each disk, be it full or not. */
export function heldDisks(given: NodeSubject): HeldDisks {
  const { ledger } = given
  if (!ledger) return {}
  // A setting holds nothing.
  const subject = { ...given, configuration: null }
  return Object.fromEntries(
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
}

/** Of logs that the kubelet cannot rotate. Null: of another runtime. Upstream: cri-dockerd core/logs.go ReopenContainerLog */
const logsOfDocker = ({ steps }: Reason, node: DiskSubject['node']) =>
  isDocker(node)
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
): Other | null {
  const rotation = configuration ? logRotationOf(configuration) : null
  const preset = logRotationOf({})
  if (!rotation || !preset) return null
  const log = ledger?.parts.find(({ holder }) => holder === 'container-logs')
  const isPermitted = (log?.lowBytes ?? 0) <= rotation.perContainerBytes
  if (!isPermitted || rotation.perContainerBytes <= preset.perContainerBytes) return null
  const config = { containerLogMaxSize: preset.maxSize, containerLogMaxFiles: preset.files }
  const freeing = steps.filter(({ id }) => id !== 'ask-owner')
  const uses = ledger?.namespaces.toSorted((a, b) => b.logBytes - a.logBytes) ?? []
  const [most] = uses
  const share =
    most && most.logBytes > 0
      ? `; namespace ${shorten(most.namespace, nameLength)} has ${bytes(most.logBytes)} of logs`
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
  const unused = disk.lines.find(({ holder }) => holder === 'images-unused')?.bytes ?? 0
  const others = disk.usedBytes - unused - podBytesOf(ledger)
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

/** What the kubelet counts of an owner's pods. */
function useOfOwner(owner: HolderOwner | null, ledger: Pick<NodeLedger, 'owners'> | null) {
  if (owner?.kind !== 'container' && owner?.kind !== 'pod') return undefined
  const name = owner.workload ?? `Pod ${owner.pod}`
  return ledger?.owners.find(one => one.namespace === owner.namespace && one.owner === name)
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
  { holder, place, owner, amount }: HolderCause,
  { steps }: Reason,
  ledger: NodeLedger | null,
): Other | null {
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
    steps: [
      { id: 'look-on-node', variant: 'lines', place: current },
      ...steps.slice(0, 1).map(step => ({ ...step, id: 'empty-log' as const })),
    ],
    seen: `${shorten(other.place ?? '', nameLength)} has ${bytes(other.lowBytes)} more${since}.`,
  }
}

function withSize(
  step: StepAction,
  { ledger, identity, imageGC, host }: DiskSubject,
  { filesystem }: HolderCause,
): StepAction {
  const disk = ledger && diskOf(ledger, filesystem)
  if (step.id !== 'larger-disk' || step.unit || step.variant === 'needed' || !ledger || !disk)
    return step
  const { mount } = host?.filesystems?.find(({ role }) => role === filesystem) ?? {}
  const low = imageGC?.lowThresholdPercent
  return largerVolume(identity, volumeToWrite(disk, ledger, identity.amiFamily, low, mount))
}

interface DiskSubject extends Partial<Omit<NodeSubject, 'ledger' | 'identity'>> {
  ledger: NodeLedger | null
  identity: InspectIdentity & Partial<Pick<NodeIdentity, 'group' | 'kubeletVersion'>>
}

export type HolderSubject = Omit<DiskSubject, 'ledger'> & {
  ledger: Pick<NodeLedger, 'filesystems' | 'parts' | 'owners'> | null
}

const isContainerd = (node: DiskSubject['node']) =>
  /^containerd:|^$/.test(node?.status?.nodeInfo?.containerRuntimeVersion ?? '')

const isDocker = (node: DiskSubject['node']) =>
  node?.status?.nodeInfo?.containerRuntimeVersion?.startsWith('docker:') === true
