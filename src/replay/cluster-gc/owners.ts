/**
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
import type { Certainty } from '#model/prediction/prediction.ts'
import {
  type ClassifiedReference,
  isWaitingForDependents,
  type ListedKind,
  type OwnedObject,
  type OwnerGraph,
  ownerGraph,
} from './owner-graph.ts'

/** `orphan-dependents`, `remove-finalizer`, `wait-for-dependents`: only for objects with a deletionTimestamp. */
export type OwnerAction =
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
