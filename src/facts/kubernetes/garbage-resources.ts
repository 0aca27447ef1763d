/**
 * What of a cluster's own objects is read beside its nodes, to find what nobody has collected. Paths and served versions: Kubernetes API reference;
 * all of them are served by every minor from 1.24 on.
 */
import type { GarbageKind } from '#model/policy.ts'

export interface GarbageResource {
  /** `plural` or `plural.group`: its name in the snapshot and in RBAC, and under which its failure is reported. */
  resource: string
  path: string
  /** The word by which a policy asks for it. */
  kind: GarbageKind
  /** Names, owners, times and finalizers are enough: the API server sends nothing else. */
  isMetadataOnly: boolean
  /** What it brings, and stays unknown where the right is missing: a noun phrase. */
  tells: string
}

function listed(kind: GarbageKind, resource: string, tells: string, isMetadataOnly = false): GarbageResource {
  const [plural, ...group] = resource.split('.')
  const path = group.length === 0 ? `/api/v1/${plural}` : `/apis/${group.join('.')}/v1/${plural}`
  return { resource, path, kind, isMetadataOnly, tells }
}

/** Of nodes that the audit reads, pods come with the nodes; here come those of no node, and the failed ones of nodes that are gone. */
export const podResource = listed('pods', 'pods', 'which pods failed, finished or hang in deletion, and stay')

/** Beside pods; each one list. */
export const garbageResources: readonly GarbageResource[] = [
  listed('jobs', 'jobs.batch', 'which Jobs have finished, and stay'),
  listed('jobs', 'cronjobs.batch', 'how many of its finished Jobs a CronJob keeps'),
  listed('leases', 'leases.coordination.k8s.io', 'which leases nobody renews, and nobody collects'),
  listed('history', 'deployments.apps', 'how many old ReplicaSets a Deployment keeps'),
  listed('history', 'replicasets.apps', 'how many old ReplicaSets a Deployment keeps'),
  listed('history', 'statefulsets.apps', 'how many old ControllerRevisions a StatefulSet keeps'),
  listed('history', 'daemonsets.apps', 'how many old ControllerRevisions a DaemonSet keeps'),
  listed('history', 'controllerrevisions.apps', 'how many old ControllerRevisions StatefulSets and DaemonSets keep', true),
]

const resources: ReadonlySet<string> = new Set([podResource, ...garbageResources].map(({ resource }) => resource))

/** Whether it is read for what nobody has collected. @param resource `plural` or `plural.group` */
export const isGarbageResource = (resource: string): boolean => resources.has(resource)
