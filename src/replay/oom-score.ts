/**
 * OOM scores: which containers the Linux kernel kills first if memory runs out.
 *
 * Replays       pkg/kubelet/qos/policy.go   GetContainerOOMScoreAdjust
 *               pkg/kubelet/qos/helpers.go  minRegularContainerMemory, remainingPodMemReqPerContainer
 *               component-helpers/resource/helpers.go  AggregateContainerRequests
 * Read at       1.29 to 1.37; sidecars since 1.32, pod-level requests if their gate is on, no negative share since 1.37
 * Kept exactly  integer division, truncated toward zero, of int64 that wraps; a Burstable container gets 3 to 999
 * Left out      requests during a resize (alpha to 1.31, allocated requests after that); memory of DRA claims (alpha);
 *               sidecars with their gate off, which the API server then refuses
 */

import {
  addQuantities,
  binaryQuantity,
  compareQuantities,
  type Quantity,
  quantityValue,
  signOf,
} from '#base/go/quantity.ts'
import type { OomScore } from '#model/prediction.ts'
import { isCriticalPod, type Pod, type PodContainer, podQosClass, type QosClass } from './pods.ts'
import type { Kubelet } from './times.ts'

const guaranteedOomScoreAdj = -997
const bestEffortOomScoreAdj = 1000
const noMemory = binaryQuantity(0)

/**
 * The OOM scores of all containers, init containers last.
 *
 * @param memoryCapacityBytes the machine's memory, `node.status.capacity.memory`
 * @returns null if `memoryCapacityBytes` is not a number of bytes
 */
export function oomScores(
  pod: Pod,
  memoryCapacityBytes: number,
  kubelet: Kubelet,
): OomScore[] | null {
  if (!Number.isSafeInteger(memoryCapacityBytes) || memoryCapacityBytes <= 0) return null
  const { namespace, name, containers, initContainers } = pod
  const qos = podQosClass(pod, kubelet)
  const oomScoreAdj = getContainerOomScoreAdjust(pod, qos, BigInt(memoryCapacityBytes), kubelet)
  return [...containers, ...initContainers].map(container => ({
    namespace,
    pod: name,
    container: container.name,
    qos,
    oomScoreAdj: oomScoreAdj(container),
  }))
}

/** Computes once what is the same for all containers of a pod. Returns the score by container. */
function getContainerOomScoreAdjust(
  pod: Pod,
  qos: QosClass,
  memoryCapacity: bigint,
  kubelet: Kubelet,
): (container: PodContainer) => number {
  if (qos === 'Guaranteed' || isNodeCriticalPod(pod)) return () => guaranteedOomScoreAdj
  if (qos === 'BestEffort') return () => bestEffortOomScoreAdj
  const share = remainingPodMemReqPerContainer(pod, kubelet)
  const leastOfRegular = kubelet.features.has('oomSidecarRule')
    ? minRegularContainerMemory(pod)
    : null
  const scoreOf = (request: bigint) =>
    1000 - Number(int64(1000n * (request + share)) / memoryCapacity)
  return container => {
    const own = scoreOf(memoryRequest(container))
    // `isSidecar` also covers a regular container with restartPolicy Always: its score is not above that of the smallest regular one.
    const score =
      container.isSidecar && leastOfRegular !== null ? Math.min(own, scoreOf(leastOfRegular)) : own
    if (score < 1000 + guaranteedOomScoreAdj) return 1000 + guaranteedOomScoreAdj
    return score === bestEffortOomScoreAdj ? bestEffortOomScoreAdj - 1 : score
  }
}

const int64 = (value: bigint) => BigInt.asIntN(64, value)

/** Static and mirror pods are critical at any priority, but node-critical only by class. Upstream: pkg/kubelet/types/pod_update.go */
const isNodeCriticalPod = (pod: Pod) =>
  pod.priorityClassName === 'system-node-critical' && isCriticalPod(pod)

const memoryRequest = ({ requests }: PodContainer) => bytesOf(requests.get('memory'))

const bytesOf = (memory: Quantity | undefined) => (memory ? quantityValue(memory) : 0n)

/** Null: no regular container. API servers refuse such a pod. */
const minRegularContainerMemory = ({ containers }: Pod) =>
  containers
    .map(memoryRequest)
    .reduce<bigint | null>(
      (least, request) => (least === null || request < least ? request : least),
      null,
    )

/** Each container's share of the pod-level request beyond the containers' own requests. */
function remainingPodMemReqPerContainer(pod: Pod, kubelet: Kubelet) {
  const requested = kubelet.isGateOn('PodLevelResources')
    ? pod.resources?.requests.get('memory')
    : undefined
  const count = BigInt(pod.containers.length + pod.initContainers.length)
  if (!requested || signOf(requested) === 0 || count === 0n) return 0n
  const remaining = int64(quantityValue(requested) - aggregateContainerMemory(pod))
  if (remaining < 0n && kubelet.features.has('oomShareNotNegative')) return 0n
  return remaining / count
}

/** The sum of containers and sidecars, or the highest need of the init containers. Upstream: AggregateContainerRequests. */
function aggregateContainerMemory({ containers, initContainers }: Pod) {
  let total = containers.reduce((sum, { requests }) => sumOf(sum, requests.get('memory')), noMemory)
  let sidecars = noMemory
  let greatest = noMemory
  for (const { requests, isSidecar } of initContainers) {
    const moment = sumOf(sidecars, requests.get('memory'))
    if (isSidecar) {
      total = sumOf(total, requests.get('memory'))
      sidecars = moment
    }
    if (compareQuantities(moment, greatest) > 0) greatest = moment
  }
  return quantityValue(compareQuantities(greatest, total) > 0 ? greatest : total)
}

const sumOf = (sum: Quantity, added: Quantity | undefined) =>
  added ? addQuantities(sum, added) : sum
