/** A section of the cluster's garbage. It keeps the fields that its replay needs, and returns the result at the end. */

import { deflateRawSync } from 'node:zlib'
import { inflateOwn } from '#base/gzip.ts'
import { type Keep, keepInMemory } from '#base/keep.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type {
  ClusterNeed,
  ClusterSections,
  Controller,
  HeldFinalizer,
} from '#model/cluster-garbage.ts'
import type {
  ClusterObject,
  EksCluster,
  KubernetesNode,
  ObjectReference,
} from '#model/input/record.ts'
import { isMoment } from '#model/plan.ts'

/** What is known after all records have arrived. */
export interface SectionContext {
  nowMs: number
  /** Features of the control plane's version: as EKS reports it, else its API server, else its newest kubelet. */
  features: KubeletFeatures
  eks: EksCluster | null
  /** Slim Node objects (`slimNode`); null: not all of them were read. */
  nodes: readonly KubernetesNode[] | null
  /** Whether the list of a resource was read to its end. */
  isWhole(resource: string): boolean
  /** Whether the pods of every node were read. */
  arePodsKnown: boolean
  /** The controller that would remove the finalizer, and whether it is installed. */
  holderOf(finalizer: string): HeldFinalizer
}

export interface Section<Need extends ClusterNeed> {
  /** Required lists. If one was not read, the section is unknown. `events` are read in any case. */
  resources: readonly string[]
  /** Optional lists, used if they were read. */
  also?: readonly string[]
  /** The section also takes other objects of the cluster. */
  takesOthers?: true
  /** The section also requires the whole list of nodes; without it the section is unknown. */
  needsNodes?: true
  /** @param keep where its rows are kept */
  open(keep: Keep): OpenSection<ClusterSections[Need]>
}

export interface OpenSection<Result> {
  /** Takes one object. Pods also arrive with their nodes. An implementation must keep only the fields that it needs. */
  take(resource: string, object: ClusterObject): void
  close(context: SectionContext): Result
}

/* The metadata that every collector reads: name, times, owners. An object without a name is ignored. */

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
export const keyOf = ({ namespace, name }: ObjectMetadata): string =>
  namespace === '' ? name : `${namespace}/${name}`

const goZeroTimeMs = Date.parse('0001-01-01T00:00:00Z')

/** An RFC 3339 time in ms; null: absent, malformed, or Go's zero time. */
export function timeOf(text: string | null | undefined): number | null {
  const ms = text && isMoment(text) ? Date.parse(text) : goZeroTimeMs
  return ms === goZeroTimeMs ? null : ms
}

/** The first one of its type, as upstream picks it. */
export const readyCondition = ({ status }: KubernetesNode) =>
  status?.conditions?.find(({ type }) => type === 'Ready')

/** A time that is not recorded is Go's zero time, before all others. */
export function compareTimes(a: number | null, b: number | null): number {
  if (a === b) return 0
  return (a ?? Number.NEGATIVE_INFINITY) < (b ?? Number.NEGATIVE_INFINITY) ? -1 : 1
}

/* Rows kept until the last list is read. There can be hundreds of thousands. Compressed, a row takes about 50 bytes instead of 1,000: outside of memory where a file can be written. */

/** A block has the size of a page: packed quickly, with enough similar rows to compress well. */
const rowsInBlock = 500
/** The fastest compression level. It is enough, because repeated text is close together. */
const level = 1

/** @template Row plain JSON; unpacked rows are equal copies, not the same objects */
export class Packed<Row> {
  #open: Row[] = []
  readonly #blocks: (() => string)[] = []
  readonly #keep: Keep

  constructor(keep = keepInMemory) {
    this.#keep = keep
  }

  push(row: Row): void {
    this.#open.push(row)
    if (this.#open.length < rowsInBlock) return
    const block = deflateRawSync(JSON.stringify(this.#open), { level })
    this.#blocks.push(this.#keep(block.toString('base64')))
    this.#open = []
  }

  /** In order of arrival. Only one block is unpacked at a time, unless the caller keeps its objects. */
  *[Symbol.iterator](): Generator<Row> {
    for (const block of this.#blocks)
      yield* JSON.parse(inflateOwn(Buffer.from(block(), 'base64'))) as Row[]
    yield* this.#open
  }
}

/* Objects cut down to what the replays read, so that many can wait for the last page. */

type Metadata = NonNullable<ClusterObject['metadata']>

/** @param fields fields of `metadata` to keep, beside name, namespace and UID */
export const slimMetadata = (
  { metadata }: ClusterObject,
  fields: readonly (keyof Metadata)[] = [],
): Metadata => slim(metadata, ['name', 'namespace', 'uid', ...fields])

/** The object with only these fields, if they are present. */
export function slim<Fields extends object, Field extends keyof Fields>(
  object: Fields | undefined,
  fields: readonly Field[],
): Partial<Pick<Fields, Field>> {
  const kept: Partial<Pick<Fields, Field>> = {}
  for (const field of fields) if (object?.[field] !== undefined) kept[field] = object[field]
  return kept
}

/** The fields of a Node that pod GC and leases read. */
export const slimNode = (node: KubernetesNode): KubernetesNode => ({
  metadata: slimMetadata(node, ['creationTimestamp', 'deletionTimestamp', 'finalizers']),
  spec: slim(node.spec, ['taints', 'providerID', 'unschedulable']),
  status: {
    conditions: (node.status?.conditions ?? [])
      .filter(({ type }) => type === 'Ready')
      .map(condition =>
        slim(condition, ['type', 'status', 'reason', 'lastHeartbeatTime', 'lastTransitionTime']),
      ),
  },
})

export function controllerIn(metadata: ObjectMetadata): Controller | null {
  const controller = controllerOf(metadata)
  return controller && { kind: controller.kind, name: controller.name }
}

/** The object's controllers, reduced to their identity. */
export const controllersIn = ({ metadata }: ClusterObject): ObjectReference[] =>
  (metadata?.ownerReferences ?? [])
    .filter(({ controller }) => controller === true)
    .map(owner => slim(owner, ['uid', 'kind', 'name', 'controller']))

/** The owner with which the object is deleted: its controller, else its first owner. */
export function deletingOwner(metadata: ObjectMetadata): Controller | null {
  const [owner] = metadata.ownerReferences
  return controllerIn(metadata) ?? (owner ? { kind: owner.kind, name: owner.name } : null)
}

export const nameOf = ({ metadata }: ClusterObject): string => metadata?.name ?? ''
