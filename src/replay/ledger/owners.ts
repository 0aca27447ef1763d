/** Owners of disk space among the pods that the API lists for the node. What a node reports of any other pod has no owner. */
import type { HolderOwner } from '#model/disk-ledger.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { sharedText } from '#model/once.ts'
import { controllerOf } from '#model/pod-controller.ts'

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

/** Folders of many owners. A pod that mounts one of them does not own the folders below. */
const sharedFolders = new Set(['/', '/var', '/var/lib', '/mnt', '/media', '/opt', '/srv', '/home'])

/** A pod that mounts the folder, a folder in it, or a folder around it by hostPath, and can write there. */
export function hostPathOwner(
  pods: readonly KubernetesPod[] | null,
  folder: string,
): HolderOwner | null {
  for (const pod of pods ?? [])
    for (const { name = '', hostPath } of pod.spec?.volumes ?? []) {
      const path = hostPath?.path?.replace(/\/+$/, '')
      if (!path || (path !== folder && !isInside(path, folder) && !isInside(folder, path))) continue
      if (sharedFolders.has(path) || !isWritten(pod, name)) continue
      return podOwner(pod, name)
    }
  return null
}

const isInside = (inner: string, outer: string) => inner.startsWith(`${outer}/`)

const isWritten = ({ spec }: KubernetesPod, volume: string): boolean =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ volumeMounts }) =>
    volumeMounts?.some(({ name, readOnly }) => name === volume && readOnly !== true),
  )
