/** Rows kept until the last list is read. There can be hundreds of thousands. Compressed, a row takes about 50 bytes instead of 1,000. */

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Controller } from '#model/finding/cluster-garbage.ts'
import type { ClusterObject, KubernetesNode, ObjectReference } from '#model/input/kubernetes.ts'
import { controllerOf, type ObjectMetadata } from './metadata.ts'

/** A block has the size of a page: packed quickly, with enough similar rows to compress well. */
const rowsInBlock = 500
/** The fastest compression level. It is enough, because repeated text is close together. */
const level = 1

/** @template Row plain JSON; unpacked rows are equal copies, not the same objects */
export class Packed<Row> {
  #open: Row[] = []
  readonly #blocks: Buffer[] = []

  push(row: Row): void {
    this.#open.push(row)
    if (this.#open.length < rowsInBlock) return
    // A copy of its own size: zlib's buffer of 64 KiB is mostly empty.
    this.#blocks.push(Buffer.from(deflateRawSync(JSON.stringify(this.#open), { level })))
    this.#open = []
  }

  /** In order of arrival. Only one block is unpacked at a time, unless the caller keeps its objects. */
  *[Symbol.iterator](): Generator<Row> {
    for (const block of this.#blocks) yield* JSON.parse(inflateRawSync(block).toString()) as Row[]
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
export function keeperIn(metadata: ObjectMetadata): Controller | null {
  const [owner] = metadata.ownerReferences
  return controllerIn(metadata) ?? (owner ? { kind: owner.kind, name: owner.name } : null)
}

export const nameOf = ({ metadata }: ClusterObject): string => metadata?.name ?? ''

/** Keeps one copy of texts that many objects share. A parser creates a new copy for every object. */
export class SharedTexts {
  readonly #texts = new Map<string, string>()
  readonly #lists = new Map<string, readonly string[]>()

  /** The first copy of an equal text. Only for values with few distinct texts: namespaces, kinds, reasons. */
  text(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }

  /** The first copy of an equal list. */
  list(texts: readonly string[]): readonly string[] {
    const key = JSON.stringify(texts)
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const list = texts.map(text => this.text(text))
    this.#lists.set(key, list)
    return list
  }
}
