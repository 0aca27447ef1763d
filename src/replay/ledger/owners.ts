/** Owners of disk space among the pods that the API lists for the node. What a node reports of any other pod has no owner. */

import { isHostLog, logFolder, sharedFolders } from '#facts/host-folders.ts'
import { type ContainerStatus, isVolumeWritable, type KubernetesPod } from '#model/input/record.ts'
import { containerOwner, type HolderOwner, type PodHolder, podOwner } from '#model/prediction.ts'
import { containerIdOf, containerStatusesOf } from '#replay/pods/pod.ts'

export type PodsByUid = ReadonlyMap<string, KubernetesPod>

/** UID of the pod's folders and cgroup. Of a static pod it is the hash of its manifest. */
export const uidOnNode = ({ metadata }: KubernetesPod): string =>
  metadata?.annotations?.['kubernetes.io/config.hash'] ?? metadata?.uid ?? ''

export const podsByUid = (pods: readonly KubernetesPod[] | null): PodsByUid =>
  new Map(pods?.map(pod => [uidOnNode(pod), pod]))

export function volumeOwner(byUid: PodsByUid, uid: string): HolderOwner | null {
  const pod = byUid.get(uid)
  return pod ? podOwner(pod, null) : null
}

/**
 * A pod that mounts the folder or a folder around it by hostPath, and can write there; else the pods of one workload that mount a folder in
 * it. Null: there is none, or pods of several namespaces do. Pods of `kube-system` count if there is no other: kube-proxy mounts /var/log.
 */
export function hostPathOwner(
  pods: readonly KubernetesPod[] | null,
  folder: string,
): HolderOwner | null {
  const withFolder = onlyOwner(
    podsMounting(pods, path => coversFolder(path, folder)),
    namespaceOf,
  )
  if (withFolder.count > 0) return withFolder.owner
  // Each mounts another part of the folder.
  return onlyOwner(
    podsMounting(pods, path => isPartOf(path, folder)),
    workloadOf,
  ).owner
}

function podsMounting(pods: readonly KubernetesPod[] | null, isMounted: (path: string) => boolean) {
  return (pods ?? []).flatMap(pod => {
    const volume = pod.spec?.volumes?.find(({ name = '', hostPath }) => {
      const path = hostPath?.path?.replace(/(?<!\/)\/+$/, '')
      return path && !sharedFolders.has(path) && isMounted(path) && isVolumeWritable(pod, name)
    })
    return volume ? [podOwner(pod, volume.name ?? '')] : []
  })
}

/** The first, if all that count have the same key. */
function onlyOwner(found: readonly PodHolder[], keyOf: (owner: PodHolder) => string) {
  const others = found.filter(({ namespace }) => namespace !== 'kube-system')
  const counting = others.length > 0 ? others : found
  const isOne = new Set(counting.map(keyOf)).size === 1
  return { owner: isOne ? (counting[0] ?? null) : null, count: found.length }
}

const namespaceOf = ({ namespace }: PodHolder) => namespace
const workloadOf = ({ namespace, workload, pod }: PodHolder) => `${namespace}/${workload ?? pod}`

const coversFolder = (path: string, folder: string) =>
  path === folder || (isInside(folder, path) && !isHostLog(folder))

const isPartOf = (path: string, folder: string) =>
  isInside(path, folder) && !sharedFolders.has(folder) && folder !== logFolder

const isInside = (inner: string, outer: string) => inner.startsWith(`${outer}/`)

/** Of the containers with these ids, and of those that ran before. */
export function ownersByContainer(
  pods: readonly KubernetesPod[] | null,
  ids: ReadonlySet<string>,
): ReadonlyMap<string, HolderOwner> {
  const owners = new Map<string, HolderOwner>()
  for (const pod of ids.size === 0 ? [] : (pods ?? []))
    for (const status of containerStatusesOf(pod))
      for (const id of [containerIdOf(status), lastIdOf(status)])
        if (ids.has(id)) owners.set(id, containerOwner(pod, status.name ?? ''))
  return owners
}

/** Of the container that ran before. */
const lastIdOf = ({ lastState }: ContainerStatus) =>
  containerIdOf({ containerID: lastState?.terminated?.containerID })
