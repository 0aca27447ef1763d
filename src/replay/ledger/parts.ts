/** The largest parts of each holder, with owner and place. */

import { byText } from '#base/text.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { canonicalName, repositoryOf } from '#model/input/image-reference.ts'
import type { HostDiskUse, RuntimeContainer } from '#model/input/inspection.ts'
import {
  controllerOf,
  type FilesystemStats,
  type KubernetesPod,
  volumesElsewhere,
} from '#model/input/record.ts'
import {
  containerOwner,
  type DiskHolder,
  type FilesystemLedger,
  type HolderOwner,
  type HolderPart,
  podOwner,
} from '#model/prediction.ts'
import { imagesOfReference } from '#replay/image-gc/users.ts'
import { containerIdOf, containerStatusesOf } from '#replay/pods.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { countOf } from '#replay/times.ts'
import {
  type Disk,
  diskUseOf,
  folderInside,
  folderParts,
  type MeasuredPart,
  podFolderSpace,
} from './folder-space.ts'
import { groupOf, imagesDisk, type StoredImage, snapshotSpace, snapshotsOf } from './image-space.ts'
import { ownersByContainer, type PodsByUid, type PodUse, podsByUid, uidOnNode } from './pod-use.ts'

const shownParts = 5
const shownWorkloads = 5

export function holderParts(
  node: PreparedNode,
  filesystems: readonly FilesystemLedger[],
  pods: PodUse | null,
): HolderPart[] {
  const use = diskUseOf(node)
  const measured = use ? measuredParts(node, use, pods) : []
  return [...partsOfPods(node, pods), ...partsOfImages(node, filesystems), ...measured]
}

function measuredParts(node: PreparedNode, use: HostDiskUse, pods: PodUse | null): HolderPart[] {
  const byUid = podsByUid(node.input.pods)
  const parts: MeasuredPart[] = [
    ...folderParts(node, use, byUid),
    ...(pods?.volumes.isPartial !== false
      ? foldersOfPods(use, byUid, pods)
      : foldersBesideVolumes(node, use, byUid, pods)),
    ...layerParts(node, use, pods, byUid),
    ...namespaceParts(node, use),
    ...processParts(use, byUid),
  ]
  const groups = Map.groupBy(parts, ({ holder, filesystem }) => `${holder} ${filesystem}`)
  return [...groups.values()].flatMap(group =>
    largestParts(
      group,
      ({ bytes }) => bytes,
      ({ place, owner }) => place ?? JSON.stringify(owner),
    ).map(({ bytes, ...part }) => ({ ...part, lowBytes: bytes, highBytes: bytes })),
  )
}

/** Folders in those of pods that exist. */
const foldersInside = ({ inside = [] }: HostDiskUse, byUid: PodsByUid) =>
  inside.map(folderInside).flatMap(({ place, bytes, uid, isOfVolume, name, holder }) => {
    const pod = byUid.get(uid)
    if (!pod) return []
    const owner = (isOfVolume ? podOwner : containerOwner)(pod, name)
    const part: MeasuredPart & { place: string } = {
      holder,
      filesystem: 'nodefs',
      bytes,
      inodes: null,
      place,
      owner,
    }
    return [{ pod, part }]
  })

/** Folders of volumes and logs of pods without statistics. */
function foldersOfPods(use: HostDiskUse, byUid: PodsByUid, pods: PodUse | null): MeasuredPart[] {
  const counted = new Set(pods?.measured.map(({ pod }) => pod))
  return foldersInside(use, byUid).flatMap(({ pod, part }) =>
    part.holder === 'pod-folders' || !counted.has(pod) ? [part] : [],
  )
}

/** What folders of pods hold in no volume: folders in place of volumes that are not mounted, termination logs, files of pods, and the rest. */
function foldersBesideVolumes(
  node: PreparedNode,
  use: HostDiskUse,
  byUid: PodsByUid,
  pods: PodUse | null,
): MeasuredPart[] {
  const space = podFolderSpace(node, use, pods)
  if (!pods || !space || (space.bytes === 0 && !space.inodes)) return []
  const { path, inodes } = space
  const named = foldersInside(use, byUid).flatMap(({ part }) =>
    part.holder === 'pod-folders' && part.place.startsWith(`${path}/`) ? [part] : [],
  )
  const sum = named.reduce((all, { bytes }) => all + bytes, pods.folders.bytes)
  const rest = { bytes: Math.max(1, space.bytes - sum), inodes, place: path, owner: null }
  return [...named, { holder: 'pod-folders', filesystem: 'nodefs', ...rest }]
}

const layersDisk = ({ filesystems: { layout } }: PreparedNode): Disk =>
  layout === 'imagefs' ? 'imagefs' : 'nodefs'

/** As containerd lists them. Most layers of running containers are in the kubelet's statistics, too. */
function layerParts(
  node: PreparedNode,
  { layers = [] }: HostDiskUse,
  pods: PodUse | null,
  byUid: PodsByUid,
): MeasuredPart[] {
  const filesystem = layersDisk(node)
  const unmeasured = pods && unmeasuredLayers(pods)
  const leftover: MeasuredPart = {
    holder: 'leftover-snapshots',
    filesystem: imagesDisk(node),
    ...snapshotSpace(snapshotsOf(node) ?? [], 'leftover'),
    place: node.input.runtime?.imageFs?.imageFilesystems?.[0]?.fsId?.mountpoint ?? null,
    owner: null,
  }
  const keys = new Set(layers.map(({ key = '' }) => key))
  const owners = ownersByContainer(node.input.pods, keys)
  const ofRuntime = deadOwners(node.input.runtime?.containers ?? [], byUid, keys)
  const ofContainers = layers.flatMap(
    ({ use, key = '', bytes = 0, inodes = null }): MeasuredPart[] => {
      const isDead = use === 'dead'
      const owner = owners.get(key) ?? ofRuntime.get(key) ?? null
      const isCounted = unmeasured !== null && !unmeasured.has(JSON.stringify(owner))
      if (!isDead && isCounted) return []
      const holder = isDead ? 'dead-containers' : 'writable-layers'
      return [{ holder, filesystem, bytes, inodes, place: null, owner }]
    },
  )
  return [leftover, ...ofContainers]
}

/** Of attempts before the last two, of which the pod's status has no id. Only pods that the API lists for the node are owners. */
const deadOwners = (
  containers: readonly RuntimeContainer[],
  byUid: PodsByUid,
  keys: ReadonlySet<string>,
): ReadonlyMap<string, HolderOwner> =>
  new Map(
    containers.flatMap(({ id = '', labels = {}, metadata }) => {
      const pod = keys.has(id) ? byUid.get(labels['io.kubernetes.pod.uid'] ?? '') : undefined
      return pod ? [[id, containerOwner(pod, metadata?.name ?? '')] as const] : []
    }),
  )

/** Containers whose layer neither the kubelet's statistics nor the sum of their pod has. */
const unmeasuredLayers = ({ measured }: PodUse): ReadonlySet<string> =>
  new Set(
    measured.flatMap(({ stats, pod, layerBytes }) =>
      !pod || layerBytes > 0
        ? []
        : (stats.containers ?? []).flatMap(({ name = '', rootfs }) =>
            countOf(rootfs?.usedBytes) === null ? [JSON.stringify(containerOwner(pod, name))] : [],
          ),
    ),
  )

/** Snapshots and packed content of other clients of containerd, by their namespace. */
const namespaceParts = (node: PreparedNode, { namespaces = [] }: HostDiskUse): MeasuredPart[] =>
  namespaces.map(({ name = '', bytes = 0, inodes = null, content = 0 }) => ({
    holder: 'other-namespaces',
    filesystem: imagesDisk(node),
    bytes: bytes + content,
    inodes,
    place: name,
    owner: null,
  }))

/** Deleted files that are open, by the process that holds them. */
function processParts({ processes = [] }: HostDiskUse, byUid: PodsByUid): MeasuredPart[] {
  return processes.map(({ on, pid = 0, command = '', pod: uid = '', files, bytes = 0 }) => {
    const { namespace = null, name: pod = null } = byUid.get(uid)?.metadata ?? {}
    return {
      holder: 'deleted-open-files',
      filesystem: on === 'imagefs' ? 'imagefs' : 'nodefs',
      bytes,
      inodes: files ?? null,
      place: null,
      owner: { kind: 'process', command, pid, namespace, pod },
    }
  })
}

/** Largest first; equal sizes by name. Empty parts are left out. */
const largestParts = <Part>(
  parts: readonly Part[],
  sizeOf: (part: Part) => number,
  nameOf: (part: Part) => string,
) =>
  parts
    .filter(part => sizeOf(part) > 0)
    .toSorted((a, b) => sizeOf(b) - sizeOf(a) || byText(nameOf(a), nameOf(b)))
    .slice(0, shownParts)

interface PodPart {
  bytes: number
  inodes: number | null
  holder: DiskHolder
  pod: KubernetesPod
  /** Of the container or volume. */
  name: string
}

/** By the kubelet's statistics. */
function partsOfPods(node: PreparedNode, use: PodUse | null): HolderPart[] {
  const found: Record<'layers' | 'logs' | 'volumes' | 'folders' | 'memory', PodPart[]> = {
    layers: [],
    logs: [],
    volumes: [],
    folders: [],
    memory: [],
  }
  const nodefsBytes = node.filesystems.nodefs?.capacityBytes ?? null
  for (const { stats, pod, folderBytes: bytes, layerBytes } of use?.measured ?? []) {
    if (!pod) continue
    const ofPod = { inodes: null, pod, name: '' }
    if (bytes > 0) found.folders.push({ ...ofPod, bytes, holder: 'pod-folders' })
    found.layers.push({ ...ofPod, bytes: layerBytes, holder: 'writable-layers' })
    for (const { name = '', rootfs, logs } of stats.containers ?? []) {
      found.layers.push(partOf(rootfs, 'writable-layers', pod, name))
      found.logs.push(partOf(logs, 'container-logs', pod, name))
    }
    const sources = new Map(pod.spec?.volumes?.map(volume => [volume.name, volume.emptyDir]))
    const elsewhere = new Set(volumesElsewhere(stats, pod, nodefsBytes))
    for (const volume of stats.volume ?? []) {
      const source = volume.pvcRef ? null : sources.get(volume.name)
      if (!source || elsewhere.has(volume)) continue
      const isMemory = source.medium === 'Memory'
      const holder = isMemory ? 'memory-volumes' : 'pod-volumes'
      const part = partOf(volume, holder, pod, volume.name ?? '')
      found[isMemory ? 'memory' : 'volumes'].push(part)
    }
  }
  return [
    ...(node.filesystems.layout === null ? [] : podParts(node, found.layers, layersDisk(node))),
    ...podParts(node, found.logs, 'nodefs'),
    ...podParts(node, found.volumes, 'nodefs'),
    ...podParts(node, found.folders, 'nodefs'),
    ...podParts(node, found.memory, 'memory'),
  ]
}

const keyOf = (pod: { namespace?: string; name?: string } | undefined) =>
  `${pod?.namespace ?? ''}/${pod?.name ?? ''}`

const partOf = (
  stats: FilesystemStats | undefined,
  holder: DiskHolder,
  pod: KubernetesPod,
  name: string,
): PodPart => ({
  bytes: countOf(stats?.usedBytes) ?? 0,
  inodes: countOf(stats?.inodesUsed),
  holder,
  pod,
  name,
})

const podParts = (
  node: PreparedNode,
  parts: readonly PodPart[],
  filesystem: HolderPart['filesystem'],
): HolderPart[] =>
  largestParts(
    parts,
    ({ bytes }) => bytes,
    ({ pod, name }) => `${keyOf(pod.metadata)}/${name}`,
  ).map(part => {
    const { holder, bytes, inodes, pod, name } = part
    const isOfContainer =
      name !== '' && (holder === 'writable-layers' || holder === 'container-logs')
    const owner = isOfContainer ? containerOwner(pod, name) : podOwner(pod, name || null)
    const place = placeOf(node, part)
    return { holder, filesystem, lowBytes: bytes, highBytes: bytes, inodes, place, owner }
  })

/** Folder of a log or volume. */
function placeOf(node: PreparedNode, { holder, pod, name }: PodPart) {
  const { namespace, name: podName } = pod.metadata ?? {}
  const uid = uidOnNode(pod)
  if (holder === 'container-logs') {
    const logs = node.input.configuration?.fields.podLogsDir ?? '/var/log/pods'
    return `${logs}/${namespace}_${podName}_${uid}/${name}`
  }
  if (holder === 'pod-folders') return `${rootOf(node)}/pods/${uid}`
  return holder === 'pod-volumes'
    ? `${rootOf(node)}/pods/${uid}/volumes/kubernetes.io~empty-dir/${name}`
    : null
}

/** The kubelet's `--root-dir`. */
const rootOf = ({ host }: PreparedNode) =>
  host?.diskUse?.folders?.find(({ holder }) => holder === 'kubelet')?.path ?? '/var/lib/kubelet'

/** Unpacked layers. The CRI lists packed ones, with a shared layer counted for each image: a part has bounds, within those of its holder's line. */
function partsOfImages(node: PreparedNode, filesystems: readonly FilesystemLedger[]): HolderPart[] {
  const { images, areUsersComplete } = node.imageEvidence
  const filesystem = imagesDisk(node)
  const holderOf = (image: StoredImage): DiskHolder => {
    const group = groupOf(image)
    return group === 'images-unused' && !areUsersComplete ? 'images' : group
  }
  const chosen = [...Map.groupBy(images ?? [], holderOf)].flatMap(([holder, group]) =>
    largestParts(
      group,
      ({ sizeBytes }) => sizeBytes ?? 0,
      ({ image }) => image,
    ).map(image => ({ holder, image })),
  )
  const ofHolders = chosen.map(({ image }) => image)
  const workloads = workloadsOf(node, ofHolders)
  const evicted = evictedImages(node)
  const lastUsers = lastUsersOf(node, ofHolders)
  const disk = filesystems.find(one => one.filesystem === filesystem)
  // A holder without a line holds nothing, if containerd listed its snapshots.
  const mostUnlisted = node.host?.diskUse?.snapshots ? 0 : Number.POSITIVE_INFINITY
  const usedBytes = disk?.usedBytes ?? Number.POSITIVE_INFINITY
  return chosen.map(({ holder, image }) => {
    const { names, users } = image
    const sizeBytes = image.sizeBytes ?? 0
    const ofHolder = disk?.lines.find(line => line.holder === holder)
    const unpackedBytes = (multiple: number) =>
      Math.min(Math.round(multiple * sizeBytes), ofHolder?.highBytes ?? mostUnlisted, usedBytes)
    return {
      holder,
      filesystem,
      lowBytes: unpackedBytes(node.unpacking.least),
      highBytes: unpackedBytes(node.unpacking.most),
      inodes: null,
      place: null,
      owner: {
        kind: 'image',
        reference: names.find(name => !name.includes('@')) ?? names[0] ?? image.image,
        workloads: workloads(image),
        isInUse: users.length > 0 || (areUsersComplete ? false : null),
        ...(evicted.has(image) && { isEvicted: true as const }),
        ...(users.length === 0 && lastUsers(image)),
      },
    }
  })
}

/** Images that pods run which the kubelet evicted from this node. */
function evictedImages({ input, imageEvidence }: PreparedNode): ReadonlySet<StoredImage> {
  const evicted = (input.pods ?? []).filter(({ status }) => status?.reason === 'Evicted')
  const references = new Set(
    evicted.flatMap(({ spec }) => spec?.containers?.flatMap(({ image }) => image ?? []) ?? []),
  )
  const places = [...references].flatMap(one => imagesOfReference(imageEvidence.index, one).places)
  return new Set(places.flatMap(place => imageEvidence.images?.[place] ?? []))
}

/** Whose ended pods ran an unused image here; else who runs another version of it, which has the same repository. */
function lastUsersOf({ input, imageEvidence }: PreparedNode, chosen: readonly StoredImage[]) {
  const { images, index } = imageEvidence
  const wanted = new Set(
    chosen.flatMap(({ users, names }) => (users.length > 0 ? [] : names.map(canonicalRepository))),
  )
  const byImage = new Map<StoredImage | undefined, Set<string>>()
  const byRepository = new Map<string, Set<string>>()
  for (const pod of input.pods ?? []) {
    const isOver = isTerminalPhase(pod.status?.phase)
    for (const { image = '' } of pod.spec?.containers ?? []) {
      const repository = canonicalRepository(image)
      if (isOver)
        for (const place of imagesOfReference(index, image).places)
          addTo(byImage, images?.[place], userOf(pod))
      else if (wanted.has(repository)) addTo(byRepository, repository, userOf(pod))
    }
  }
  return (image: StoredImage): { lastUsers?: string[] } => {
    const users =
      byImage.get(image) ??
      image.names.flatMap(name => [...(byRepository.get(canonicalRepository(name)) ?? [])])
    const sorted = [...new Set(users)].toSorted(byText).slice(0, shownWorkloads)
    return sorted.length === 0 ? {} : { lastUsers: sorted }
  }
}

function addTo<Key>(sets: Map<Key, Set<string>>, key: Key, value: string) {
  const own = sets.get(key) ?? new Set()
  sets.set(key, own.add(value))
}

const canonicalRepository = (name: string) => repositoryOf(canonicalName(name))

/** `namespace/Kind name`. */
function userOf(pod: KubernetesPod) {
  const { namespace = '', name = '' } = pod.metadata ?? {}
  return `${namespace}/${controllerOf(pod) ?? `Pod ${name}`}`
}

/** Controllers of the pods whose containers use an image: `namespace/Kind name`. */
function workloadsOf(node: PreparedNode, images: readonly StoredImage[]) {
  const used = new Set(images.flatMap(({ users }) => users.map(({ containerId }) => containerId)))
  const byContainer = new Map<string, string>()
  for (const pod of used.size === 0 ? [] : (node.input.pods ?? []))
    for (const status of containerStatusesOf(pod)) {
      const id = containerIdOf(status)
      if (!used.has(id)) continue
      byContainer.set(id, userOf(pod))
    }
  return ({ users }: StoredImage) => {
    const names = users.flatMap(({ containerId }) => byContainer.get(containerId) ?? [])
    return [...new Set(names)].toSorted(byText).slice(0, shownWorkloads)
  }
}
