/** The only place where records of a cluster and its objects get their types. */
import {
  type ClusterInput,
  type EksCluster,
  eksClusterShape,
  type LaunchTemplateVersion,
  type Nodegroup,
} from '#model/input/cluster-input.ts'
import type { ObjectsInput } from '#model/input/cluster-objects.ts'
import type { ClusterRecord, ObjectsRecord } from '#model/input/record.ts'
import { keep } from './shape.ts'

/** @param record as `prune` leaves it: nodegroups and launch templates are cut to their shapes */
export const clusterInput = (record: ClusterRecord): ClusterInput => ({
  kind: 'Cluster',
  cluster: record.cluster,
  eks: (keep(record.eks, eksClusterShape) as EksCluster | undefined) ?? null,
  nodegroups: (record.nodegroups as Nodegroup[] | undefined) ?? null,
  launchTemplates: (record.launchTemplates as LaunchTemplateVersion[] | undefined) ?? null,
  errors: record.errors ?? null,
})

/** @param record as `prune` leaves it: each object is cut to the shape of its resource (garbage-shapes.ts), so a field has its type, or is absent */
export const objectsInput = ({ kind, cluster, resource, items }: ObjectsRecord): ObjectsInput => ({
  kind,
  cluster,
  resource,
  items: items as ObjectsInput['items'],
})
