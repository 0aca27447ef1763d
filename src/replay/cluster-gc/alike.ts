/** Groups objects of one kind and namespace with the same owner references. The garbage collector treats them alike, so one represents all. */
import { garbageResource } from '#facts/kubernetes/garbage-resources.ts'
import type { OwnedGroup } from '#model/finding/cluster-garbage.ts'
import type { ObjectMetadata, OwnerReference } from './metadata.ts'
import type { OwnedObject } from './owner-graph.ts'
import type { SharedTexts } from './slim.ts'

const namesKept = 5

export interface Group extends OwnedObject {
  resource: string
  count: number
  names: string[]
  createdMs: number | null
}

/** Groups in the order of their first objects. */
export function groupsIn(
  objects: Iterable<ObjectMetadata>,
  resource: string,
  shared: SharedTexts,
): Group[] {
  const groups: Group[] = []
  /** By namespace, then by the owners' UIDs. Nearly always one group: all objects have the same references to these owners. */
  const places = new Map<string, Map<string, Group | Group[]>>()
  for (const metadata of objects) {
    const { namespace, name, createdMs, ownerReferences } = metadata
    const place = places.get(namespace) ?? new Map<string, Group | Group[]>()
    places.set(namespace, place)
    const owners =
      ownerReferences.length === 1
        ? (ownerReferences[0]?.uid ?? '')
        : ownerReferences.map(({ uid }) => uid).join()
    const ofOwners = place.get(owners)
    const known =
      ofOwners && [ofOwners].flat().find(group => areAlike(group.ownerReferences, ownerReferences))
    if (!known) {
      const group = {
        ...ownedObject(resource, metadata, shared),
        resource,
        count: 1,
        names: [name],
      }
      place.set(owners, ofOwners ? [ofOwners, group].flat() : group)
      groups.push(group)
      continue
    }
    known.count++
    if (known.names.length < namesKept) known.names.push(name)
    if (createdMs !== null && (known.createdMs === null || createdMs < known.createdMs))
      known.createdMs = createdMs
  }
  return groups
}

/** All fields of a reference count, not only its UID: the collector looks owners up by kind and name. */
const areAlike = (some: readonly OwnerReference[], others: readonly OwnerReference[]) =>
  some.length === others.length &&
  some.every(({ apiVersion, kind, name, uid, blocksOwnerDeletion }, index) => {
    const other = others[index]
    const isSameObject =
      other?.uid === uid &&
      other.name === name &&
      other.kind === kind &&
      other.apiVersion === apiVersion
    return isSameObject && other.blocksOwnerDeletion === blocksOwnerDeletion
  })

export function ownedObject(
  resource: string,
  metadata: ObjectMetadata,
  shared: SharedTexts,
): OwnedObject {
  const known = garbageResource(resource)
  return {
    apiVersion: known?.apiVersion ?? '',
    kind: known?.objectKind ?? resource,
    namespace: shared.text(metadata.namespace),
    name: metadata.name,
    uid: metadata.uid,
    createdMs: metadata.createdMs,
    deletedMs: metadata.deletedMs,
    generation: metadata.generation,
    finalizers: shared.list(metadata.finalizers),
    ownerReferences: metadata.ownerReferences.map(({ apiVersion, kind, ...of }) => ({
      apiVersion: shared.text(apiVersion),
      kind: shared.text(kind),
      ...of,
    })),
  }
}

export const strip = (group: Group | undefined): OwnedGroup | null =>
  group ? { ...alone(group), count: group.count, names: group.names.toSorted() } : null

export function alone(object: ObjectMetadata & { kind: string }): OwnedGroup {
  const { kind, namespace, name, createdMs } = object
  return { kind, namespace, count: 1, names: [name], createdMs }
}
