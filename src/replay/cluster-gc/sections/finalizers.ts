/** Objects of all lists that finalizers keep Terminating. Pods, volumes and PVCs have their own sections. */

import { sharedValue } from '#base/once.ts'
import { garbageResource, garbageResources } from '#facts/kubernetes/garbage-resources.ts'
import type { FinalizerGarbage, HeldObject } from '#model/cluster-garbage.ts'
import { type ClusterObject, isObjectOf } from '#model/input/record.ts'
import {
  type OpenSection,
  Packed,
  parseMetadata,
  type Section,
  type SectionContext,
  timeOf,
} from '#replay/cluster-gc/section.ts'
import { expiryOf } from './jobs.ts'

const elsewhere: ReadonlySet<string> = new Set(['persistentvolumes', 'persistentvolumeclaims'])

export const finalizers: Section<'finalizers'> = {
  resources: [],
  also: garbageResources
    .map(({ resource }) => resource)
    .filter(resource => !elsewhere.has(resource)),
  takesOthers: true,
  open: () => new Finalizers(),
}

type HeldByFinalizer = Omit<HeldObject, 'finalizers' | 'kind'> & { names: readonly string[] }

class Finalizers implements OpenSection<FinalizerGarbage> {
  readonly #held = new Packed<HeldByFinalizer>()

  take(resource: string, object: ClusterObject) {
    const held = heldObject(resource, object)
    if (held) this.#held.push(held)
  }

  close({ nodes, holderOf }: SectionContext): FinalizerGarbage {
    const kindOf = (resource: string) =>
      garbageResource(resource)?.objectKind ?? (resource === 'nodes' ? 'Node' : resource)
    const lists = new Map<string, HeldObject['finalizers']>()
    const listOf = (names: readonly string[]) => {
      const key = JSON.stringify(names)
      const known = lists.get(key) ?? names.map(holderOf)
      lists.set(key, known)
      return known
    }
    const heldOf = ({ names, ...held }: HeldByFinalizer): HeldObject => ({
      ...held,
      resource: sharedValue(held.resource),
      kind: sharedValue(kindOf(held.resource)),
      namespace: sharedValue(held.namespace),
      finalizers: listOf(names),
    })
    return {
      held: [
        ...Array.from(this.#held, heldOf),
        ...(nodes ?? []).flatMap(node => heldObject('nodes', node) ?? []).map(heldOf),
      ],
    }
  }
}

function heldObject(resource: string, object: ClusterObject): HeldByFinalizer | null {
  if (timeOf(object.metadata?.deletionTimestamp) === null) return null
  const metadata = parseMetadata(object)
  if (!metadata || metadata.deletedMs === null || metadata.finalizers.length === 0) return null
  const { namespace, name, deletedMs: sinceMs, finalizers: names } = metadata
  const expiresMs = isObjectOf('jobs.batch', resource, object) ? expiryOf(object) : null
  return { resource, namespace, name, sinceMs, expiresMs, names }
}
