/** The Kubernetes objects that travel in a snapshot: the API's own shapes, as JSON carries them, pruned of what no rule reads. */
import type { V1Node, V1Pod } from '@kubernetes/client-node'

/** A client-node type as its JSON: dates are RFC 3339 strings, and any field may have been pruned. */
type Json<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T]?: Json<T[Key]> }
      : T

export type KubernetesNode = Json<V1Node>
export type KubernetesPod = Json<V1Pod>
export type PodSpec = NonNullable<KubernetesPod['spec']>
export type PodStatus = NonNullable<KubernetesPod['status']>
export type ContainerSpec = NonNullable<PodSpec['containers']>[number]
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]
export type VolumeSource = NonNullable<PodSpec['volumes']>[number]
