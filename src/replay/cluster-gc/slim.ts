/** Objects cut down to what the replays read, so that many can wait for the last page. */
import { taintingConditions } from '#facts/kubernetes/taints.ts'
import type { Controller } from '#model/cluster-garbage.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { listAt, objectAt, objectsOf, textAt } from '#replay/untrusted.ts'
import { controllerOf, type ObjectMetadata } from './metadata.ts'

/** @param fields of `metadata`, beside name, namespace and UID */
export function slimMetadata(object: RawObject, fields: readonly string[] = []): RawObject {
  const metadata = objectAt(object, 'metadata') ?? {}
  return slim(metadata, ['name', 'namespace', 'uid', ...fields])
}

/** Only these fields, where they are there. */
export function slim(object: RawObject | null, fields: readonly string[]): RawObject {
  const kept: RawObject = {}
  for (const field of fields) if (object?.[field] !== undefined) kept[field] = object[field]
  return kept
}

/** What pod GC and leases ask of a Node. */
export const slimNode = (node: RawObject): RawObject => ({
  metadata: slimMetadata(node, ['creationTimestamp', 'deletionTimestamp', 'finalizers']),
  spec: slim(objectAt(node, 'spec'), ['taints', 'providerID', 'unschedulable']),
  status: {
    conditions: objectsOf(objectAt(node, 'status')?.conditions)
      .filter(
        ({ type }) =>
          type === 'Ready' || (typeof type === 'string' && taintingConditions.has(type)),
      )
      .map(condition =>
        slim(condition, ['type', 'status', 'reason', 'lastHeartbeatTime', 'lastTransitionTime']),
      ),
  },
})

export function controllerIn(metadata: ObjectMetadata): Controller | null {
  const controller = controllerOf(metadata)
  return controller && { kind: controller.kind, name: controller.name }
}

/** Who controls it, as little of each as names it. */
export const controllersIn = (object: RawObject): RawObject[] =>
  listAt(objectAt(object, 'metadata'), 'ownerReferences')
    .filter(isRawObject)
    .filter(({ controller }) => controller === true)
    .map(owner => slim(owner, ['uid', 'kind', 'name', 'controller']))

/** Whoever takes it along: its controller, else the first of its owners. */
export function keeperIn(metadata: ObjectMetadata): Controller | null {
  const [owner] = metadata.ownerReferences
  return controllerIn(metadata) ?? (owner ? { kind: owner.kind, name: owner.name } : null)
}

export const nameOf = (object: RawObject): string =>
  textAt(objectAt(object, 'metadata'), 'name') ?? ''
