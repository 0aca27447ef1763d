/** Leases of nodes. Leases of API servers and of leader elections are not garbage, and are not kept. */
import type { LeaseGarbage } from '#model/cluster-garbage.ts'
import { isOf } from '#model/cluster-objects.ts'
import type { ClusterObject, Lease } from '#model/kubernetes.ts'
import { nodeLeases } from '#replay/cluster-gc/leases.ts'
import { timeOf } from '#replay/cluster-gc/metadata.ts'
import { Packed } from '#replay/cluster-gc/packed.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf, slim, slimMetadata } from '#replay/cluster-gc/slim.ts'

export const leases: Section<'leases'> = {
  resources: ['leases.coordination.k8s.io'],
  open: () => new Leases(),
}

class Leases implements OpenSection<LeaseGarbage> {
  readonly #ofNodes = new Packed<Lease>()

  take(resource: string, lease: ClusterObject): void {
    if (!isOf('leases.coordination.k8s.io', resource, lease)) return
    if (lease.metadata?.namespace === 'kube-node-lease') this.#ofNodes.push(slimLease(lease))
  }

  close({ nodes, nowMs }: SectionContext): LeaseGarbage {
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

/** A lease that was never renewed counts from its creation. */
const madeMs = (lease: Lease): number | null => timeOf(lease.metadata?.creationTimestamp)

const slimLease = (lease: Lease): Lease => ({
  metadata: slimMetadata(lease, ['ownerReferences', 'creationTimestamp']),
  spec: slim(lease.spec, ['renewTime', 'leaseDurationSeconds']),
})
