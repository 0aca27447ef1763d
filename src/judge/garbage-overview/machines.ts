/** Nodes, their instances, leases and certificate requests. */
import { certificateRequestLifetimesMs } from '#facts/kubernetes/controllers.ts'
import { supersededRequests } from '#judge/garbage/certificate-requests.ts'
import { isOld, leftHours } from '#judge/garbage/garbage.ts'
import { isPassedOver } from '#judge/garbage/leases.ts'
import { silentNodes } from '#judge/garbage/silent-nodes.ts'
import type {
  CertificateGarbage,
  CertificateRequest,
  ClusterPrediction,
  InstanceGarbage,
  LeaseGarbage,
  NodeGarbage,
  NodeLeaseGarbage,
} from '#model/cluster-garbage.ts'
import type { GarbageFate, GarbageRow, GarbageRowKind } from '#model/garbage-overview.ts'
import { byItself, type Lying, type Moment, rowOf } from './row.ts'

export function nodeRows(
  nodes: NodeGarbage,
  moment: Moment,
  { instances }: ClusterPrediction,
): GarbageRow[] {
  return [
    ...rowOf(
      'not-ready-nodes',
      silentNodes(nodes, instances, moment.nowMs).map(({ node: whose, sinceMs }) => ({
        whose,
        sinceMs,
      })),
      { is: 'with' },
      moment,
    ),
    ...rowOf(
      'left-taints',
      nodes.leftTaints.map(({ node, key, sinceMs, isAnnounced }) => ({
        ...{
          whose: `${key} on ${node}`,
          sinceMs,
          ripeHours: leftHours.taint({ isAnnounced }, moment.minAgeHours),
        },
      })),
      { is: 'never' },
      moment,
    ),
  ]
}

export function instanceRows(
  { withoutNode, withoutInstance }: InstanceGarbage,
  moment: Moment,
): GarbageRow[] {
  return [
    ...rowOf(
      'instances-without-node',
      withoutNode.map(({ instanceType, state, launchedMs }) => ({
        whose: `${instanceType ?? 'type not known'}, ${state}`,
        sinceMs: launchedMs,
        ripeHours: leftHours.instanceWithoutNode,
      })),
      { is: 'never' },
      moment,
    ),
    ...rowOf(
      'nodes-without-instance',
      withoutInstance.map(({ node: whose, sinceMs }) => ({
        whose,
        sinceMs,
        ripeHours: leftHours.nodeWithoutInstance,
      })),
      { is: 'late' },
      moment,
    ),
  ]
}

const leaseRow: Readonly<Record<NodeLeaseGarbage['state'], GarbageRowKind>> = {
  leftover: 'leftover-leases',
  collectable: 'collectable-leases',
  'stale-owner': 'collectable-leases',
  ownerless: 'unrenewed-leases',
  held: 'unrenewed-leases',
  unknown: 'unknown-leases',
}

export function leaseRows({ nodes }: LeaseGarbage, moment: Moment): GarbageRow[] {
  // A live kubelet makes itself the owner when it renews: then there is nothing to tell.
  const told = nodes.filter(({ state, isExpired }) => state !== 'ownerless' || isExpired === true)
  const { nowMs, minAgeHours } = moment
  const kindOf = (lease: NodeLeaseGarbage) => {
    if (isPassedOver(lease, nowMs, minAgeHours)) return 'overdue-leases'
    // Its node is there, and its kubelet has not made it anew: it is one of those that nobody renews.
    return lease.state === 'stale-owner' && isOld(lease.renewedMs, nowMs, minAgeHours)
      ? 'unrenewed-leases'
      : leaseRow[lease.state]
  }
  const row = (kind: GarbageRowKind, fate: GarbageFate) =>
    rowOf(
      kind,
      told
        .filter(lease => kindOf(lease) === kind)
        .map(({ node: whose, renewedMs: sinceMs }) => ({ whose, sinceMs })),
      fate,
      moment,
    )
  return [
    ...row('leftover-leases', { is: 'never' }),
    ...row('collectable-leases', byItself([])),
    ...row('overdue-leases', { is: 'late' }),
    ...row('unrenewed-leases', { is: 'with' }),
    ...row('unknown-leases', { is: 'unknown' }),
  ]
}

export function certificateRows({ requests }: CertificateGarbage, moment: Moment): GarbageRow[] {
  const { handled, pending } = certificateRequestLifetimesMs
  const lying = ({ signer: whose, sinceMs }: CertificateRequest): Lying => ({ whose, sinceMs })
  const overdue = requests.filter(request => request.overdue !== null)
  const unissued = requests.filter(request => request.overdue === null && request.isNeverCollected)
  const others = requests.filter(request => request.overdue === null && !request.isNeverCollected)
  const superseded = supersededRequests(requests)
  const isWaiting = ({ state }: CertificateRequest) => state === 'pending' || state === 'approved'
  const row = (kind: GarbageRowKind, found: CertificateRequest[], lifetimeMs: number) =>
    rowOf(
      kind,
      found.map(each => ({
        ...lying(each),
        ...(kind === 'waiting-requests' && { ripeHours: leftHours.pendingRequest }),
      })),
      byItself(found.map(({ sinceMs }) => (sinceMs === null ? null : sinceMs + lifetimeMs))),
      moment,
    )
  return [
    ...rowOf('overdue-requests', overdue.map(lying), { is: 'late' }, moment),
    ...rowOf('unissued-requests', unissued.map(lying), { is: 'never' }, moment),
    ...row(
      'waiting-requests',
      others.filter(request => isWaiting(request) && !superseded.has(request.name)),
      pending,
    ),
    ...row(
      'superseded-requests',
      others.filter(request => isWaiting(request) && superseded.has(request.name)),
      pending,
    ),
    ...row(
      'answered-requests',
      others.filter(request => !isWaiting(request)),
      handled,
    ),
  ]
}
