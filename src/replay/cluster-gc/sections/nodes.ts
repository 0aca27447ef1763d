/** Nodes that are not Ready, nodes without their instance, and leases of nodes. */

import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type {
  InstanceGarbage,
  LeaseGarbage,
  NodeGarbage,
  NodeLeaseGarbage,
} from '#model/cluster-garbage.ts'
import {
  type ClusterObject,
  isObjectOf,
  type KubernetesNode,
  type Lease,
} from '#model/input/record.ts'
import {
  nameOf,
  type ObjectMetadata,
  type OpenSection,
  type OwnerReference,
  Packed,
  parseMetadata,
  readyCondition,
  type Section,
  type SectionContext,
  timeOf,
} from '#replay/cluster-gc/section.ts'

export const nodes: Section<'nodes'> = {
  resources: [],
  needsNodes: true,
  open: () => ({
    take: () => {},
    close: ({ nodes: all }) => ({ notReady: (all ?? []).flatMap(notReadyNode) }),
  }),
}

function notReadyNode(node: KubernetesNode): NodeGarbage['notReady'][number][] {
  const condition = readyCondition(node)
  if (nameOf(node) === '' || condition?.status === 'True') return []
  const ready = condition?.status === 'False' ? 'False' : 'Unknown'
  const sinceMs = timeOf(condition?.lastTransitionTime) ?? timeOf(node.metadata?.creationTimestamp)
  return [
    {
      node: nameOf(node),
      ready: condition ? ready : null,
      sinceMs,
      reason: condition?.reason ?? null,
    },
  ]
}

/* Nodes whose EC2 instance no longer exists. */

export const instances: Section<'instances'> = {
  resources: ['instances.ec2.amazonaws.com'],
  needsNodes: true,
  open: () => new Instances(),
}

class Instances implements OpenSection<InstanceGarbage> {
  readonly #instances = new Set<string>()

  take(resource: string, instance: ClusterObject) {
    if (!isObjectOf('instances.ec2.amazonaws.com', resource, instance)) return
    if (instance.InstanceId !== undefined) this.#instances.add(instance.InstanceId)
  }

  close({ nodes }: SectionContext): InstanceGarbage {
    const known = (nodes ?? []).map(node => ({ node, ...nodeIdentity(node) }))
    return {
      withoutInstance: known.flatMap(({ node, name, instanceId, ready }) => {
        const isOfEc2 = instanceId?.startsWith('i-') === true
        if (!isOfEc2 || ready === 'True' || this.#instances.has(instanceId)) return []
        return [
          { node: name, instanceId, sinceMs: timeOf(readyCondition(node)?.lastTransitionTime) },
        ]
      }),
    }
  }
}

/* Leases of nodes. Leases of API servers and of leader elections are not garbage, and are not kept. */

export const leases: Section<'leases'> = {
  resources: ['leases.coordination.k8s.io'],
  open: () => new Leases(),
}

class Leases implements OpenSection<LeaseGarbage> {
  readonly #ofNodes = new Packed<Lease>()

  take(resource: string, lease: ClusterObject) {
    if (!isObjectOf('leases.coordination.k8s.io', resource, lease)) return
    if (lease.metadata?.namespace === 'kube-node-lease') this.#ofNodes.push(lease)
  }

  close({ nodes, nowMs }: SectionContext): LeaseGarbage {
    const ofNodes = [...this.#ofNodes]
    const made = new Map(ofNodes.map(lease => [nameOf(lease), madeMs(lease)]))
    const isLeftoverLease = ({ state, isExpired }: LeaseGarbage['nodes'][number]) =>
      state !== 'held' || isExpired !== false
    return {
      nodes: nodeLeases(ofNodes, nodes, nowMs)
        .map(({ node, state, renewedMs, isExpired }) => ({
          node,
          state,
          renewedMs: renewedMs ?? made.get(node) ?? null,
          isExpired,
        }))
        .filter(isLeftoverLease),
    }
  }
}

/** A lease that was never renewed counts from its creation. */
const madeMs = (lease: Lease) => timeOf(lease.metadata?.creationTimestamp)

/*
 * Leases: which ones the kubelets still renew, and which ones will never be collected.
 *
 * Replays       pkg/kubelet/util/nodelease.go                                  SetNodeOwnerFunc
 *               component-helpers/apimachinery/lease/controller.go             Run
 *               pkg/controlplane/controller/apiserverleasegc/gc_controller.go  isLeaseExpired
 * Read at       1.29 to 1.37
 * Kept exactly  exactly at its end a lease is not expired; an identity lease without renewTime or duration is; the owner is set only while there is none
 * Left out      a switched APIServerIdentity gate; leases of leader elections, which are not collected
 */

/** @param leases of all namespaces, or only node leases. @param nodes null: not read */
export function nodeLeases(
  leases: readonly Lease[],
  nodes: readonly KubernetesNode[] | null,
  nowMs: number,
): NodeLeaseGarbage[] {
  const uids =
    nodes &&
    new Map(nodes.flatMap(node => parseMetadata(node) ?? []).map(({ name, uid }) => [name, uid]))
  return leases.flatMap(lease => {
    const metadata = parseMetadata(lease)
    if (metadata?.namespace !== 'kube-node-lease') return []
    const { renewedMs, durationMs } = timesOf(lease)
    const isTimed = renewedMs !== null && durationMs !== null
    return {
      node: metadata.name,
      state: uids ? leaseState(metadata, uids.get(metadata.name)) : 'unknown',
      renewedMs,
      isExpired: isTimed ? nowMs > renewedMs + durationMs : null,
    }
  })
}

/** @param nodeUid undefined: no such node */
function leaseState(lease: ObjectMetadata, nodeUid: string | undefined) {
  const isNode = nodeUid !== undefined
  const [owner] = lease.ownerReferences
  if (!owner) return isNode ? 'ownerless' : 'leftover'
  if (!isOnlyOwner(owner, lease)) return 'unknown'
  if (!isNode) return 'collectable'
  return owner.uid === nodeUid ? 'held' : 'stale-owner'
}

const isOnlyOwner = ({ apiVersion, kind, name }: OwnerReference, lease: ObjectMetadata) =>
  lease.ownerReferences.length === 1 &&
  apiVersion === 'v1' &&
  kind === 'Node' &&
  name === lease.name

function timesOf({ spec }: Lease) {
  const durationSeconds = spec?.leaseDurationSeconds ?? null
  return {
    renewedMs: timeOf(spec?.renewTime),
    durationMs: durationSeconds === null ? null : durationSeconds * 1000,
  }
}
