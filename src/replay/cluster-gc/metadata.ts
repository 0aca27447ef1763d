/** What every collector reads of an object: its name, its times, its owners. An object without a name is no object. */
import { isRawObject, type RawObject } from '#model/record.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  isController: boolean
  blocksOwnerDeletion: boolean
}

export interface ObjectMetadata {
  /** Empty of a cluster-scoped object. */
  namespace: string
  name: string
  uid: string
  /** Null where it is not recorded. */
  createdMs: number | null
  /** When the deletion began; null of an object that is not being deleted. */
  deletedMs: number | null
  generation: number
  finalizers: readonly string[]
  ownerReferences: readonly OwnerReference[]
}

export function parseMetadata(raw: unknown): ObjectMetadata | null {
  const metadata = objectAt(raw, 'metadata')
  const name = textAt(metadata, 'name')
  if (name === null || name === '') return null
  return {
    namespace: textAt(metadata, 'namespace') ?? '',
    name,
    uid: textAt(metadata, 'uid') ?? '',
    createdMs: timeAt(metadata, 'creationTimestamp'),
    deletedMs: timeAt(metadata, 'deletionTimestamp'),
    generation: integerAt(metadata, 'generation') ?? 0,
    finalizers: listAt(metadata, 'finalizers').filter(isText),
    ownerReferences: listAt(metadata, 'ownerReferences')
      .filter(isRawObject)
      .map(parseOwnerReference),
  }
}

const parseOwnerReference = (raw: RawObject): OwnerReference => ({
  apiVersion: textAt(raw, 'apiVersion') ?? '',
  kind: textAt(raw, 'kind') ?? '',
  name: textAt(raw, 'name') ?? '',
  uid: textAt(raw, 'uid') ?? '',
  isController: raw.controller === true,
  blocksOwnerDeletion: raw.blockOwnerDeletion === true,
})

const isText = (value: unknown): value is string => typeof value === 'string'

/** Upstream: apimachinery pkg/apis/meta/v1 GetControllerOf. */
export const controllerOf = ({ ownerReferences }: ObjectMetadata): OwnerReference | null =>
  ownerReferences.find(({ isController }) => isController) ?? null

export function groupBy<Item, Key>(
  items: Iterable<Item>,
  keyOfItem: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOfItem(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** As upstream prints an object: without a namespace, only its name. */
export const keyOf = ({ namespace, name }: Pick<ObjectMetadata, 'namespace' | 'name'>): string =>
  namespace === '' ? name : `${namespace}/${name}`

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const goZeroTimeMs = Date.parse('0001-01-01T00:00:00Z')

/** An RFC 3339 time in ms; null where it is absent, malformed, or Go's zero time. */
export function timeAt(value: unknown, key: string): number | null {
  const text = textAt(value, key)
  const ms = text !== null && timeForm.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) || ms === goZeroTimeMs ? null : ms
}

export function integerAt(value: unknown, key: string): number | null {
  const found = isRawObject(value) ? value[key] : null
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : null
}

/** The first of that type, as upstream takes it. */
export const conditionOf = (raw: unknown, type: string): RawObject | null =>
  listAt(objectAt(raw, 'status'), 'conditions')
    .filter(isRawObject)
    .find(condition => condition.type === type) ?? null

/** Times that are not recorded are Go's zero time: before all others. */
export const compareTimes = (a: number | null, b: number | null): number =>
  a === b ? 0 : (a ?? Number.NEGATIVE_INFINITY) < (b ?? Number.NEGATIVE_INFINITY) ? -1 : 1
