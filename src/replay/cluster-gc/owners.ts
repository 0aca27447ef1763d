/**
 * The garbage collector: what it would do with each object that has owners, or that is being deleted with its dependents.
 *
 * Replays       pkg/controller/garbagecollector/garbagecollector.go  attemptToDeleteItem, processDeletingDependentsItem, attemptToOrphanWorker
 *               pkg/controller/garbagecollector/graph_builder.go     processTransitions
 * Read at       1.24 to 1.37; alike in all
 * Kept exactly  one solid owner keeps an object; an owner that waits for its dependents is no solid one, nor is one in another namespace;
 *               an object that is being deleted is left to its finalizers; orphaning goes before waiting
 * Left out      in which order: twenty workers take objects from a queue; deletions that fail; preconditions
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { Certainty } from '#model/prediction.ts'
import {
  type ClassifiedReference,
  isWaitingForDependents,
  type OwnedObject,
  type OwnerGraph,
  type OwnerGraphInput,
  ownerGraph,
} from './owner-graph.ts'

/**
 * `remove-references`: of those owners that are not solid; `retry`: again and again, for the kind of an owner is not served; `orphan-dependents`,
 * `remove-finalizer`, `wait-for-dependents`: of an object that is being deleted.
 */
export type OwnerAction =
  | 'keep'
  | 'remove-references'
  | 'delete'
  | 'retry'
  | 'orphan-dependents'
  | 'remove-finalizer'
  | 'wait-for-dependents'

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

export interface CollectedObject {
  object: OwnedObject
  references: ClassifiedReference[]
  action: OwnerAction
  /** `possible`: kinds that were not listed decide it; what else may happen is that the object is kept, or loses references. */
  certainty: Certainty
  /** How it would be deleted; of what is not listed it may depend which. Empty where it is not deleted. */
  propagation: Propagation[]
  /** A cycle of owners that wait for each other is broken here: the references stop blocking. */
  unblocksOwners: boolean
  /** What the object waits for, or what it lets go. */
  dependents: OwnedObject[]
  event: string | null
}

/** Only objects that have owners, or with whose deletion the collector has to do; one after the other, for all of them are many. */
export function* collectGarbage(
  input: OwnerGraphInput,
  features: KubeletFeatures,
): Generator<CollectedObject> {
  const graph = ownerGraph(input, features)
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
    propagation: [],
    unblocksOwners: false,
    dependents: [],
    event: graph.invalidNamespaceEvent(object),
  }
  const finish = object.deletedMs === null ? null : finishDeletion(object, graph)
  if (finish) return { ...nothing, ...finish }
  if (references.length === 0) return null
  if (object.deletedMs !== null) return nothing

  const failing = references.find(({ is }) => is === 'unserved' || is === 'namespaced-owner')
  if (failing) return { ...nothing, action: failing.is === 'unserved' ? 'retry' : 'keep' }

  const has = (wanted: ClassifiedReference['is']) => references.some(({ is }) => is === wanted)
  const isAllSolid = references.every(({ is }) => is === 'solid')
  if (isAllSolid) return nothing
  const certainty = has('unknown') ? 'possible' : 'certain'
  if (has('solid')) return { ...nothing, action: 'remove-references', certainty }
  return {
    ...nothing,
    action: 'delete',
    certainty,
    ...howToDelete(object, has('waiting'), certainty, graph),
  }
}

/** An unknown owner may be one that waits. */
function howToDelete(
  object: OwnedObject,
  hasWaitingOwner: boolean,
  certainty: Certainty,
  graph: OwnerGraph,
) {
  const dependents = graph.dependentsOf(object.uid)
  const mayWait = hasWaitingOwner || certainty === 'possible'
  const mayBeForeground = mayWait && (dependents.length > 0 || !graph.isComplete)
  const isForeground = hasWaitingOwner && dependents.length > 0
  const propagation = new Set<Propagation>(isForeground ? [] : [ownPropagation(object)])
  if (mayBeForeground) propagation.add('Foreground')
  return {
    propagation: [...propagation],
    unblocksOwners: isForeground && dependents.some(isWaitingForDependents),
  }
}

function ownPropagation({ finalizers }: OwnedObject): Propagation {
  if (finalizers.includes('orphan')) return 'Orphan'
  return finalizers.includes('foregroundDeletion') ? 'Foreground' : 'Background'
}

/** Null where the collector has no finalizer on it. */
function finishDeletion(
  object: OwnedObject,
  graph: OwnerGraph,
): Pick<CollectedObject, 'action' | 'certainty' | 'dependents'> | null {
  const dependents = [...graph.dependentsOf(object.uid)]
  const certainty = graph.isComplete ? 'certain' : 'possible'
  if (object.finalizers.includes('orphan'))
    return { action: 'orphan-dependents', certainty: 'certain', dependents }
  if (!isWaitingForDependents(object)) return null
  const blocking = dependents.filter(({ ownerReferences }) =>
    ownerReferences.some(isBlocking(object)),
  )
  if (blocking.length > 0)
    return { action: 'wait-for-dependents', certainty: 'certain', dependents: blocking }
  return { action: 'remove-finalizer', certainty, dependents: [] }
}

const isBlocking =
  ({ uid }: OwnedObject) =>
  (reference: { uid: string; blocksOwnerDeletion: boolean }) =>
    reference.blocksOwnerDeletion && reference.uid === uid
