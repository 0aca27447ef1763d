/** The one place where what was read of a cluster and its objects gets its types. */
import type { ClusterInput, EksCluster } from '#model/cluster-input.ts'
import type { ObjectsInput } from '#model/cluster-objects.ts'
import type { ClusterRecord, ObjectsRecord } from '#model/record.ts'
import { keep, type ShapeOf } from './shape.ts'

const replayedShape: ShapeOf<EksCluster> = {
  version: 'text',
  computeConfig: { enabled: 'boolean' },
  kubeControllerManagerConfig: { podGcControllerConfig: { terminatedPodGcThreshold: 'integer' } },
}

export const clusterInput = ({ cluster, eks, errors }: ClusterRecord): ClusterInput => ({
  kind: 'Cluster',
  cluster,
  eks: (keep(eks, replayedShape) as EksCluster | undefined) ?? null,
  errors: errors ?? null,
})

/** @param record as `prune` leaves it: each object is cut to the shape of its resource (garbage-shapes.ts), so a field has its type, or is absent */
export const objectsInput = ({ kind, cluster, resource, items }: ObjectsRecord): ObjectsInput => ({
  kind,
  cluster,
  resource,
  items: items as ObjectsInput['items'],
})
