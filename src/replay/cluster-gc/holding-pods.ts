/** Pods that do not go, as the garbage collector sees them: who they are, and which owners they hold. Of each as little as can be, for there are most of them. */
import type { ObjectMetadata } from './metadata.ts'
import { bare } from './named-owners.ts'
import { Packed } from './packed.ts'

type PodRow = [namespace: string, name: string, uid: string, ...held: string[]]

export class HoldingPods {
  readonly #rows = new Packed<PodRow>()

  /** @param metadata null: it cannot be read */
  take(metadata: ObjectMetadata | null): void {
    if (!metadata) return
    const held = metadata.ownerReferences
      .filter(({ blocksOwnerDeletion }) => blocksOwnerDeletion)
      .map(({ uid }) => uid)
    this.#rows.push([metadata.namespace, metadata.name, metadata.uid, ...held])
  }

  *all(): Generator<ObjectMetadata> {
    for (const [namespace, name, uid] of this.#rows)
      yield { namespace, name, uid, generation: 0, ...bare }
  }

  /** Those that hold one of these, with references that say no more than that. @param owners UIDs */
  *holding(owners: ReadonlySet<string>): Generator<ObjectMetadata> {
    if (owners.size === 0) return
    for (const [namespace, name, uid, ...held] of this.#rows)
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
