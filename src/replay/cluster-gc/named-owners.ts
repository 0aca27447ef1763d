/**
 * Owners of which there are too many to be kept by name: what owns pods at most, nearly always, and now and then a claim or a ConfigMap. They wait packed,
 * and only those are taken out that somebody names.
 */
import type { ObjectMetadata } from './metadata.ts'
import type { OwnedObject } from './owner-graph.ts'

export class NamedOwners {
  /** By kind and name, and by UID: who has the name, and who is it, perhaps in another namespace. */
  readonly #named = new Set<string>()
  readonly #kinds: ReadonlySet<string>

  /** @param dependents whoever may name one @param kinds those that are looked for */
  constructor(dependents: Iterable<OwnedObject>, kinds: ReadonlySet<string>) {
    this.#kinds = kinds
    for (const { ownerReferences } of dependents)
      for (const { kind, name, uid } of ownerReferences) if (kinds.has(kind)) this.#named.add(nameKey(kind, name)).add(uid)
  }

  /** Those of them that somebody names; perhaps a few more, that have the name in another namespace. */
  *among(objects: Iterable<ObjectMetadata>, kind: string): Generator<ObjectMetadata> {
    if (!this.#kinds.has(kind) || this.#named.size === 0) return
    for (const object of objects) if (this.#named.has(object.uid) || this.#named.has(nameKey(kind, object.name))) yield object
  }
}

const nameKey = (kind: string, name: string) => `${kind} ${name}`
