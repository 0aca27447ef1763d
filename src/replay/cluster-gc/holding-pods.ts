/** Pods that are not Terminating, as the garbage collector sees them: identities, and owners they hold. They are many, so few fields are kept. */
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

  /** Pods that hold one of these owners. Their references contain only UIDs. @param owners UIDs */
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
