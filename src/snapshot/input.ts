/** The only place where records get their types. */

import type { Host, Runtime } from '#model/input/inspection.ts'
import {
  type AttachedVolume,
  type ClusterInput,
  type ClusterRecord,
  controllerReferenceOf,
  defaultReadMode,
  type EksCluster,
  eksClusterShape,
  type Insight,
  type KnownImages,
  type KubernetesPod,
  type LaunchTemplateVersion,
  type Nodegroup,
  type NodeInput,
  type NodeRecord,
  type ObjectReference,
  type ObjectsInput,
  type ObjectsRecord,
  promisedSources,
  type Summary,
} from '#model/input/record.ts'
import { parseConfigz } from '#model/kubelet/configuration.ts'
import { keep } from './shape.ts'

/** @param record as `prune` leaves it: each part is cut to the shape of its type (shapes.ts), so a field has its type or is absent. */
export function nodeInput(record: NodeRecord): NodeInput {
  const {
    cluster,
    at,
    mode = defaultReadMode,
    node,
    configz,
    summary,
    pods,
    runtime,
    host,
    known,
    volumes,
    unknownSources = [],
    errors,
  } = record
  return {
    kind: 'Node',
    cluster,
    at: at ?? null,
    mode,
    promised: promisedSources[mode].filter(source => !unknownSources.includes(source)),
    node,
    configuration: configz ? parseConfigz(configz) : null,
    summary: (summary as Summary | null | undefined) ?? null,
    pods: pods ? withControllers(pods) : null,
    runtime: (runtime as Runtime | null | undefined) ?? null,
    host: (host as Host | null | undefined) ?? null,
    known: (known as KnownImages | null | undefined) ?? null,
    volumes: (volumes as AttachedVolume[] | null | undefined) ?? null,
    errors: errors ?? [],
  }
}

/** A pod that another pod of its namespace owns, as Spark's executors, counts to the controller of that pod, if the node has it. */
function withControllers(pods: KubernetesPod[]): KubernetesPod[] {
  const isOfPod = (pod: KubernetesPod) => controllerReferenceOf(pod)?.kind === 'Pod'
  if (!pods.some(isOfPod)) return pods
  const keyOf = (namespace = '', uid = '') => `${namespace}/${uid}`
  const byKey = new Map(pods.map(pod => [keyOf(pod.metadata?.namespace, pod.metadata?.uid), pod]))
  const referenceOf = (pod: KubernetesPod, deep = 0): ObjectReference | undefined => {
    const own = controllerReferenceOf(pod)
    if (own?.kind !== 'Pod' || deep === mostOwners) return own
    const above = byKey.get(keyOf(pod.metadata?.namespace, own.uid))
    return (above && referenceOf(above, deep + 1)) ?? own
  }
  return pods.map(pod => {
    const controller = isOfPod(pod) && referenceOf(pod)
    return controller
      ? { ...pod, metadata: { ...pod.metadata, ownerReferences: [controller] } }
      : pod
  })
}

/** Owners that are followed at most: a pod may name itself. */
const mostOwners = 5

/** @param record as `prune` leaves it: nodegroups and launch templates are cut to their shapes */
export const clusterInput = (record: ClusterRecord): ClusterInput => ({
  cluster: record.cluster,
  eks: (keep(record.eks, eksClusterShape) as EksCluster | undefined) ?? null,
  nodegroups: (record.nodegroups as Nodegroup[] | undefined) ?? null,
  launchTemplates: (record.launchTemplates as LaunchTemplateVersion[] | undefined) ?? null,
  insights: (record.insights as Insight[] | undefined) ?? null,
  errors: record.errors ?? null,
})

/** @param record as `prune` leaves it: each object is cut to the shape of its resource (shapes.ts), so a field has its type, or is absent */
export const objectsInput = ({
  cluster,
  resource,
  items,
  errors,
}: ObjectsRecord): ObjectsInput => ({
  cluster,
  resource,
  items: items as ObjectsInput['items'],
  errors,
})
