/** Folders of the node that its pods can write: what the API alone shows of bytes that the kubelet counts to no pod. */
import { isDnsName, isPlainPath, withoutEndSlashes } from '#base/text.ts'
import {
  foldersAround,
  isHostLog,
  isLogAgent,
  logFolder,
  sharedFolders,
} from '#facts/host-folders.ts'
import { type NodeSubject, podName, shortName, shortPodName } from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import {
  claimsElsewhere,
  controllerOf,
  isVolumeWritable,
  type KubernetesPod,
  placedWorkload,
  type ReleasedFolder,
} from '#model/input/record.ts'
import { isOnNodeDisk } from './claims.ts'

/** Folders of devices, sockets, programs and settings: what is written there takes no disk, or little. */
const small =
  /^\/(?:dev|proc|sys|run|var\/run|etc|lib|lib64|usr|boot|opt\/cni|var\/lib\/(?:cni|kubelet))(?:\/|$)/
const shown = 3

const isReadByAgent = (place: string, { spec }: KubernetesPod, volume: string | undefined) =>
  `${place}/`.startsWith(`${logFolder}/`) &&
  (spec?.containers ?? []).every(
    ({ image = '', volumeMounts }) =>
      isLogAgent(image) || !volumeMounts?.some(({ name }) => name === volume),
  )

/** `Deployment shop/api`, or `Pod shop/api-0` without a controller. */
export function ownerName(pod: KubernetesPod) {
  const { namespace = '', name = '' } = pod.metadata ?? {}
  return placedWorkload(namespace, controllerOf(pod) ?? `Pod ${name}`)
}

type Mounting = Partial<Omit<NodeSubject, 'identity' | 'ledger'>>

interface Mount {
  place: string
  isFolder: boolean
  workload: string
  isSystem: boolean
}

/** Folders and claims on the node that its pods can write. */
function* writableParts({ pods, summary, filesystems, localVolumes }: Mounting): Generator<Mount> {
  const measured = new Map(summary?.pods?.map(({ podRef, volume }) => [podName(podRef), volume]))
  for (const pod of pods ?? []) {
    const { namespace = '' } = pod.metadata ?? {}
    const isSystem = namespace === 'kube-system'
    const workload = ownerName(pod)
    for (const { pvcRef, ...stats } of measured.get(podName(pod.metadata)) ?? []) {
      const claim = pvcRef?.name ?? ''
      const isOnDisk = isOnNodeDisk(filesystems?.nodefs, stats)
      if (isOnDisk && isDnsName(claim) && !localVolumes?.ofClaims.has(`${namespace}/${claim}`))
        yield { place: `PersistentVolumeClaim ${claim}`, isFolder: false, workload, isSystem }
    }
    for (const { name: volume, hostPath } of pod.spec?.volumes ?? []) {
      const place = hostPath?.path
      if (place === undefined || isReadByAgent(place, pod, volume)) continue
      const shownPlace = isPlainPath(place) ? place : 'a path that is not shown'
      if (!small.test(place) && isVolumeWritable(pod, volume))
        yield { place: shownPlace, isFolder: true, workload, isSystem }
    }
  }
}

/** `/tmp (Deployment shop/api)`, one for each folder and workload. */
function shownMounts(subject: Mounting, isShown: (mount: Mount) => boolean): string[] {
  const isOther = (mount: Mount) => !mount.isSystem && isShown(mount)
  return namesOf(outermost([...writableParts(subject)].filter(isOther)))
}

const namesOf = (mounts: readonly Mount[]) => [
  ...new Set(mounts.map(({ place, workload }) => `${place} (${workload})`)),
]

/** A folder of a shown one shows nothing more. */
function outermost(mounts: readonly Mount[]): Mount[] {
  const folders = new Set(mounts.flatMap(({ place }) => ownFolder(place) ?? []))
  return mounts.filter(({ place }) => !isIn(place, folders))
}

/** Three of them, each once. @param hasMore whether some are left out already */
export function cutMounts(mounts: Iterable<string>, hasMore = false) {
  const all = [...new Set(mounts)]
  return {
    mounts: all.slice(0, shown),
    ...((hasMore || all.length > shown) && { hasMoreMounts: true as const }),
  }
}

/** Null: a folder in which others have theirs. */
function ownFolder(path: string): string | null {
  const folder = withoutEndSlashes(path)
  return folder === '' || sharedFolders.has(folder) ? null : folder
}

const isIn = (path: string, folders: ReadonlySet<string>) =>
  foldersAround(withoutEndSlashes(path)).some(around => folders.has(around))

/** The widest folder that a pod of the node mounts around this one: who manages a disk mounts more of it than who uses it. */
export function mountAround({ pods }: Pick<NodeSubject, 'pods'>, place: string): string {
  const mounted = new Set(
    (pods ?? [])
      .flatMap(({ spec }) => spec?.volumes ?? [])
      .map(({ hostPath }) => ownFolder(hostPath?.path ?? '')),
  )
  return foldersAround(withoutEndSlashes(place)).find(around => mounted.has(around)) ?? place
}

/** Claims whose PersistentVolume is no folder of the node, and that have the statistics of its disk. Empty: none, or no PersistentVolumes were read. */
export const unmountedClaims = (subject: Mounting): string[] =>
  subject.localVolumes ? shownMounts(subject, ({ isFolder }) => !isFolder) : []

export const writableMounts = (subject: Mounting): string[] => shownMounts(subject, () => true)

/** Of these, folders that lie on none of the measured ones: another disk may be mounted there. @param only null: all of them */
export function foldersElsewhere(subject: NodeSubject, only: string | null = null): string[] {
  const measured = new Set(subject.host?.diskUse?.folders?.map(({ path = '' }) => path))
  return shownMounts(
    subject,
    ({ place, isFolder }) =>
      isFolder &&
      place !== '/' &&
      (only === null || place === only) &&
      !(measured.has(place) || isIn(place, measured)),
  )
}

/**
 * `/var/lib/rancher/k3s/storage (claims pgsql, spacewalk of Deployment shop/db)`: PersistentVolumes of the node's pods, evicted ones too, that are
 * folders beside each other.
 */
function claimFolders({ pods, summary, filesystems, localVolumes }: Mounting): string[] {
  const elsewhere = claimsElsewhere(summary, filesystems?.nodefs?.capacityBytes)
  const found = (pods ?? []).flatMap(pod => {
    const claims = localClaims(pod, localVolumes)
    if (claims.length === 0) return []
    const workload = ownerName(pod)
    return claims.flatMap(({ claim, path }) =>
      elsewhere.has(`${pod.metadata?.namespace ?? ''}/${claim}`)
        ? []
        : { claim, workload, parent: foldersAround(path).at(-1) ?? '/' },
    )
  })
  const places = Map.groupBy(found, ({ parent, workload }) => `${parent} ${workload}`)
  return [...places.values()].map(alike => {
    const { parent, workload } = alike[0]!
    const names = [...new Set(alike.map(({ claim }) => shortName(claim)))]
    const more = names.length > shown ? ', …' : ''
    return `${parent} (${names.length === 1 ? 'claim' : 'claims'} ${names.slice(0, shown).join(', ')}${more} of ${workload})`
  })
}

/** Folders of this node that are PersistentVolumes of deleted claims. */
export function releasedFolders({ node, localVolumes }: Mounting): readonly ReleasedFolder[] {
  const { name = '', labels } = node?.metadata ?? {}
  const host = labels?.['kubernetes.io/hostname'] ?? name
  return localVolumes?.released.get(host) ?? []
}

/** Claims of the pod whose PersistentVolume is a folder of the node. */
export const localClaims = (
  { metadata, spec }: KubernetesPod,
  localVolumes: NodeSubject['localVolumes'],
) =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
    const claim = persistentVolumeClaim?.claimName ?? ''
    const path = localVolumes?.ofClaims.get(`${metadata?.namespace}/${claim}`)
    return path === undefined ? [] : [{ claim, path }]
  })

/**
 * Folders that pods can write at this place, or nearest around it, else in it: only their owners can say what they need of it. Those of
 * `kube-system` count if there is no other.
 */
export function mountsAt(subject: Mounting, place: string): string[] {
  const folders = [...writableParts(subject)].flatMap(mount => {
    const own = mount.isFolder ? ownFolder(mount.place) : null
    return own === null ? [] : [{ ...mount, own }]
  })
  const around = folders.filter(
    ({ own }) => own === place || (foldersAround(place).includes(own) && !isHostLog(place)),
  )
  const nearest = Math.max(...around.map(({ own }) => own.length))
  const found =
    around.length > 0
      ? around.filter(({ own }) => own.length === nearest)
      : outermost(folders.filter(({ own }) => foldersAround(own).includes(place)))
  const others = found.filter(({ isSystem }) => !isSystem)
  return namesOf(others.length > 0 ? others : found)
}

/** A look at the node begins with what its pods can write. */
export function withMounts(step: StepAction, subject: Mounting) {
  const isOfAll = step.id === 'look-on-node' && step.place === undefined && !step.variant
  const isRead = isOfAll || step.id === 'read-on-node'
  const all = isRead ? [...claimFolders(subject), ...writableMounts(subject)] : []
  return all.length === 0 ? step : { ...step, ...cutMounts(all) }
}

/** Pods that run and may fill the disk by an emptyDir, which no eviction message counts. At most three. */
export const unlimitedPods = (pods: NodeSubject['pods']): string[] =>
  (pods ?? [])
    .filter(
      ({ spec, status }) =>
        status?.phase === 'Running' &&
        spec?.volumes?.some(
          ({ emptyDir }) =>
            emptyDir && emptyDir.medium !== 'Memory' && emptyDir.sizeLimit === undefined,
        ),
    )
    .map(({ metadata }) => shortPodName(metadata))
    .slice(0, shown)
