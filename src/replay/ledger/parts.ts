/**
 * The largest parts of each holder, with owner and place. Owners come from pods that the API lists for the node: statistics, folders
 * and processes that a node reports of any other pod have no owner.
 */

import { leastUnpacking, mostUnpacking } from '#facts/kubelet/unpacking.ts'
import type { DiskHolder, HolderOwner, HolderPart } from '#model/disk-ledger.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import type { FilesystemStats, PodSummary } from '#model/node-input.ts'
import { sharedText } from '#model/once.ts'
import { byText } from '#model/text-order.ts'
import { countOf } from '#replay/counters.ts'
import { containerIdOf, containerStatusesOf } from '#replay/pods/pod.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { type FolderPart, folderParts } from './folder-space.ts'
import { groupOf, type StoredImage } from './image-space.ts'
import { controllerOf } from './pod-use.ts'

const shownParts = 5
const shownWorkloads = 5

interface Sized {
  lowBytes: number
  highBytes: number
  inodes: number | null
}

export function holderParts(node: PreparedNode): HolderPart[] {
  const use = node.host?.diskUse
  const folders = use === undefined ? [] : folderParts(node, use)
  return [
    ...partsOfPods(node),
    ...partsOfImages(node),
    ...byHolder(folders).map(part => ({ ...part, highBytes: part.lowBytes, owner: null })),
  ]
}

function byHolder(folders: readonly FolderPart[]): FolderPart[] {
  const groups = Map.groupBy(folders, ({ holder, filesystem }) => `${holder} ${filesystem}`)
  const sizeOf = ({ lowBytes }: FolderPart) => lowBytes
  return [...groups.values()].flatMap(group => largest(group, sizeOf, ({ place }) => place))
}

/** Largest first; equal sizes by name. Empty parts are left out. */
const largest = <Part>(
  parts: readonly Part[],
  sizeOf: (part: Part) => number,
  nameOf: (part: Part) => string,
): Part[] =>
  parts
    .filter(part => sizeOf(part) > 0)
    .toSorted((a, b) => sizeOf(b) - sizeOf(a) || byText(nameOf(a), nameOf(b)))
    .slice(0, shownParts)

interface PodPart extends Sized {
  holder: DiskHolder
  pod: KubernetesPod
  /** Of the container or volume. */
  name: string
}

function partsOfPods(node: PreparedNode): HolderPart[] {
  const stats = node.summary?.pods
  if (stats === undefined || !node.input.pods?.length) return []
  const pods = new Map(node.input.pods.map(pod => [keyOf(pod.metadata), pod]))
  const found: Record<'layers' | 'logs' | 'volumes' | 'memory', PodPart[]> = {
    ...{ layers: [], logs: [], volumes: [], memory: [] },
  }
  for (const raw of stats) {
    const pod = pods.get(keyOf(raw.podRef))
    if (pod === undefined) continue
    for (const { name = '', rootfs, logs } of raw.containers ?? []) {
      found.layers.push({ ...sizeOf(rootfs), holder: 'writable-layers', pod, name })
      found.logs.push({ ...sizeOf(logs), holder: 'container-logs', pod, name })
    }
    for (const volume of raw.volume ?? []) {
      const source = emptyDirOf(pod, volume)
      if (source === null) continue
      const isMemory = source.medium === 'Memory'
      const holder = isMemory ? 'memory-volumes' : 'pod-volumes'
      const part: PodPart = { ...sizeOf(volume), holder, pod, name: volume.name ?? '' }
      found[isMemory ? 'memory' : 'volumes'].push(part)
    }
  }
  const { layout } = node.filesystems
  const layersOn = layout === 'imagefs' ? 'imagefs' : 'nodefs'
  return [
    ...(layout === null ? [] : podParts(node, found.layers, layersOn)),
    ...podParts(node, found.logs, 'nodefs'),
    ...podParts(node, found.volumes, 'nodefs'),
    ...podParts(node, found.memory, 'memory'),
  ]
}

const keyOf = (pod: { namespace?: string; name?: string } | undefined) =>
  `${pod?.namespace ?? ''}/${pod?.name ?? ''}`

function sizeOf(stats: FilesystemStats | undefined): Sized {
  const bytes = countOf(stats?.usedBytes) ?? 0
  return { lowBytes: bytes, highBytes: bytes, inodes: countOf(stats?.inodesUsed) }
}

const emptyDirOf = (
  { spec }: KubernetesPod,
  { name, pvcRef }: NonNullable<PodSummary['volume']>[number],
) =>
  pvcRef === undefined
    ? (spec?.volumes?.find(volume => volume.name === name)?.emptyDir ?? null)
    : null

const podParts = (
  node: PreparedNode,
  parts: readonly PodPart[],
  filesystem: HolderPart['filesystem'],
): HolderPart[] =>
  largest(
    parts,
    ({ lowBytes }) => lowBytes,
    ({ pod, name }) => `${keyOf(pod.metadata)}/${name}`,
  ).map(part => ({
    holder: part.holder,
    filesystem,
    lowBytes: part.lowBytes,
    highBytes: part.highBytes,
    inodes: part.inodes,
    place: placeOf(node, part),
    owner: ownerOf(part),
  }))

function ownerOf({ holder, pod, name }: PodPart): HolderOwner {
  const { namespace = '', name: podName = '' } = pod.metadata ?? {}
  const controller = controllerOf(pod)
  const owner = {
    namespace: sharedText(namespace),
    pod: podName,
    workload: controller === null ? null : sharedText(controller),
  }
  return holder === 'writable-layers' || holder === 'container-logs'
    ? { kind: 'container', ...owner, container: name }
    : { kind: 'pod', ...owner, volume: name }
}

/** Folder of a log or volume. The UID of a static pod on disk is the hash of its manifest. */
function placeOf(node: PreparedNode, { holder, pod, name }: PodPart): string | null {
  const { namespace, name: podName, uid: uidInApi, annotations } = pod.metadata ?? {}
  const uid = annotations?.['kubernetes.io/config.hash'] ?? uidInApi
  if (uid === undefined) return null
  if (holder === 'container-logs') {
    const logs = node.input.configuration?.fields.podLogsDir ?? '/var/log/pods'
    return `${logs}/${namespace}_${podName}_${uid}/${name}`
  }
  return holder === 'pod-volumes'
    ? `${rootOf(node)}/pods/${uid}/volumes/kubernetes.io~empty-dir/${name}`
    : null
}

/** The kubelet's `--root-dir`. */
const rootOf = ({ host }: PreparedNode): string =>
  host?.diskUse?.folders?.find(({ holder }) => holder === 'kubelet')?.path ?? '/var/lib/kubelet'

/** The CRI lists packed layers, with a shared layer counted for each image. So a part has bounds. */
function partsOfImages(node: PreparedNode): HolderPart[] {
  const { images, areUsersComplete } = node.imageEvidence
  const filesystem = node.filesystems.layout === 'shared' ? 'nodefs' : 'imagefs'
  const holderOf = (image: StoredImage): DiskHolder => {
    const group = groupOf(image)
    return group === 'images-unused' && !areUsersComplete ? 'images' : group
  }
  const chosen = [...Map.groupBy(images ?? [], holderOf)].flatMap(([holder, group]) =>
    largest(
      group,
      ({ sizeBytes }) => sizeBytes ?? 0,
      ({ image }) => image,
    ).map(image => ({ holder, image })),
  )
  const workloads = workloadsOf(
    node,
    chosen.map(({ image }) => image),
  )
  const isPackedKept = node.host?.containerd?.discardUnpackedLayers !== true
  return chosen.map(({ holder, image }) => {
    const { names, sizeBytes, users } = image
    return {
      holder,
      filesystem,
      lowBytes: Math.round(leastUnpacking * (sizeBytes ?? 0)),
      highBytes: Math.round((mostUnpacking + (isPackedKept ? 1 : 0)) * (sizeBytes ?? 0)),
      inodes: null,
      place: null,
      owner: {
        kind: 'image',
        reference: names.find(name => !name.includes('@')) ?? names[0] ?? image.image,
        workloads: workloads(image),
        isInUse: users.length > 0 || (areUsersComplete ? false : null),
      },
    }
  })
}

/** Controllers of the pods whose containers use an image: `namespace/Kind name`. */
function workloadsOf(node: PreparedNode, images: readonly StoredImage[]) {
  const used = new Set(images.flatMap(({ users }) => users.map(({ containerId }) => containerId)))
  const byContainer = new Map<string, string>()
  for (const pod of used.size === 0 ? [] : (node.input.pods ?? []))
    for (const status of containerStatusesOf(pod)) {
      const id = containerIdOf(status)
      if (!used.has(id)) continue
      const { namespace = '', name = '' } = pod.metadata ?? {}
      byContainer.set(id, sharedText(`${namespace}/${controllerOf(pod) ?? `Pod ${name}`}`))
    }
  return ({ users }: StoredImage): string[] => {
    const names = users.flatMap(({ containerId }) => byContainer.get(containerId) ?? [])
    return [...new Set(names)].toSorted(byText).slice(0, shownWorkloads)
  }
}
