/**
 * Owners of which there are too many to be kept by name: what owns nothing but pods, or nothing at all, and now and then a claim or a ConfigMap. They wait
 * packed, and only those are taken out that somebody names.
 */
import type { ObjectMetadata } from './metadata.ts'
import type { OwnedObject } from './owner-graph.ts'

/** What is asked of an owner that does not go: who it is. */
export const bare = { createdMs: null, deletedMs: null, finalizers: [], ownerReferences: [] }

export class NamedOwners {
  /** By UID, and by kind and name: who it is may stand in another namespace, or another may have the name now. */
  readonly #named = new Set<string>()
  readonly #kinds: ReadonlySet<string>

  /** @param dependents objects that may name an owner @param kinds of the owners */
  constructor(dependents: Iterable<OwnedObject>, kinds: ReadonlySet<string>) {
    this.#kinds = kinds
    for (const { ownerReferences } of dependents)
      for (const { kind, name, uid } of ownerReferences)
        if (kinds.has(kind)) this.#named.add(uid).add(nameKey(kind, name))
  }

  /** Those that somebody names, bare; and a few more, which have the name in another namespace. */
  *among(objects: Iterable<ObjectMetadata>, kind: string): Generator<ObjectMetadata> {
    if (!this.#kinds.has(kind) || this.#named.size === 0) return
    for (const object of objects)
      if (this.#named.has(object.uid) || this.#named.has(nameKey(kind, object.name)))
        yield { ...object, ...bare }
  }
}

const nameKey = (kind: string, name: string) => `${kind} ${name}`
