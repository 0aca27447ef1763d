/**
 * Owners of kinds with too many objects to keep each by name. Most own only pods or nothing, a few own a PVC or a ConfigMap. They are kept
 * packed, and only owners that a reference names are unpacked.
 */
import type { ObjectMetadata } from './metadata.ts'
import type { OwnedObject } from './owner-graph.ts'

/** The default values of an owner for which only the identity is kept. */
export const bare = { createdMs: null, deletedMs: null, finalizers: [], ownerReferences: [] }

export class NamedOwners {
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
  *among(objects: Iterable<ObjectMetadata>, kind: string): Generator<ObjectMetadata> {
    if (!this.#kinds.has(kind) || this.#named.size === 0) return
    for (const object of objects)
      if (this.#named.has(object.uid) || this.#named.has(nameKey(kind, object.name)))
        yield { ...object, ...bare }
  }
}

const nameKey = (kind: string, name: string) => `${kind} ${name}`
