/**
 * The requests of a whole pod, and its limit of ephemeral storage.
 *
 * Replays       pkg/api/v1/resource/helpers.go  GetResourceRequestQuantity, PodLimits (to 1.31);
 *               k8s.io/component-helpers/resource/helpers.go  PodLimits, PodRequests, AggregateContainerLimits, IsPodLevelResourcesSet (since 1.32)
 * Read at       1.29 to 1.37; requests and pod-level resources since 1.34
 * Kept exactly  overhead counts only on top of an amount; a pod with only pod-level limits requests nothing (gate PodLevelResources);
 *               with the gate off a pod-level request still replaces the containers'
 * Left out      resources allocated by an in-place resize, where they differ from the manifest's
 */

import {
  addQuantities,
  binaryQuantity,
  compareQuantities,
  type Quantity,
  signOf,
} from '#base/go/quantity.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod, PodContainer } from './pod.ts'

export const noQuantity = binaryQuantity(0)

/** The pod's request that the eviction ranking compares with its usage. */
export function getResourceRequestQuantity(pod: Pod, resource: string, kubelet: Kubelet): Quantity {
  const request = requestWithoutOverhead(pod, resource, kubelet) ?? noQuantity
  return withOverhead(request, pod, resource)
}

function requestWithoutOverhead(pod: Pod, resource: string, kubelet: Kubelet) {
  const requested = (container: PodContainer) => container.requests.get(resource)
  if (!kubelet.features.has('standardPodRequests')) return aggregate(pod, requested, false)
  const podLevel = isPodLevelResource(resource) ? pod.resources?.requests.get(resource) : undefined
  if (podLevel) return podLevel
  return isPodLevelResourcesSet(pod) && kubelet.isGateOn('PodLevelResources')
    ? null
    : aggregate(pod, requested, true)
}

/** Null: no container has a limit, so the pod has none. */
export function ephemeralStorageLimit(pod: Pod): Quantity | null {
  const limit = aggregate(pod, container => container.limits.get('ephemeral-storage'), true)
  return limit && withOverhead(limit, pod, 'ephemeral-storage')
}

function withOverhead(quantity: Quantity, { overhead }: Pod, resource: string) {
  const added = overhead.get(resource)
  return added && signOf(quantity) !== 0 ? addQuantities(quantity, added) : quantity
}

/** The sum over all containers, or the largest need of initialising. Sidecars, where they count, add to both. */
function aggregate(
  { containers, initContainers }: Pod,
  quantityOf: (container: PodContainer) => Quantity | undefined,
  countsSidecars: boolean,
) {
  let running: Quantity | null = null
  let sidecars: Quantity | null = null
  let initialising: Quantity | null = null
  for (const container of containers) running = sum(running, quantityOf(container))
  for (const container of initContainers) {
    const own = quantityOf(container)
    if (countsSidecars && container.isSidecar) {
      running = sum(running, own)
      sidecars = sum(sidecars, own)
      initialising = greaterQuantity(initialising, sidecars)
    } else {
      initialising = greaterQuantity(initialising, sum(own ?? null, sidecars))
    }
  }
  return greaterQuantity(running, initialising)
}

export const sum = (a: Quantity | null, b: Quantity | null | undefined): Quantity | null =>
  a && b ? addQuantities(a, b) : (a ?? b ?? null)

/** If both are equal, the first, because its format is kept. */
function greaterQuantity(a: Quantity | null, b: Quantity | null) {
  if (!a || !b) return a ?? b
  return compareQuantities(b, a) > 0 ? b : a
}

/** Since 1.33 also huge pages. Before, the API server refuses them at pod level. Upstream: IsSupportedPodLevelResource. */
const isPodLevelResource = (resource: string) =>
  resource === 'cpu' || resource === 'memory' || resource.startsWith('hugepages-')

/** Upstream: IsPodLevelResourcesSet, since 1.34. */
export const isPodLevelResourcesSet = ({ resources }: Pod): boolean =>
  resources !== null &&
  [...resources.requests.keys(), ...resources.limits.keys()].some(isPodLevelResource)
