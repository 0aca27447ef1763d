/**
 * Who owns what, of all that was listed. Objects that are alike (one kind, one namespace, the same owners) stand for each other, because the garbage
 * collector treats them alike. Pods come before their owners are listed, so an owner that went meanwhile would look as if it had been gone for long:
 * of pods only those count that are going themselves, and hold their owners.
 */
import { discoveryResource } from '#facts/kubernetes/discovery.ts'
import { garbageResource, garbageResources, podResource } from '#facts/kubernetes/garbage-resources.ts'
import type { OwnedGroup, OwnerGarbage } from '#model/cluster-garbage.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { controllerOf, type ObjectMetadata, parseMetadata } from '#replay/cluster-gc/metadata.ts'
import { madeBy } from '#replay/cluster-gc/orphans.ts'
import type { ClassifiedReference, ListedKind, OwnedObject } from '#replay/cluster-gc/owner-graph.ts'
import { type CollectedObject, collectGarbage } from '#replay/cluster-gc/owners.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { slimMetadata } from '#replay/cluster-gc/slim.ts'
import { listAt, objectAt } from '#replay/untrusted.ts'

/** Of leases their own section knows more. */
const notAsked: ReadonlySet<string> = new Set(['leases.coordination.k8s.io'])
/** What they own is pods at most, and they are too many to be kept by name: whether one of them is there is not known, but of those that go. */
const onlyDependents: ReadonlySet<string> = new Set([
  'pods',
  'jobs.batch',
  'replicasets.apps',
  'controllerrevisions.apps',
  'certificatesigningrequests.certificates.k8s.io',
  'configmaps',
  'secrets',
])

const asked = [podResource, ...garbageResources].map(({ resource }) => resource).filter(resource => !notAsked.has(resource))

export const owners: Section<'owners'> = {
  resources: [],
  also: [...asked, discoveryResource],
  open: () => new Owners(),
}

const namesKept = 5

interface Group extends OwnedGroup {
  resource: string
  names: string[]
  /** One of them, for all. */
  item: RawObject
}

class Owners implements OpenSection<OwnerGarbage> {
  readonly #groups = new Map<string, Group>()
  /** By resource, all that may own something, and all that go. */
  readonly #items = new Map<string, RawObject[]>()
  readonly #orphaned: OwnerGarbage['orphaned'][number][] = []

  take(resource: string, object: RawObject): void {
    if (resource === discoveryResource) return
    const metadata = objectAt(object, 'metadata')
    const references = listAt(metadata, 'ownerReferences')
    // One that goes stands for itself.
    if (metadata?.deletionTimestamp !== undefined) {
      this.#takeItem(resource, object, keptOfGoing)
      return
    }
    if (!onlyDependents.has(resource)) this.#takeItem(resource, object, [])
    if (references.length === 0 || references.every(isNode)) this.#takeOrphan(resource, object)
    else if (resource !== 'pods') this.#takeDependent(resource, object)
  }

  #takeItem(resource: string, object: RawObject, fields: readonly string[]): void {
    const items = this.#items.get(resource) ?? []
    items.push({ metadata: slimMetadata(object, fields) })
    this.#items.set(resource, items)
  }

  #takeDependent(resource: string, object: RawObject): void {
    const metadata = parseMetadata(object)
    if (!metadata || metadata.uid === '') return
    const { namespace, name, createdMs } = metadata
    const key = `${resource} ${namespace} ${metadata.ownerReferences.map(({ uid }) => uid).join()}`
    const known = this.#groups.get(key)
    if (known) {
      known.count++
      if (known.names.length < namesKept) known.names.push(name)
      if (createdMs !== null && (known.createdMs === null || createdMs < known.createdMs)) known.createdMs = createdMs
      return
    }
    const kind = garbageResource(resource)?.objectKind ?? resource
    const item = { metadata: slimMetadata(object, kept) }
    this.#groups.set(key, { resource, kind, namespace, count: 1, names: [name], createdMs, item })
  }

  #takeOrphan(resource: string, object: RawObject): void {
    const controllerKind = madeBy(resource, object)
    const metadata = controllerKind === null ? null : parseMetadata(object)
    if (controllerKind === null || !metadata || controllerOf(metadata)) return
    const replicas = objectAt(object, 'spec')?.replicas
    this.#orphaned.push({
      ...{ kind: garbageResource(resource)?.objectKind ?? resource, namespace: metadata.namespace, name: metadata.name },
      ...{ controllerKind, createdMs: metadata.createdMs, replicas: typeof replicas === 'number' ? replicas : null },
    })
  }

  tell({ nodes, apis, features, isWhole }: SectionContext): OwnerGarbage {
    const byUid = new Map([...this.#groups.values()].map(group => [uidOf(group.item), group]))
    const dependents = Map.groupBy(byUid.values(), ({ resource }) => resource)
    // Whole kinds come last: of a kind that stands twice it counts what all of them are.
    const listed = [
      ...[...dependents].flatMap(([resource, groups]) =>
        listedKind(
          resource,
          groups.map(({ item }) => item),
          false,
        ),
      ),
      ...asked.flatMap(resource =>
        listedKind(resource, this.#items.get(resource) ?? [], isWhole(resource) && !onlyDependents.has(resource)),
      ),
      ...(nodes === null ? [] : [{ apiVersion: 'v1', kind: 'Node', isNamespaced: false, items: nodes }]),
    ]
    const collected = collectGarbage({ listed, served: apis?.served ?? null, unanswered: apis?.unanswered }, features)
    const groupOf = (object: OwnedObject): OwnedGroup => strip(byUid.get(object.uid)) ?? alone(object)
    return {
      dangling: collected.flatMap(each => dangling(each, groupOf(each.object)) ?? []),
      unserved: collected.flatMap(each => unserved(each, groupOf(each.object)) ?? []),
      misplaced: collected.flatMap(each => misplaced(each, groupOf(each.object)) ?? []),
      blocked: collected.flatMap(each => blocked(each, groupOf) ?? []),
      orphaned: this.#orphaned,
    }
  }
}

const kept = ['creationTimestamp', 'ownerReferences']
const keptOfGoing = [...kept, 'deletionTimestamp', 'finalizers']
/** Static pods and leases: the kubelet's own business. */
const isNode = (reference: unknown): boolean => isRawObject(reference) && reference.kind === 'Node'
const uidOf = (item: RawObject): string => String(objectAt(item, 'metadata')?.uid)

function listedKind(resource: string, items: readonly unknown[], isWhole: boolean): ListedKind[] {
  const known = garbageResource(resource)
  if (known === null || (items.length === 0 && !isWhole)) return []
  return [{ apiVersion: known.apiVersion, kind: known.objectKind, isNamespaced: known.isNamespaced, items, isPartial: !isWhole }]
}

const strip = (group: Group | undefined): OwnedGroup | null =>
  group
    ? { kind: group.kind, namespace: group.namespace, count: group.count, names: group.names.toSorted(), createdMs: group.createdMs }
    : null

const alone = ({ kind, namespace, name, createdMs }: ObjectMetadata & { kind: string }): OwnedGroup => ({
  ...{ kind, namespace, count: 1, names: [name], createdMs },
})

const ownerOf = ({ reference: { kind, name } }: ClassifiedReference): string => `${kind} ${name}`

/** What the collector would delete for certain, because nobody of those that it names is there. */
function dangling({ object, references, action, certainty }: CollectedObject, group: OwnedGroup): OwnerGarbage['dangling'][number] | null {
  const [first] = references
  if (!first || action !== 'delete' || certainty !== 'certain' || object.deletedMs !== null) return null
  if (!references.every(({ is }) => is === 'absent' || is === 'other-uid')) return null
  return { ...group, owner: ownerOf(first), isReplaced: first.is === 'other-uid' }
}

/** One that cannot be looked up is enough: of the others nobody asks any more. */
function unserved({ object, references, action }: CollectedObject, group: OwnedGroup): OwnerGarbage['unserved'][number] | null {
  const found = references.find(({ is }) => is === 'unserved')
  if (!found || action !== 'retry' || object.deletedMs !== null) return null
  return { ...group, owner: ownerOf(found), apiVersion: found.reference.apiVersion }
}

function misplaced({ references }: CollectedObject, group: OwnedGroup): OwnerGarbage['misplaced'][number] | null {
  for (const reference of references) {
    const { is } = reference
    if (is === 'other-namespace' || is === 'namespaced-owner') return { ...group, owner: ownerOf(reference), is }
  }
  return null
}

/** Where none of its dependents is known, what was not listed may hold it. */
function blocked(
  { object, action, dependents }: CollectedObject,
  groupOf: (object: OwnedObject) => OwnedGroup,
): OwnerGarbage['blocked'][number] | null {
  const isWaiting = action === 'wait-for-dependents' || action === 'remove-finalizer'
  if (!isWaiting || object.deletedMs === null) return null
  const { kind, namespace, name, deletedMs: sinceMs } = object
  return { kind, namespace, name, sinceMs, dependents: dependents.map(groupOf) }
}
