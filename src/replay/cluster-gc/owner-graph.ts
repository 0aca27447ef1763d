/**
 * The objects of a cluster and their owners, as the garbage collector sees them.
 *
 * Replays       pkg/controller/garbagecollector/garbagecollector.go  isDangling, classifyReferences
 *               pkg/controller/garbagecollector/graph_builder.go     addDependentToOwners
 *               pkg/controller/garbagecollector/operations.go        apiResource
 * Read at       1.29 to 1.37; alike except for events of events.k8s.io
 * Kept exactly  an owner is looked up by kind and name in the dependent's own namespace, and then its UID is compared; dependents are found by UID
 *               alone; the first reference that cannot be looked up ends the check of its object
 * Left out      the cache of absent owners; informers that lag; other versions of a listed kind; kinds that no API serves
 */

import type { ClusterObject } from '#model/input/kubernetes.ts'
import type { Certainty } from '#model/prediction/prediction.ts'
import { type ObjectMetadata, type OwnerReference, parseMetadata } from './metadata.ts'

/** A kind whose objects were read. */
export type ListedKind = {
  /** `v1`, `apps/v1` */
  apiVersion: string
  kind: string
  isNamespaced: boolean
  /** The list is incomplete: whether there are other objects is unknown. */
  isPartial?: boolean
} & ({ items: readonly ClusterObject[] } | { objects: readonly OwnedObject[] })

export interface OwnedObject extends ObjectMetadata {
  apiVersion: string
  kind: string
}

/**
 * `other-uid`: another object has the owner's name now; `other-namespace`: the owner exists, but in another namespace; `waiting`: the owner
 * is in foreground deletion and waits for its dependents; `namespaced-owner`: a cluster-scoped
 * object cannot have a namespaced owner; `unknown`: the owner's kind was not listed.
 */
type ReferenceClass =
  | 'solid'
  | 'waiting'
  | 'absent'
  | 'other-uid'
  | 'other-namespace'
  | 'namespaced-owner'
  | 'unknown'

interface ClassifiedReference {
  reference: OwnerReference
  is: ReferenceClass
}

interface OwnerGraph {
  objects: readonly OwnedObject[]
  /** Objects with an owner reference to that UID. */
  dependentsOf(uid: string): readonly OwnedObject[]
  classify(object: OwnedObject): ClassifiedReference[]
}

interface KnownKind {
  isNamespaced: boolean
  /** Null: the objects were not listed. */
  byName: Map<string, OwnedObject> | null
}

function ownerGraph(listed: readonly ListedKind[]): OwnerGraph {
  const parsed = listed.map(kind => ({ kind, objects: objectsOf(kind) }))
  const objects = parsed.flatMap(({ kind, objects }) => (isIgnored(kind) ? [] : objects))
  const byUid = new Map<string, OwnedObject>()
  for (const object of objects) byUid.set(object.uid, object)
  const dependents = dependentsIn(objects)
  const kinds = kindsOf(parsed)
  const classify = (object: OwnedObject) =>
    object.ownerReferences.map(reference => ({
      reference,
      is: classOf(object, reference, kinds, byUid),
    }))

  return { objects, dependentsOf: uid => [dependents.get(uid) ?? []].flat(), classify }
}

const isIgnored = ({ apiVersion, kind }: ListedKind) =>
  kind === 'Event' && (apiVersion === 'v1' || apiVersion.startsWith('events.k8s.io/'))

function objectsOf(listed: ListedKind) {
  if ('objects' in listed) return listed.objects
  const { apiVersion, kind, items } = listed
  return items.flatMap(item => {
    const metadata = parseMetadata(item)
    return metadata && metadata.uid !== '' ? [{ ...metadata, apiVersion, kind }] : []
  })
}

/** Dependents by the owner's UID. Most owners have one dependent; a list for each would use most of the memory. */
function dependentsIn(objects: readonly OwnedObject[]) {
  const dependents = new Map<string, OwnedObject | OwnedObject[]>()
  for (const object of objects)
    for (const uid of new Set(object.ownerReferences.map(reference => reference.uid))) {
      const known = dependents.get(uid)
      if (known === undefined) dependents.set(uid, object)
      else if (Array.isArray(known)) known.push(object)
      else dependents.set(uid, [known, object])
    }
  return dependents
}

const kindKey = ({ apiVersion, kind }: { apiVersion: string; kind: string }) =>
  `${apiVersion} ${kind}`
const nameKey = (namespace: string, name: string) => `${namespace}/${name}`

function kindsOf(listed: readonly { kind: ListedKind; objects: readonly OwnedObject[] }[]) {
  const kinds = new Map<string, KnownKind>()
  for (const { kind, objects } of listed) {
    const byName =
      kind.isPartial === true
        ? null
        : new Map(objects.map(object => [nameKey(object.namespace, object.name), object]))
    kinds.set(kindKey(kind), { isNamespaced: kind.isNamespaced, byName })
  }
  return kinds
}

function classOf(
  object: OwnedObject,
  reference: OwnerReference,
  kinds: ReadonlyMap<string, KnownKind>,
  byUid: ReadonlyMap<string, OwnedObject>,
): ReferenceClass {
  const kind = kinds.get(kindKey(reference))
  if (!kind) return 'unknown'
  if (object.namespace === '' && kind.isNamespaced) return 'namespaced-owner'
  if (!kind.byName) return 'unknown'
  const owner = kind.byName.get(nameKey(kind.isNamespaced ? object.namespace : '', reference.name))
  if (owner?.uid === reference.uid) return isWaitingForDependents(owner) ? 'waiting' : 'solid'
  if (isElsewhere(byUid.get(reference.uid), object)) return 'other-namespace'
  return owner ? 'other-uid' : 'absent'
}

const isElsewhere = (owner: OwnedObject | undefined, { namespace }: OwnedObject) =>
  owner !== undefined && owner.namespace !== '' && owner.namespace !== namespace

/** Whether the object is in foreground deletion. Upstream: deletingDependents. */
export const isWaitingForDependents = ({ deletedMs, finalizers }: ObjectMetadata): boolean =>
  deletedMs !== null && finalizers.includes('foregroundDeletion')

/*
 * The garbage collector: its action for each object that has owners, or that is being deleted with its dependents.
 *
 * Replays       pkg/controller/garbagecollector/garbagecollector.go  attemptToDeleteItem, processDeletingDependentsItem, attemptToOrphanWorker
 *               pkg/controller/garbagecollector/graph_builder.go     processTransitions
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  one solid owner keeps an object; an owner that waits for its dependents, or is in another namespace, is not solid;
 *               an object that is being deleted is left to its finalizers; orphaning comes before waiting
 * Left out      the order: twenty workers take objects from a queue; failed deletions; preconditions; propagation;
 *               owners of kinds that no API serves, which upstream retries for ever: here they are unknown
 */

/** `orphan-dependents`, `remove-finalizer`, `wait-for-dependents`: only for objects with a deletionTimestamp. */
type OwnerAction =
  | 'keep'
  | 'remove-references'
  | 'delete'
  | 'orphan-dependents'
  | 'remove-finalizer'
  | 'wait-for-dependents'

export interface CollectedObject {
  object: OwnedObject
  references: ClassifiedReference[]
  action: OwnerAction
  /** `possible`: kinds that were not listed decide. The object might also be kept, or lose references. */
  certainty: Certainty
  /** Objects that this object waits for, or that it releases. */
  dependents: OwnedObject[]
}

/** Yields objects that have owners, or whose deletion the collector finishes. One by one, because there are many. */
export function* collectGarbage(listed: readonly ListedKind[]): Generator<CollectedObject> {
  const graph = ownerGraph(listed)
  for (const object of graph.objects) {
    const collected = attemptToDelete(object, graph)
    if (collected) yield collected
  }
}

function attemptToDelete(object: OwnedObject, graph: OwnerGraph): CollectedObject | null {
  const references = graph.classify(object)
  const nothing = {
    object,
    references,
    action: 'keep' as const,
    certainty: 'certain' as const,
    dependents: [],
  }
  const finish = object.deletedMs === null ? null : finishDeletion(object, graph)
  if (finish) return { ...nothing, ...finish }
  if (references.length === 0) return null
  if (object.deletedMs !== null) return nothing

  const has = (wanted: ClassifiedReference['is']) => references.some(({ is }) => is === wanted)
  if (has('namespaced-owner') || references.every(({ is }) => is === 'solid')) return nothing
  const certainty = has('unknown') ? 'possible' : 'certain'
  return { ...nothing, action: has('solid') ? 'remove-references' : 'delete', certainty }
}

/** Null if the object has no finalizer of the collector. */
function finishDeletion(
  object: OwnedObject,
  graph: OwnerGraph,
): Pick<CollectedObject, 'action' | 'certainty' | 'dependents'> | null {
  const dependents = [...graph.dependentsOf(object.uid)]
  if (object.finalizers.includes('orphan'))
    return { action: 'orphan-dependents', certainty: 'certain', dependents }
  if (!isWaitingForDependents(object)) return null
  const blocking = dependents.filter(({ ownerReferences }) =>
    ownerReferences.some(isBlocking(object)),
  )
  if (blocking.length > 0)
    return { action: 'wait-for-dependents', certainty: 'certain', dependents: blocking }
  return { action: 'remove-finalizer', certainty: 'possible', dependents: [] }
}

const isBlocking =
  ({ uid }: OwnedObject) =>
  (reference: { uid: string; blocksOwnerDeletion: boolean }) =>
    reference.blocksOwnerDeletion && reference.uid === uid
