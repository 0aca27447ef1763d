/** The steps against what holds a disk: who can do what. */

import { isPlainPath } from '#base/text.ts'
import { canMeasureDisks, type InspectIdentity } from '#facts/aws/inspect-targets.ts'
import { holders } from '#facts/holders.ts'
import {
  isDatastore,
  isOfRuntime,
  isOfSystem,
  isPackageStore,
  logFolder,
  rotatorOf,
} from '#facts/host-folders.ts'
import { isWithinWindow } from '#judge/events/events.ts'
import { matchesPath } from '#judge/logs/log-paths.ts'
import { patternsOf } from '#judge/logs/logrotate.ts'
import { bytes, type NodeSubject, plural, shorten, shortName } from '#judge/rule.ts'
import type { Cause, HolderCause, StepAction, StepActionId } from '#model/finding.ts'
import {
  type FilesystemStats,
  type NodeIdentity,
  placedWorkload,
  type ReleasedFolder,
} from '#model/input/record.ts'
import {
  areOfOnePool,
  type FilesystemLedger,
  type HolderOwner,
  type HolderPart,
  type NodeLedger,
} from '#model/prediction.ts'
import {
  endPod,
  isOfDaemonSet,
  keepsData,
  podOf,
  podsOf,
  startsAgain,
  statsOf,
  usesKubeletFolder,
  workloadOf,
  writingContainer,
} from './deletion.ts'
import {
  diskOf,
  isPodPart,
  isUnmounted,
  leastOwned,
  littleText,
  ofLocalStorage,
  type Reason,
} from './holder-cause.ts'
import { cutMounts, mountsAt, releasedFolders, unmountedClaims } from './host-mounts.ts'

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

/** Archives of the checkpoint API, which the kubelet never deletes. Source: kubernetes.io/docs/reference/node/kubelet-checkpoint-api */
const checkpoints = /\/checkpoints$/

/** The table's steps, or others where these cannot end it. */
function stepsOf(cause: HolderCause, { host, node, pods }: HolderSubject): readonly StepActionId[] {
  const {
    holder,
    place,
    owner,
    amount: { unit },
  } = cause
  // Requests, limits and sizeLimit count bytes: none of them limits files.
  if (unit === 'inodes' && holder === 'writable-layers') return ['restart-pod', 'ask-owner']
  // The pod of a DaemonSet is not drained: its deletion makes room at once. All its pods would get the request.
  const isInContainer = holder === 'writable-layers' || holder === 'image-volumes'
  if (isInContainer && isOfDaemonSet(owner)) return ['move-to-volume', 'restart-pod']
  if (holder === 'pod-volumes' && unit !== 'inodes' && keepsData(owner, pods))
    return [hasClaim(owner, pods) ? 'ask-owner' : 'move-to-volume']
  if (holder === 'pod-volumes') {
    const steps = unit === 'inodes' ? (['ask-owner'] as const) : holders[holder].steps
    return isOfDaemonSet(owner) ? [...steps, 'restart-pod'] : steps
  }
  if (holder === 'system' && place !== null && isPackageStore(place)) return ['look-on-node']
  if (holder === 'system' && place !== null && !isOfSystem(place)) return ['delete-place']
  if (holder === 'kubelet' && place !== null && checkpoints.test(place)) return ['delete-place']
  const isOfDocker =
    place !== null &&
    (ofDocker.test(place) || (holder === 'other-runtime' && place.endsWith('/docker')))
  if (isOfDocker && holders[holder].steps[0] === 'delete-place') {
    if (!isDocker(node)) return ['prune-docker']
    return ofDockerVolumes.test(place) ? ['prune-volumes'] : ['look-on-node', 'replace-node']
  }
  if (holder === 'deleted-open-files' && podHolding(cause) === null) return ['restart-process']
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
export function withSecondHolder(reason: Reason, subject: HolderSubject): Reason {
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

/** A measurement that did not finish would not finish again: the step is to look on the node. */
export const measuring = (subject: Pick<HolderSubject, 'identity' | 'host'>) => ({
  id: unreadReason(subject) === 'not-asked' ? ('read-on-node' as const) : ('look-on-node' as const),
})

function unreadDisk(
  inodes: false | Pick<StepAction, 'unit'>,
  { filesystem }: HolderCause,
  subject: HolderSubject,
): Reason {
  const disk = inodes ? null : subject.ledger && diskOf(subject.ledger, filesystem)
  const claims = disk && filesystem === 'nodefs' ? unmountedClaims(subject) : []
  const seen =
    disk &&
    (claims.length > 0
      ? unmountedText(claims, disk)
      : littleText(disk, subject.host?.diskUse != null))
  const released = disk && filesystem === 'nodefs' ? releasedFolders(subject) : []
  const parents = new Set(released.map(({ place }) => place))
  return {
    cause: { kind: 'unread', source: diskUse, reason: unreadReason(subject) },
    steps: [
      // What the snapshotter holds may be in no folder, and the kubelet reports nothing of it.
      ...(subject.summary?.node && !subject.filesystems?.imagefs
        ? [{ id: 'read-snapshots' as const }]
        : []),
      ...[...parents].slice(0, 1).map(place => ({ id: 'look-on-node' as const, place })),
      { ...measuring(subject), ...inodes },
      ...(claims.length > 0 ? [{ id: 'move-into-volume' as const }] : []),
    ],
    ...((seen || released.length > 0) && {
      seen: [releasedText(released, subject.pods), seen].filter(Boolean).join('; '),
    }),
  }
}

/** Upstream: rancher/local-path-provisioner provisioner.go createHelperPod names its pods after the volume. */
function releasedText(released: readonly ReleasedFolder[], pods: NodeSubject['pods'] | undefined) {
  const [first] = released
  if (!first) return null
  const isRefused = released.some(({ volume }) =>
    pods?.some(
      ({ metadata, status }) =>
        status?.reason === 'Evicted' && metadata?.name?.includes(volume) === true,
    ),
  )
  const [are, them] = released.length === 1 ? ['is a folder', 'it'] : ['are folders', 'them']
  return `${plural(released.length, 'volume')} of deleted claims ${are} of this node and may hold it (${shortName(first.claim)}${released.length > 1 ? ', …' : ''})${isRefused ? `; the pods that should delete ${them} are refused here` : ''}`
}

const unmountedText = (claims: readonly string[], { capacityBytes }: FilesystemLedger) =>
  `${claims.length === 1 ? `${shortName(claims[0] ?? '')} reports` : `${plural(claims.length, 'claim')} report`} the size and the free space of the node's own disk (${bytes(capacityBytes)}): unless its driver keeps folders on the node, the volume is not mounted, and this disk has the only copy of the data.`

export function reasonOfFirst(cause: HolderCause, subject: HolderSubject): Reason {
  const { holder, filesystem, owner, place, amount } = cause
  const held = subject.ledger ?? { parts: [], filesystems: [], owners: [] }
  const inodes = amount.unit === 'inodes' && { unit: amount.unit }
  if (holder === 'unread')
    return (inodes ? null : pooledReason(subject)) ?? unreadDisk(inodes, cause, subject)
  const alike = held.parts.filter(part => part.holder === holder && part.filesystem === filesystem)
  const own = alike.find(part => owner !== null && part.owner === owner) ?? alike[0]
  const folders = alike.flatMap(part => (part.owner ? [] : (part.place ?? [])))
  const isOfMany = owner === null && isPodPart(own)

  const values = {
    ...(owner !== null && owner.kind !== 'image' && { owner }),
    ...(place !== null && { place }),
    ...(!isOfMany && { bytes: own?.lowBytes ?? amount.low }),
  }
  const { capacityBytes = Infinity } = diskOf(held, filesystem) ?? {}
  const podBytes = !isOfMany && own?.owner && 'pod' in own.owner ? storageOfPod(own.owner, held) : 0
  const isTooLarge = (values.bytes ?? 0) > largestRequest * capacityBytes
  const pods = podsOf(cause, held.parts)
  const isUnknown = cause.owners === 'unknown' && holder !== 'host-path'
  const wanted = [...(isUnknown ? (['look-on-node'] as const) : []), ...stepsOf(cause, subject)]
    .filter(
      id =>
        (id !== 'read-on-node' || canMeasureDisks(subject.identity)) &&
        (id !== 'restart-pod' || !isOfMany) &&
        (id !== 'check-rotation' || owner === null) &&
        (id !== 'upgrade-runtime' || isContainerd(subject.node)),
    )
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
  const log = writtenLogPath(cause, subject)
  const ofOwner = wanted
    .map(id => (id === 'delete-place' ? deletionStep : id))
    .map(id => ({
      id,
      // What a holder has is no size of a volume, and its folder no device.
      ...(id !== 'larger-disk' && values),
      ...(id === 'set-ephemeral-storage' && podBytes > 0 && { bytes: podBytes }),
      ...(id === 'move-to-volume' && { place: volumeFor(cause, subject) }),
      ...variantOf(id, cause),
      ...(inside && { inside }),
      ...(ofPods.has(id) && pods.length > 0 && { pods }),
      ...(id === 'delete-pod-folder' && folders.length > 1 && { folders }),
      ...inodes,
      ...(id === 'clean-with-owner' && mounts.length > 0 && cutMounts(mounts)),
      ...(id === 'check-rotation' && place !== null && rotatorStep(place, subject)),
      ...(id === 'upgrade-runtime' && runtimeMessage(subject)),
    }))
  // The rotation of a log that is all of it leaves nothing to its owner.
  const rest = log !== null && log === place && isFile ? [] : ofOwner
  const steps = log === null ? rest : [emptyingOf(log), ...rest]
  const reason = { cause: withSeveralOwners(cause, mounts), steps }
  return withCriticalPod(withStaticPods(reason, subject.pods ?? null), alike, subject)
}

const emptyingOf = (place: string) => ({ id: 'empty-log', place, variant: 'writer' }) as const

const withSeveralOwners = (cause: HolderCause, mounts: readonly string[]): HolderCause =>
  cause.owners === 'unknown' && cause.holder === 'host-path' && mounts.length > 1
    ? { ...cause, owners: 'several' }
    : cause

function runtimeMessage({ node }: HolderSubject) {
  const version = node?.status?.nodeInfo?.containerRuntimeVersion?.replace('://', ' ')
  return version !== undefined && { message: shorten(version, 60) }
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

/** What lies in an emptyDir beside a claim is no data of the application. */
const hasClaim = (owner: HolderOwner | null, pods: NodeSubject['pods'] | undefined) =>
  owner !== null &&
  'pod' in owner &&
  podOf(pods, owner)?.spec?.volumes?.some(one => one.persistentVolumeClaim ?? one.ephemeral) ===
    true

const volumeVariants: Partial<Record<HolderCause['holder'], Pick<StepAction, 'variant'>>> = {
  'image-volumes': { variant: 'declared' },
  // A limit would end its only copy.
  'pod-volumes': { variant: 'data' },
}

function variantOf(
  id: StepActionId,
  { holder, amount }: HolderCause,
): Pick<StepAction, 'variant'> | undefined {
  if (id === 'move-to-volume') return volumeVariants[holder]
  const isScratch = id === 'ask-owner' && holder === 'pod-volumes' && amount.unit === 'bytes'
  return isScratch ? { variant: 'scratch' } : undefined
}

/** Where to put data that is too large for the layer: an empty claim of the container, or an emptyDir if nodefs has room. */
function volumeFor(cause: HolderCause, subject: HolderSubject): string | undefined {
  const nodefs = subject.ledger && diskOf(subject.ledger, 'nodefs')
  // Its pods cannot have a claim each.
  if (isOfDaemonSet(cause.owner)) return emptyClaimOf(cause, subject) ?? 'DaemonSet'
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
              place: isOfDaemonSet(owner) ? 'DaemonSet' : undefined,
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
    ? `${shortName(name)} holds ${bytes(next.lowBytes)} more.`
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

/** Null: no pod, or a process that is of none of them. */
export const podHolding = (cause: Cause) =>
  cause.kind === 'holder' && cause.owner && 'pod' in cause.owner && cause.owner.pod !== null
    ? cause.owner
    : null

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
  if (workloadOf(owner) === null && again === 'nothing')
    return {
      ...reason,
      steps: reason.steps.map(step => (step.id === 'restart-pod' ? endPod(owner, pods) : step)),
    }
  const isLog = cause.kind === 'holder' && cause.holder === 'container-logs'
  if (again !== 'kubelet' && (isLog || !usesKubeletFolder(pods, owner))) return reason
  return {
    ...reason,
    steps: isLog
      ? reason.steps.map(step => (step.id === 'restart-pod' ? { ...step, id: 'empty-log' } : step))
      : reason.steps.filter(({ id }) => id !== 'restart-pod'),
  }
}

/** Who runs the nodes owns a static pod: its logs need rotation, other folders need a look. */
const ofPlatform = (step: StepAction): StepAction => {
  if (step.id !== 'clean-with-owner') return step
  const { owner: _, ...where } = step
  return step.place?.startsWith(`${logFolder}/`)
    ? { ...where, id: 'check-rotation', variant: 'writer' }
    : { ...where, id: 'look-on-node' }
}

/** What the kubelet counts of a pod: its layers, logs and emptyDirs. A limit of one of them alone ends the pod at once. */
export function storageOfPod(
  owner: HolderOwner,
  { parts, owners }: Pick<NodeLedger, 'parts' | 'owners'>,
) {
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

/** What the kubelet counts of an owner's pods. */
export function useOfOwner(owner: HolderOwner | null, ledger: Pick<NodeLedger, 'owners'> | null) {
  if (owner?.kind !== 'container' && owner?.kind !== 'pod') return undefined
  const name = owner.workload ?? `Pod ${owner.pod}`
  return ledger?.owners.find(one => one.namespace === owner.namespace && one.owner === name)
}

export interface DiskSubject extends Partial<Omit<NodeSubject, 'ledger' | 'identity'>> {
  ledger: NodeLedger | null
  identity: InspectIdentity & Partial<Pick<NodeIdentity, 'group' | 'kubeletVersion'>>
}

export type HolderSubject = Omit<DiskSubject, 'ledger'> & {
  ledger: Pick<NodeLedger, 'filesystems' | 'parts' | 'owners'> | null
}

const isContainerd = (node: DiskSubject['node']) =>
  /^containerd:|^$/.test(node?.status?.nodeInfo?.containerRuntimeVersion ?? '')

export const isDocker = (node: DiskSubject['node']) =>
  node?.status?.nodeInfo?.containerRuntimeVersion?.startsWith('docker:') === true
