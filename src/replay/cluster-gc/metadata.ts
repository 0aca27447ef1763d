/** The metadata that every collector reads: name, times, owners. An object without a name is ignored. */
import type { ClusterObject, ObjectReference } from '#model/input/kubernetes.ts'

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  isController: boolean
  blocksOwnerDeletion: boolean
}

export interface ObjectMetadata {
  /** Empty: a cluster-scoped object. */
  namespace: string
  name: string
  uid: string
  /** Null: not recorded. */
  createdMs: number | null
  /** When the deletion began; null: the object is not being deleted. */
  deletedMs: number | null
  generation: number
  finalizers: readonly string[]
  ownerReferences: readonly OwnerReference[]
}

/** Null: the object has no name. */
export function parseMetadata(object: ClusterObject | null | undefined): ObjectMetadata | null {
  const metadata = object?.metadata
  if (!metadata?.name) return null
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    createdMs: timeOf(metadata.creationTimestamp),
    deletedMs: timeOf(metadata.deletionTimestamp),
    generation: metadata.generation ?? 0,
    finalizers: metadata.finalizers ?? [],
    ownerReferences: (metadata.ownerReferences ?? []).map(parseOwnerReference),
  }
}

const parseOwnerReference = (reference: ObjectReference): OwnerReference => ({
  apiVersion: reference.apiVersion ?? '',
  kind: reference.kind ?? '',
  name: reference.name ?? '',
  uid: reference.uid ?? '',
  isController: reference.controller === true,
  blocksOwnerDeletion: reference.blockOwnerDeletion === true,
})

/** Upstream: apimachinery pkg/apis/meta/v1 GetControllerOf. */
export const controllerOf = ({ ownerReferences }: ObjectMetadata): OwnerReference | null =>
  ownerReferences.find(({ isController }) => isController) ?? null

/** As upstream prints an object: without a namespace, only its name. */
export const keyOf = ({ namespace, name }: Pick<ObjectMetadata, 'namespace' | 'name'>): string =>
  namespace === '' ? name : `${namespace}/${name}`

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const goZeroTimeMs = Date.parse('0001-01-01T00:00:00Z')

/** An RFC 3339 time in ms; null: absent, malformed, or Go's zero time. */
export function timeOf(text: string | null | undefined): number | null {
  const ms = text && timeForm.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) || ms === goZeroTimeMs ? null : ms
}

/** The first condition of that type, as upstream picks it. */
export const conditionOf = <Condition extends { type?: string }>(
  { status }: { status?: { conditions?: Condition[] } },
  type: string,
): Condition | null => status?.conditions?.find(each => each.type === type) ?? null

/** A time that is not recorded is Go's zero time, before all others. */
export function compareTimes(a: number | null, b: number | null): number {
  if (a === b) return 0
  return (a ?? Number.NEGATIVE_INFINITY) < (b ?? Number.NEGATIVE_INFINITY) ? -1 : 1
}
