/**
 * Owners of all listed objects. Objects of one kind and namespace with the same owners share a group, because the garbage collector
 * treats them alike. Pods are listed before their owners, so an owner deleted in between would look long deleted. So pods
 * only show which owners they hold, and which objects they own.
 */

import type { Keep } from '#base/keep.ts'
import { sharedValue } from '#base/once.ts'
import {
  garbageResource,
  garbageResources,
  podResource,
} from '#facts/kubernetes/garbage-resources.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import type { OwnedGroup, OwnerGarbage } from '#model/cluster-garbage.ts'
import {
  type ClusterObject,
  isObjectOf,
  type KubernetesPod,
  type ObjectReference,
} from '#model/input/record.ts'
import {
  collectGarbage,
  type DanglingObject,
  isWaitingForDependents,
  type ListedKind,
  type OwnedObject,
} from '#replay/cluster-gc/owner-graph.ts'
import {
  controllerOf,
  type ObjectMetadata,
  type OpenSection,
  type OwnerReference,
  Packed,
  parseMetadata,
  type Section,
  type SectionContext,
} from '#replay/cluster-gc/section.ts'

/** Pods that are not Terminating, as the garbage collector sees them: identities, and owners they hold. They are many, so few fields are kept. */
type PodRow = [namespace: string, name: string, uid: string, ...held: string[]]

class HoldingPods extends Packed<PodRow> {
  /** @param metadata null: it cannot be read */
  take(metadata: ObjectMetadata | null) {
    if (!metadata) return
    const held = metadata.ownerReferences
      .filter(({ blocksOwnerDeletion }) => blocksOwnerDeletion)
      .map(({ uid }) => uid)
    this.push([metadata.namespace, metadata.name, metadata.uid, ...held])
  }

  *all(): Generator<ObjectMetadata> {
    for (const [namespace, name, uid] of this)
      yield { namespace, name, uid, generation: 0, ...bare }
  }

  /** Pods that hold one of these owners. Their references contain only UIDs. @param owners UIDs */
  *podsHolding(owners: ReadonlySet<string>): Generator<ObjectMetadata> {
    if (owners.size === 0) return
    for (const [namespace, name, uid, ...held] of this)
      if (held.some(each => owners.has(each)))
        yield { namespace, name, uid, generation: 0, ...bare, ownerReferences: held.map(reference) }
  }
}

const reference = (uid: string) => ({
  apiVersion: '',
  kind: '',
  name: '',
  uid,
  isController: false,
  blocksOwnerDeletion: true,
})

/** Leases have their own section. */
const withoutOwners: ReadonlySet<string> = new Set(['leases.coordination.k8s.io'])
/** Kinds with many objects, few of which own more than pods. Only owners that a reference names are looked up. */
const crowds: ReadonlySet<string> = new Set([
  'pods',
  'jobs.batch',
  'replicasets.apps',
  'controllerrevisions.apps',
  'certificatesigningrequests.certificates.k8s.io',
  'configmaps',
  'secrets',
])

const crowdKinds: ReadonlySet<string> = new Set(
  [...crowds].flatMap(resource => garbageResource(resource)?.objectKind ?? []),
)

const scanned = [podResource, ...garbageResources]
  .map(({ resource }) => resource)
  .filter(resource => !withoutOwners.has(resource))

export const owners: Section<'owners'> = {
  resources: [],
  also: scanned,
  open: keep => new Owners(keep),
}

class Owners implements OpenSection<OwnerGarbage> {
  /** By resource: objects with owners that are not Terminating, without pods. */
  readonly #dependents = new Map<string, Packed<ObjectMetadata>>()
  readonly #pods: HoldingPods
  /** By resource, objects of the other crowds without owner and without deletionTimestamp. */
  readonly #crowds = new Map<string, Packed<ObjectMetadata>>()
  /** By resource, other possible owners, and all Terminating objects. */
  readonly #items = new Map<string, Packed<ObjectMetadata>>()
  readonly #orphaned: OwnerGarbage['orphaned'][number][] = []
  readonly #keep: Keep

  constructor(keep: Keep) {
    this.#keep = keep
    this.#pods = new HoldingPods(keep)
  }

  take(resource: string, object: ClusterObject) {
    const parsed = parseMetadata(object)
    const metadata = parsed && parsed.uid !== '' ? parsed : null
    // A Terminating object is not grouped.
    if (object.metadata?.deletionTimestamp !== undefined) {
      this.#hold(this.#items, resource, metadata)
      return
    }
    // Possible owners are only looked up.
    if (!crowds.has(resource))
      this.#hold(this.#items, resource, metadata && { ...metadata, ...bare })
    const references = object.metadata?.ownerReferences ?? []
    const isOwned = references.length > 0 && !references.every(isNode)
    if (!isOwned) this.#takeOrphan(resource, object)
    if (resource === podResource.resource) this.#pods.take(metadata)
    else if (isOwned && metadata)
      this.#hold(this.#dependents, resource, { ...metadata, deletedMs: null, finalizers: [] })
    else if (crowds.has(resource))
      this.#hold(this.#crowds, resource, metadata && { ...metadata, ...bare })
  }

  /** Also creates the empty list: an object without readable metadata still shows that the resource was listed. */
  #hold(
    rows: Map<string, Packed<ObjectMetadata>>,
    resource: string,
    metadata: ObjectMetadata | null,
  ) {
    const ofResource = rows.get(resource) ?? new Packed<ObjectMetadata>(this.#keep)
    rows.set(resource, ofResource)
    if (metadata) ofResource.push(metadata)
  }

  /** Pods that are not Terminating and whose owners wait for them. */
  *#podsInTheWay(): Generator<ObjectMetadata> {
    const waiting = new Set<string>()
    for (const packed of this.#items.values())
      for (const each of packed) if (isWaitingForDependents(each)) waiting.add(each.uid)
    yield* this.#pods.podsHolding(waiting)
  }

  /** Terminating objects and possible owners; absent: none was seen. */
  #ownersIn(resource: string, named: NamedOwners): OwnedObject[] | undefined {
    const kind = garbageResource(resource)?.objectKind ?? resource
    const rows: Iterable<ObjectMetadata>[] = [this.#items.get(resource) ?? []]
    const crowd = resource === podResource.resource ? this.#pods.all() : this.#crowds.get(resource)
    for (const each of [crowd, this.#dependents.get(resource)])
      if (each) rows.push(named.namedOwners(each, kind))
    const objects = rows.flatMap(each =>
      Array.from(each, metadata => ownedObject(resource, metadata)),
    )
    return objects.length > 0 || this.#items.has(resource) ? objects : undefined
  }

  #takeOrphan(resource: string, object: ClusterObject) {
    const controllerKind = creatorKind(resource, object)
    const metadata = controllerKind === null ? null : parseMetadata(object)
    if (controllerKind === null || !metadata || controllerOf(metadata)) return
    this.#orphaned.push({
      kind: garbageResource(resource)?.objectKind ?? resource,
      namespace: metadata.namespace,
      name: metadata.name,
      controllerKind,
      createdMs: metadata.createdMs,
      replicas: replicasOf(resource, object),
    })
  }

  close({ nodes, isWhole, arePodsKnown }: SectionContext): OwnerGarbage {
    const isKnown = (resource: string) =>
      isWhole(resource) && (resource !== podResource.resource || arePodsKnown)
    const byUid = new Map<string, Group>()
    for (const [resource, packed] of this.#dependents)
      for (const group of groupsIn(packed, resource)) byUid.set(group.uid, group)
    const named = new NamedOwners(byUid.values(), crowdKinds)
    for (const group of groupsIn(this.#podsInTheWay(), podResource.resource))
      byUid.set(group.uid, group)
    const dependents = Map.groupBy(byUid.values(), ({ resource }) => resource)
    // Whole kinds come last: if a kind is listed twice, the later entry decides.
    const listed = [
      ...[...dependents].flatMap(([resource, groups]) => listedKind(resource, groups, false)),
      ...scanned.flatMap(resource =>
        listedKind(resource, this.#ownersIn(resource, named), isKnown(resource)),
      ),
      ...(nodes ? [{ apiVersion: 'v1', kind: 'Node', isNamespaced: false, items: nodes }] : []),
    ]
    const groupOf = (object: OwnedObject) => strip(byUid.get(object.uid)) ?? groupOfOne(object)
    const { dangling, blocked } = collectGarbage(listed)
    return {
      dangling: dangling
        .filter(({ object }) => !isPod(object))
        .map(each => ({ ...groupOf(each.object), ...danglingFate(each) })),
      blocked: blocked.map(({ object, sinceMs, dependents }) => ({
        kind: object.kind,
        namespace: object.namespace,
        name: object.name,
        sinceMs,
        dependents: dependents.map(groupOf),
      })),
      orphaned: this.#orphaned,
    }
  }
}

/** Pod GC has rules of its own for pods. A pod in foreground deletion counts as an owner. */
const isPod = ({ apiVersion, kind }: OwnedObject) =>
  apiVersion === podResource.apiVersion && kind === podResource.objectKind

/** Null if the kind has no replicas. */
function replicasOf(resource: string, object: ClusterObject) {
  if (isObjectOf('pods', resource, object)) return Number(!hasFinished(object))
  return isObjectOf('replicasets.apps', resource, object) ? (object.spec?.replicas ?? null) : null
}

const hasFinished = ({ status }: KubernetesPod) => isTerminalPhase(status?.phase ?? null)

/** Owner of static pods and leases; the kubelet maintains those references. */
const isNode = ({ kind }: ObjectReference) => kind === 'Node'

/** @param objects undefined: no object was seen */
function listedKind(
  resource: string,
  objects: readonly OwnedObject[] | undefined,
  isWhole: boolean,
): ListedKind[] {
  const known = garbageResource(resource)
  if (!known || (!objects && !isWhole)) return []
  const { apiVersion, objectKind: kind, isNamespaced } = known
  return [{ apiVersion, kind, isNamespaced, objects: objects ?? [], isPartial: !isWhole }]
}

function danglingFate({ references: [first, ...more], isReplaced }: DanglingObject) {
  const isOfPod = [first, ...more].some(owner => owner?.kind === podResource.objectKind)
  const confidence = isOfPod ? ('likely' as const) : ('certain' as const)
  return { owner: `${first?.kind} ${first?.name}`, isReplaced, confidence }
}

/**
 * Objects whose labels or annotations show the kind of their controller. One without an owner was orphaned, by `--cascade=orphan` or by hand:
 * a controller with a matching selector would have adopted it again.
 *
 * Follows       pkg/controller/deployment/util/deployment_util.go  RevisionAnnotation, DefaultDeploymentUniqueLabelKey
 *               pkg/controller/daemon/util/daemonset_util.go       CreatePodTemplate
 *               pkg/apis/apps, pkg/apis/batch                      labels and annotations that controllers put on what they make
 *               pkg/controller/controller_ref_manager.go           ClaimObject: adoption
 * Left out      whether a selector fits
 */
type OrphanMark = [where: 'annotations' | 'labels', key: string, controllerKind: string]

const marks: Readonly<Record<string, readonly OrphanMark[]>> = {
  'replicasets.apps': [['annotations', 'deployment.kubernetes.io/revision', 'Deployment']],
  'jobs.batch': [['annotations', 'batch.kubernetes.io/cronjob-scheduled-timestamp', 'CronJob']],
  pods: [
    ['labels', 'pod-template-hash', 'ReplicaSet'],
    ['labels', 'batch.kubernetes.io/controller-uid', 'Job'],
    ['labels', 'apps.kubernetes.io/pod-index', 'StatefulSet'],
    ['labels', 'statefulset.kubernetes.io/pod-name', 'StatefulSet'],
    // `controller-revision-hash` alone does not distinguish the two.
    ['labels', 'pod-template-generation', 'DaemonSet'],
  ],
}

/** The kind of the controller; null: nothing shows that there was one. @param resource `plural` or `plural.group` */
function creatorKind(resource: string, object: ClusterObject) {
  // Only StatefulSets and DaemonSets create ControllerRevisions.
  if (resource === 'controllerrevisions.apps') return 'StatefulSet or DaemonSet'
  const metadata = object.metadata
  const found = marks[resource]?.find(([where, key]) => metadata?.[where]?.[key] !== undefined)
  return found?.[2] ?? null
}

/* Groups objects of one kind and namespace with the same owner references. The garbage collector treats them alike, so one represents all. */

const namesKept = 5

interface Group extends OwnedObject {
  resource: string
  count: number
  names: string[]
  createdMs: number | null
}

/** Groups in the order of their first objects. */
function groupsIn(objects: Iterable<ObjectMetadata>, resource: string) {
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
      const group = { ...ownedObject(resource, metadata), resource, count: 1, names: [name] }
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

function ownedObject(resource: string, metadata: ObjectMetadata): OwnedObject {
  const known = garbageResource(resource)
  return {
    ...metadata,
    apiVersion: known?.apiVersion ?? '',
    kind: known?.objectKind ?? resource,
    namespace: sharedValue(metadata.namespace),
    finalizers: sharedValue(metadata.finalizers),
    ownerReferences: metadata.ownerReferences.map(({ apiVersion, kind, ...of }) => ({
      apiVersion: sharedValue(apiVersion),
      kind: sharedValue(kind),
      ...of,
    })),
  }
}

const strip = (group: Group | undefined): OwnedGroup | null =>
  group ? { ...groupOfOne(group), count: group.count, names: group.names.toSorted() } : null

function groupOfOne(object: ObjectMetadata & { kind: string }): OwnedGroup {
  const { kind, namespace, name, createdMs } = object
  return { kind, namespace, count: 1, names: [name], createdMs }
}

/*
 * Owners of kinds with too many objects to keep each by name. Most own only pods or nothing, a few own a PVC or a ConfigMap. They are kept
 * packed, and only owners that a reference names are unpacked.
 */

/** The default values of an owner for which only the identity is kept. */
const bare = { createdMs: null, deletedMs: null, finalizers: [], ownerReferences: [] }

class NamedOwners {
  /** UIDs, and kinds with names: a namesake in another namespace or a recreated object must be found, too. */
  readonly #named = new Set<string>()
  readonly #kinds: ReadonlySet<string>

  /** @param dependents objects that may name an owner @param kinds of the owners */
  constructor(dependents: Iterable<OwnedObject>, kinds: ReadonlySet<string>) {
    this.#kinds = kinds
    for (const { ownerReferences } of dependents)
      for (const { kind, name, uid } of ownerReferences)
        if (kinds.has(kind)) this.#named.add(uid).add(nameKey(kind, name))
  }

  /** Identities of the named owners, and of namesakes in other namespaces. */
  *namedOwners(objects: Iterable<ObjectMetadata>, kind: string): Generator<ObjectMetadata> {
    if (!this.#kinds.has(kind) || this.#named.size === 0) return
    for (const object of objects)
      if (this.#named.has(object.uid) || this.#named.has(nameKey(kind, object.name)))
        yield { ...object, ...bare }
  }
}

const nameKey = (kind: string, name: string) => `${kind} ${name}`
