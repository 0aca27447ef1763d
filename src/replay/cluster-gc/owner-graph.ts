/**
 * The garbage collector: which objects it would delete, and which wait for their dependents.
 *
 * Replays       pkg/controller/garbagecollector/garbagecollector.go  isDangling, classifyReferences, attemptToDeleteItem,
 *                                                                    processDeletingDependentsItem
 *               pkg/controller/garbagecollector/graph_builder.go     addDependentToOwners
 *               pkg/controller/garbagecollector/operations.go        apiResource
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  an owner is looked up by kind and name in the dependent's own namespace, and then its UID is compared; dependents are found by UID
 *               alone; the first reference that cannot be looked up ends the check of its object
 * Left out      references to absent owners that it removes, dependents that it orphans; the cache of absent owners; informers that lag; other versions of a listed kind; kinds that no API serves
 */

import type { ClusterObject } from '#model/input/record.ts'
import { type ObjectMetadata, type OwnerReference, parseMetadata } from './section.ts'

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

/** An object that the collector would certainly delete, because none of its owners exists. */
export interface DanglingObject {
  object: OwnedObject
  /** Its owner references; never empty. */
  references: readonly OwnerReference[]
  /** Whether another object has the name of the first owner now. */
  isReplaced: boolean
}

/** An object in foreground deletion, and the dependents that it waits for. None: an unlisted dependent blocks it, or the collector fails to act. */
export interface BlockedObject {
  object: OwnedObject
  /** When its deletion began. */
  sinceMs: number
  dependents: readonly OwnedObject[]
}

interface KnownKind {
  isNamespaced: boolean
  /** Null: the objects were not listed. */
  byName: Map<string, OwnedObject> | null
}

export function collectGarbage(listed: readonly ListedKind[]): {
  dangling: DanglingObject[]
  blocked: BlockedObject[]
} {
  const parsed = listed.map(kind => ({ kind, objects: objectsOf(kind) }))
  const objects = parsed.flatMap(({ objects }) => objects)
  const byUid = new Map(objects.map(object => [object.uid, object]))
  const kinds = kindsOf(parsed)
  const dependents = dependentsIn(objects)
  const dangling: DanglingObject[] = []
  for (const object of objects) {
    const { ownerReferences: references } = object
    if (references.length === 0 || object.deletedMs !== null) continue
    const lost = references.map(reference => lostOwner(object, reference, kinds, byUid))
    if (!lost.includes(null))
      dangling.push({ object, references, isReplaced: lost[0] === 'replaced' })
  }
  const blocked = objects.flatMap(object => {
    const { uid, deletedMs: sinceMs, finalizers } = object
    if (sinceMs === null || !isWaitingForDependents(object) || finalizers.includes('orphan'))
      return []
    const known = [dependents.get(uid) ?? []].flat()
    return [{ object, sinceMs, dependents: known.filter(each => blocks(each, uid)) }]
  })
  return { dangling, blocked }
}

const blocks = ({ ownerReferences }: OwnedObject, uid: string) =>
  ownerReferences.some(reference => reference.blocksOwnerDeletion && reference.uid === uid)

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
      if (!known) dependents.set(uid, object)
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

/** `replaced`: another object has the owner's name now. Null: the owner exists, or might exist, or keeps the object in another way. */
function lostOwner(
  object: OwnedObject,
  reference: OwnerReference,
  kinds: ReadonlyMap<string, KnownKind>,
  byUid: ReadonlyMap<string, OwnedObject>,
): 'absent' | 'replaced' | null {
  const kind = kinds.get(kindKey(reference))
  // A cluster-scoped object cannot have a namespaced owner.
  if (!kind?.byName || (object.namespace === '' && kind.isNamespaced)) return null
  const owner = kind.byName.get(nameKey(kind.isNamespaced ? object.namespace : '', reference.name))
  if (owner?.uid === reference.uid || isElsewhere(byUid.get(reference.uid), object)) return null
  return owner ? 'replaced' : 'absent'
}

const isElsewhere = (owner: OwnedObject | undefined, { namespace }: OwnedObject) =>
  owner !== undefined && owner.namespace !== '' && owner.namespace !== namespace

/** Whether the object is in foreground deletion. Upstream: deletingDependents. */
export const isWaitingForDependents = ({ deletedMs, finalizers }: ObjectMetadata): boolean =>
  deletedMs !== null && finalizers.includes('foregroundDeletion')
