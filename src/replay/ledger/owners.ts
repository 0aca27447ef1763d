/** Owners of disk space among the pods that the API lists for the node. What a node reports of any other pod has no owner. */

import { sharedText } from '#base/once.ts'
import { isHostLog, logFolder, sharedFolders } from '#facts/host-folders.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'
import { controllerOf } from '#model/input/pod-controller.ts'
import type { HolderOwner } from '#model/prediction/disk-ledger.ts'

export type PodsByUid = ReadonlyMap<string, KubernetesPod>

/** UID of the pod's folders and cgroup. Of a static pod it is the hash of its manifest. */
export const uidOnNode = ({ metadata }: KubernetesPod): string =>
  metadata?.annotations?.['kubernetes.io/config.hash'] ?? metadata?.uid ?? ''

export const podsByUid = (pods: readonly KubernetesPod[] | null): PodsByUid =>
  new Map(pods?.map(pod => [uidOnNode(pod), pod]))

export const containerOwner = (pod: KubernetesPod, container: string): HolderOwner => ({
  kind: 'container',
  ...placeInCluster(pod),
  container,
})

export const podOwner = (pod: KubernetesPod, volume: string | null): HolderOwner => ({
  kind: 'pod',
  ...placeInCluster(pod),
  volume,
})

export function volumeOwner(byUid: PodsByUid, uid: string): HolderOwner | null {
  const pod = byUid.get(uid)
  return pod === undefined ? null : podOwner(pod, null)
}

function placeInCluster(pod: KubernetesPod) {
  const { namespace = '', name = '' } = pod.metadata ?? {}
  const workload = controllerOf(pod)
  return {
    namespace: sharedText(namespace),
    pod: name,
    workload: workload === null ? null : sharedText(workload),
  }
}

/**
 * A pod that mounts the folder, a folder in it, or a folder around it by hostPath, and can write there. Null: there is none, or pods of
 * several namespaces do. Pods of `kube-system` count if there is no other: kube-proxy mounts /var/log.
 */
export function hostPathOwner(
  pods: readonly KubernetesPod[] | null,
  folder: string,
): HolderOwner | null {
  const found = (pods ?? []).flatMap(pod => {
    const volume = pod.spec?.volumes?.find(
      ({ name = '', hostPath }) => isOfFolder(hostPath?.path, folder) && isWritten(pod, name),
    )
    return volume === undefined ? [] : [podOwner(pod, volume.name ?? '')]
  })
  const byNamespace = Map.groupBy(found, owner => 'namespace' in owner && owner.namespace)
  if (byNamespace.size > 1) byNamespace.delete('kube-system')
  const [owners] = byNamespace.values()
  return byNamespace.size === 1 ? (owners?.[0] ?? null) : null
}

function isOfFolder(mounted: string | undefined, folder: string): boolean {
  const path = mounted?.replace(/(?<!\/)\/+$/, '')
  if (!path || sharedFolders.has(path)) return false
  return (
    path === folder ||
    (isInside(path, folder) && !sharedFolders.has(folder) && folder !== logFolder) ||
    (isInside(folder, path) && !isHostLog(folder))
  )
}

const isInside = (inner: string, outer: string) => inner.startsWith(`${outer}/`)

const isWritten = ({ spec }: KubernetesPod, volume: string): boolean =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ volumeMounts }) =>
    volumeMounts?.some(({ name, readOnly }) => name === volume && readOnly !== true),
  )
