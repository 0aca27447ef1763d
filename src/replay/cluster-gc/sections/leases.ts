/** Leases of nodes. Leases of API servers and of leader elections are not garbage, and are not kept. */
import type { LeaseGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import { nodeLeases } from '#replay/cluster-gc/leases.ts'
import { timeAt } from '#replay/cluster-gc/metadata.ts'
import { Packed } from '#replay/cluster-gc/packed.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf, slim, slimMetadata } from '#replay/cluster-gc/slim.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'

export const leases: Section<'leases'> = {
  resources: ['leases.coordination.k8s.io'],
  open: () => new Leases(),
}

class Leases implements OpenSection<LeaseGarbage> {
  readonly #ofNodes = new Packed<RawObject>()

  take(_resource: string, lease: RawObject): void {
    const namespace = textAt(objectAt(lease, 'metadata'), 'namespace')
    if (namespace === 'kube-node-lease')
      this.#ofNodes.push(slimLease(lease, ['ownerReferences', 'creationTimestamp']))
  }

  tell({ nodes, nowMs }: SectionContext): LeaseGarbage {
    const ofNodes = [...this.#ofNodes]
    const made = new Map(ofNodes.map(lease => [nameOf(lease), madeMs(lease)]))
    const isLeft = ({ state, isExpired }: LeaseGarbage['nodes'][number]) =>
      state !== 'held' || isExpired !== false
    return {
      nodes: nodeLeases(ofNodes, nodes, nowMs)
        .map(({ node, state, renewedMs, isExpired }) => ({
          node,
          state,
          renewedMs: renewedMs ?? made.get(node) ?? null,
          isExpired,
        }))
        .filter(isLeft),
    }
  }
}

/** One that nobody has ever renewed cannot be older than that. */
const madeMs = (lease: RawObject): number | null =>
  timeAt(objectAt(lease, 'metadata'), 'creationTimestamp')

const slimLease = (lease: RawObject, fields: readonly string[]): RawObject => ({
  metadata: slimMetadata(lease, fields),
  spec: slim(objectAt(lease, 'spec'), ['renewTime', 'leaseDurationSeconds']),
})
