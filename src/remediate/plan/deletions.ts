/**
 * Which objects of a cluster a plan may delete: ended objects without a controller that collects them and without references. Checked when the plan is
 * made and, of the object as it then is, once more before it is deleted.
 */
import { type DeletionKind, deletionKinds, type PlannedDeletion } from '#model/plan.ts'
import type { DeletionPolicy } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import { type DeletableObject, deletableObject, isTime } from './deletable-object.ts'

/** More go with the next plan: a person reads them. */
export const mostDeletions = 2000

interface Deletable {
  /** `plural` or `plural.group`. */
  resource: string
  isNamespaced: boolean
  /** As kubectl deletes it; null: it has nothing that depends on it. */
  propagationPolicy: 'Background' | null
  /** Finalizers that do not speak against it: a controller takes them away by itself. None is ever taken away by force. */
  finalizers: readonly string[]
  /** Since when it could go, and why; null: it may not. */
  ended(object: DeletableObject): { since: string; why: string } | null
}

/** By the word of the policy. */
export const deletables: Readonly<Record<DeletionKind, Deletable>> = {
  nodeLeases: {
    resource: 'leases.coordination.k8s.io',
    isNamespaced: true,
    propagationPolicy: null,
    finalizers: [],
    // Another check finds whether its node is gone. An object with an owner is collected with the owner.
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
    // With a time to live, or a controller that keeps a history, another one decides.
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
    // Upstream: api/core/v1 PersistentVolumeStatus lastPhaseTransitionTime; without it the time is unknown.
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

/** Null: it stays. @param nowMs of the clock that its times were written by, as nearly as is known */
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

/** As it may stand in a path, too. */
const isName = (value: string | undefined): value is string =>
  value !== undefined &&
  /^[a-zA-Z0-9]([\w.:-]{0,251}[a-zA-Z0-9])?$/.test(value) &&
  !value.includes('..')

/** Of the object itself. All of these are served as v1 by every minor from 1.24 on. */
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

/** What deleting them takes: to look once more, and to delete. */
export function deletionRights(policy: DeletionPolicy): string[] {
  const resources = deletionKinds
    .filter(kind => policy[kind] !== undefined)
    .map(kind => deletables[kind].resource)
  const rights = resources.flatMap(resource => [`get ${resource}`, `delete ${resource}`])
  return policy.nodeLeases === undefined ? rights : ['get nodes', ...rights]
}
