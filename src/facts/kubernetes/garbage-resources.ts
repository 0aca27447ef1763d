/**
 * Resources that are listed besides the nodes, to find cluster garbage. Paths and served versions:
 * Kubernetes API reference; every minor from 1.24 on serves all of them.
 */

import { awsResources } from '#facts/aws/cluster-resources.ts'
import type { ClusterNeed } from '#model/cluster-garbage.ts'

export interface GarbageResource {
  /** `plural` or `plural.group`: the name in the snapshot, in RBAC, and in reports of its failure. */
  resource: string
  path: string
  /** `v1`, `apps/v1` */
  apiVersion: string
  /** `Job`, as owner references name the kind. */
  objectKind: string
  isNamespaced: boolean
  /** Kinds of `clusterGarbage.kinds` that need this list; the resource's own kind first. */
  kinds: readonly [ClusterNeed, ...ClusterNeed[]]
  /** The API server sends only metadata, because names, owners, times and finalizers are enough. */
  isMetadataOnly: boolean
  /** What the list is read for, and so what is unknown without the right: a noun phrase. */
  purpose: string
}

interface Listing {
  isMetadataOnly?: true
  isClusterScoped?: true
}

function resourceRow(
  kind: ClusterNeed,
  resource: string,
  objectKind: string,
  purpose: string,
  { isMetadataOnly = false, isClusterScoped = false }: { [Key in keyof Listing]: boolean } = {},
): GarbageResource {
  const [plural, ...group] = resource.split('.')
  const apiVersion = group.length === 0 ? 'v1' : `${group.join('.')}/v1`
  const path = group.length === 0 ? `/api/v1/${plural}` : `/apis/${apiVersion}/${plural}`
  return {
    resource,
    path,
    apiVersion,
    objectKind,
    isNamespaced: !isClusterScoped,
    kinds: kindsOf(kind, resource),
    isMetadataOnly,
    purpose,
  }
}

/** The sections `owners` and `finalizers` scan every list except pods. */
function kindsOf(kind: ClusterNeed, resource: string): GarbageResource['kinds'] {
  if (kind === 'pods') return [kind]
  const others: ClusterNeed[] = []
  // Leases, PVCs and volumes have their own sections.
  if (kind !== 'leases' && kind !== 'owners') others.push('owners')
  if (resource !== 'persistentvolumes' && resource !== 'persistentvolumeclaims')
    others.push('finalizers')
  // A volume names its EBS disk.
  if (resource === 'persistentvolumes') others.push('disks')
  return [kind, ...others]
}

/** Pods without a node, and ended pods of deleted nodes. Pods of audited nodes are read with their node. */
export const podResource = resourceRow(
  'pods',
  'pods',
  'Pod',
  'pods that failed, finished or are stuck in Terminating',
)

const metadata = { isMetadataOnly: true } as const
const ofCluster = { isClusterScoped: true } as const
/**
 * One list per resource, besides pods. Owners are listed before their dependents, and PVCs before volumes: an owner missing from its list did
 * not exist at that time. The creation time shows dependents that are newer than the list.
 */
export const garbageResources: readonly GarbageResource[] = [
  resourceRow(
    'jobs',
    'cronjobs.batch',
    'CronJob',
    'the number of finished Jobs that a CronJob keeps',
  ),
  resourceRow('jobs', 'jobs.batch', 'Job', 'Jobs that finished and are not deleted'),
  resourceRow(
    'leases',
    'leases.coordination.k8s.io',
    'Lease',
    'leases that are no longer renewed and not deleted',
  ),
  resourceRow('owners', 'deployments.apps', 'Deployment', 'Deployments that own objects'),
  resourceRow(
    'owners',
    'replicasets.apps',
    'ReplicaSet',
    'ReplicaSets that own Pods, or have no owner',
  ),
  resourceRow('owners', 'statefulsets.apps', 'StatefulSet', 'StatefulSets that own objects'),
  resourceRow('owners', 'daemonsets.apps', 'DaemonSet', 'DaemonSets that own objects'),
  resourceRow(
    'owners',
    'controllerrevisions.apps',
    'ControllerRevision',
    'ControllerRevisions without an owner',
    metadata,
  ),
  resourceRow(
    'volumes',
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
    'PVCs that still exist, and what uses them',
  ),
  resourceRow(
    'volumes',
    'persistentvolumes',
    'PersistentVolume',
    'PersistentVolumes that are Released and not deleted',
    ofCluster,
  ),
  resourceRow(
    'certificates',
    'certificatesigningrequests.certificates.k8s.io',
    'CertificateSigningRequest',
    'certificate requests that are not approved, issued or deleted',
    ofCluster,
  ),
]

const byResource: ReadonlyMap<string, GarbageResource> = new Map(
  [podResource, ...garbageResources].map(each => [each.resource, each]),
)

export const garbageResource = (resource: string): GarbageResource | null =>
  byResource.get(resource) ?? null

const ofAws: ReadonlySet<string> = new Set(awsResources.map(({ resource }) => resource))

/**
 * Whether the resource is listed to find garbage, in the cluster or in its account.
 * @param resource `plural` or `plural.group`
 */
export const isGarbageResource = (resource: string): boolean =>
  byResource.has(resource) || ofAws.has(resource)
