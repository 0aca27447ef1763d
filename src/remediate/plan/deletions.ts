/**
 * Which objects of a cluster a plan may delete: ended objects that no controller collects and that nothing refers to. Each object is checked when the
 * plan is made, and again just before it is deleted.
 */
import { type DeletionKind, deletionKinds, type PlannedDeletion } from '#model/plan.ts'
import type { DeletionPolicy } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import { type DeletableObject, deletableObject, isTime } from './deletable-object.ts'

/** Maximum deletions in one plan, because a person reads them. The next plan contains the rest. */
export const mostDeletions = 2000

interface Deletable {
  /** `plural` or `plural.group`. */
  resource: string
  isNamespaced: boolean
  /** Propagation policy, as kubectl sets it; null: the object has no dependents. */
  propagationPolicy: 'Background' | null
  /** Finalizers that do not block: a controller removes them by itself. highwater never removes a finalizer by force. */
  finalizers: readonly string[]
  /** Since when the object could be deleted, and why; null: it must not be deleted. */
  ended(object: DeletableObject): { since: string; why: string } | null
}

/** By the policy's name of the kind. */
export const deletables: Readonly<Record<DeletionKind, Deletable>> = {
  nodeLeases: {
    resource: 'leases.coordination.k8s.io',
    isNamespaced: true,
    propagationPolicy: null,
    finalizers: [],
    // Another check finds whether the Lease's node is gone. An owned Lease is collected with its owner.
    ended({ metadata, spec }) {
      if (metadata.namespace !== 'kube-node-lease' || metadata.ownerReferences.length > 0)
        return null
      const { renewTime } = spec
      return isTime(renewTime)
        ? {
            since: renewTime,
            why: `its node is deleted, it was last renewed at ${renewTime}, and it has no owner`,
          }
        : null
    },
  },
  failedPods: {
    resource: 'pods',
    isNamespaced: true,
    propagationPolicy: null,
    finalizers: [],
    ended({ metadata, status }) {
      if (status.phase !== 'Failed' || metadata.ownerReferences.some(({ kind }) => kind === 'Node'))
        return null
      const created = metadata.creationTimestamp
      const since = endOfPod(status) ?? (isTime(created) ? created : null)
      const reason =
        status.reason !== undefined && /^\w{1,60}$/.test(status.reason) ? ` (${status.reason})` : ''
      return since === null ? null : { since, why: `Failed${reason} since ${since}` }
    },
  },
  finishedJobs: {
    resource: 'jobs.batch',
    isNamespaced: true,
    propagationPolicy: 'Background',
    finalizers: [],
    // A time to live, or a controller that keeps a history, decides when the Job is deleted.
    ended({ metadata, spec, status }) {
      if (metadata.ownerReferences.length > 0 || spec.ttlSecondsAfterFinished !== undefined)
        return null
      const ended = status.conditions.find(
        ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
      )
      const since = ended?.lastTransitionTime
      return isTime(since)
        ? {
            since,
            why: `${ended?.type} since ${since}, without ttlSecondsAfterFinished; its pods go with it`,
          }
        : null
    },
  },
  releasedVolumes: {
    resource: 'persistentvolumes',
    isNamespaced: false,
    propagationPolicy: null,
    finalizers: ['kubernetes.io/pv-protection'],
    // Upstream: api/core/v1 PersistentVolumeStatus lastPhaseTransitionTime; if absent, the time is unknown.
    ended({ spec, status }) {
      if (status.phase !== 'Released' || spec.persistentVolumeReclaimPolicy !== 'Retain')
        return null
      const since = status.lastPhaseTransitionTime
      const handle = spec.csi.volumeHandle
      const csi = handle === undefined ? '' : ` ${handle.slice(0, 100)}`
      return isTime(since)
        ? {
            since,
            why: `Released since ${since}; its policy is Retain: the disk${csi} stays and costs money until it is deleted too`,
          }
        : null
    },
  },
}

/** The latest time in a pod's status. */
function endOfPod(status: DeletableObject['status']): string | null {
  const statuses = [
    ...status.containerStatuses,
    ...status.initContainerStatuses,
    ...status.ephemeralContainerStatuses,
  ]
  const ends = statuses.map(({ state }) => state.terminated.finishedAt)
  const changes = status.conditions.map(({ lastTransitionTime }) => lastTransitionTime)
  const times = [...ends, ...changes, status.startTime].filter(isTime)
  return times.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null
}

/** Null: the object stays. @param nowMs of the clock that wrote the object's times, as nearly as is known */
export function deletable(
  kind: DeletionKind,
  raw: RawObject,
  olderThanHours: number,
  nowMs: number,
): Omit<PlannedDeletion, 'cluster' | 'kind' | 'resource'> | null {
  const object = deletableObject(raw)
  const { metadata } = object
  const { isNamespaced, finalizers, ended } = deletables[kind]
  if (metadata.deletionTimestamp !== undefined) return null
  const { name, uid, namespace, resourceVersion } = metadata
  if (!isName(name) || !isName(uid) || (isNamespaced && !isName(namespace))) return null
  if (metadata.finalizers.some(finalizer => !finalizers.includes(String(finalizer)))) return null
  const end = ended(object)
  const ageMs = end === null ? Number.NaN : nowMs - Date.parse(end.since)
  if (end === null || !(ageMs >= olderThanHours * 3_600_000)) return null
  return {
    namespace: isNamespaced ? String(namespace) : null,
    name,
    uid,
    resourceVersion: isName(resourceVersion) ? resourceVersion : null,
    why: end.why,
    ageSeconds: Math.floor(ageMs / 1000),
  }
}

/** A name that is safe in a URL path, too. */
const isName = (value: string | undefined): value is string =>
  value !== undefined &&
  /^[a-zA-Z0-9]([\w.:-]{0,251}[a-zA-Z0-9])?$/.test(value) &&
  !value.includes('..')

/** API path of the object. Every minor from 1.24 on serves all of these resources as v1. */
export function objectPath({
  resource,
  namespace,
  name,
}: Pick<PlannedDeletion, 'resource' | 'namespace' | 'name'>): string {
  const [plural = '', ...group] = resource.split('.')
  const root = group.length === 0 ? '/api/v1' : `/apis/${group.join('.')}/v1`
  const place = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${root}${place}/${plural}/${encodeURIComponent(name)}`
}

/** Permissions that the deletions need: to read each object once more, and to delete it. */
export function deletionRights(policy: DeletionPolicy): string[] {
  const resources = deletionKinds
    .filter(kind => policy[kind] !== undefined)
    .map(kind => deletables[kind].resource)
  const rights = resources.flatMap(resource => [`get ${resource}`, `delete ${resource}`])
  return policy.nodeLeases === undefined ? rights : ['get nodes', ...rights]
}
