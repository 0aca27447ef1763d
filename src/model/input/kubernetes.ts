/** Kubernetes objects in a snapshot: the API's JSON shapes, without the fields that no rule reads. */
import type * as api from '@kubernetes/client-node'

/** JSON form of a client-node type: dates are RFC 3339 strings, and any field can be absent. */
type Json<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T]?: Json<T[Key]> }
      : T

export type KubernetesNode = Json<api.V1Node>
export type KubernetesPod = Json<api.V1Pod>
export type PodSpec = NonNullable<KubernetesPod['spec']>
export type PodStatus = NonNullable<KubernetesPod['status']>
export type ContainerSpec = NonNullable<PodSpec['containers']>[number]
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]
export type VolumeSource = NonNullable<PodSpec['volumes']>[number]

/** Identity of an object. For unknown kinds, only the identity is kept. */
export interface ClusterObject {
  metadata?: Json<api.V1ObjectMeta>
}
export type ObjectReference = Json<api.V1OwnerReference>
export type CertificateSigningRequest = Json<api.V1CertificateSigningRequest>
export type ControllerRevision = Json<api.V1ControllerRevision>
export type CronJob = Json<api.V1CronJob>
export type DaemonSet = Json<api.V1DaemonSet>
export type Deployment = Json<api.V1Deployment>
export type Job = Json<api.V1Job>
export type Lease = Json<api.V1Lease>
export type PersistentVolume = Json<api.V1PersistentVolume>
export type PersistentVolumeClaim = Json<api.V1PersistentVolumeClaim>
export type ReplicaSet = Json<api.V1ReplicaSet>
export type ServerVersion = Json<api.VersionInfo> & ClusterObject
export type StatefulSet = Json<api.V1StatefulSet>

/** The owner that starts a pod again: its controller, or its node if it is a mirror pod. */
export const controllerReferenceOf = ({ metadata }: KubernetesPod): ObjectReference | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller === true)

/** @param workload `Kind name`, as `controllerOf` writes it */
export function parseWorkload(workload: string) {
  const [kind = '', ...name] = workload.split(' ')
  return { kind, name: name.join(' ') }
}

/** `Deployment shop/web`. @param workload likewise */
export function placedWorkload(namespace: string, workload: string) {
  const { kind, name } = parseWorkload(workload)
  return `${kind} ${namespace}/${name}`
}

/** Kind and name. A ReplicaSet counts as its Deployment if its name ends with the pods' hash. */
export function controllerOf(pod: KubernetesPod): string | null {
  const owner = controllerReferenceOf(pod)
  if (owner?.name === undefined || owner.kind === 'Node') return null
  const hash = pod.metadata?.labels?.['pod-template-hash']
  const isOfDeployment = owner.kind === 'ReplicaSet' && owner.name.endsWith(`-${hash}`)
  return isOfDeployment
    ? `Deployment ${owner.name.slice(0, -(hash?.length ?? 0) - 1)}`
    : `${owner.kind ?? ''} ${owner.name}`
}

/** The statuses of a pod's containers and init containers. */
export const statusesOf = ({ status }: KubernetesPod) => [
  ...(status?.containerStatuses ?? []),
  ...(status?.initContainerStatuses ?? []),
]

/** Whether a container of the pod may write into the volume. */
export const isVolumeWritable = ({ spec }: KubernetesPod, volume: string | undefined) =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ volumeMounts }) =>
    volumeMounts?.some(({ name, readOnly }) => name === volume && readOnly !== true),
  )
