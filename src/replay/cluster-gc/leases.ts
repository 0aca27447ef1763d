/**
 * Leases: which ones the kubelets still renew, and which ones will never be collected.
 *
 * Replays       pkg/kubelet/util/nodelease.go                                  SetNodeOwnerFunc
 *               component-helpers/apimachinery/lease/controller.go             Run
 *               pkg/controlplane/controller/apiserverleasegc/gc_controller.go  isLeaseExpired
 * Read at       1.29 to 1.37
 * Kept exactly  exactly at its end a lease is not expired; an identity lease without renewTime or duration is; the owner is set only while there is none
 * Left out      a switched APIServerIdentity gate; leases of leader elections, which are not collected
 */
import { leaseRenewal } from '#facts/kubernetes/controllers.ts'
import type { KubernetesNode, Lease } from '#model/kubernetes.ts'
import { type ObjectMetadata, type OwnerReference, parseMetadata, timeOf } from './metadata.ts'

/**
 * `held`: the owner is the node of that name. `ownerless`: the node exists, and its kubelet sets the owner at the next renewal. `stale-owner`: the
 * owner is a former node of that name; the lease is deleted, and a live kubelet creates it anew. `collectable`: the node does not exist, so the
 * collector deletes the lease. `leftover`: no node, and no collector deletes it. `unknown`: nodes were not read, or it has another owner.
 */
export type NodeLeaseState =
  | 'held'
  | 'ownerless'
  | 'stale-owner'
  | 'collectable'
  | 'leftover'
  | 'unknown'

export interface NodeLease {
  /** The node's name, which is also the lease's name. */
  node: string
  state: NodeLeaseState
  renewedMs: number | null
  /** The latest time at which a live kubelet renews the lease next; null: not known. */
  nextRenewalMs: number | null
  /** Whether no kubelet renewed the lease for its whole duration; null: not known. */
  isExpired: boolean | null
}

/** @param leases of all namespaces, or only node leases. @param nodes null: not read */
export function nodeLeases(
  leases: readonly Lease[],
  nodes: readonly KubernetesNode[] | null,
  nowMs: number,
): NodeLease[] {
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
      state: uids ? stateOf(metadata, uids.get(metadata.name)) : 'unknown',
      renewedMs,
      nextRenewalMs: isTimed
        ? renewedMs + durationMs * leaseRenewal.fraction * (1 + leaseRenewal.jitter)
        : null,
      isExpired: isTimed ? nowMs > renewedMs + durationMs : null,
    }
  })
}

/** @param nodeUid undefined: no such node */
function stateOf(lease: ObjectMetadata, nodeUid: string | undefined): NodeLeaseState {
  const isNode = nodeUid !== undefined
  const [owner] = lease.ownerReferences
  if (!owner) return isNode ? 'ownerless' : 'leftover'
  if (!isOnlyOwner(owner, lease)) return 'unknown'
  if (!isNode) return 'collectable'
  return owner.uid === nodeUid ? 'held' : 'stale-owner'
}

const isOnlyOwner = ({ apiVersion, kind, name }: OwnerReference, lease: ObjectMetadata): boolean =>
  lease.ownerReferences.length === 1 &&
  apiVersion === 'v1' &&
  kind === 'Node' &&
  name === lease.name

function timesOf({ spec }: Lease): { renewedMs: number | null; durationMs: number | null } {
  const durationSeconds = spec?.leaseDurationSeconds ?? null
  return {
    renewedMs: timeOf(spec?.renewTime),
    durationMs: durationSeconds === null ? null : durationSeconds * 1000,
  }
}
