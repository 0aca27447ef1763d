/**
 * QoS classes.
 *
 * Replays       pkg/apis/core/v1/helper/qos/qos.go  GetPodQOS, ComputePodQOS, requirementsQOS, resourceQOS
 * Read at       1.29 to 1.37; a stored class counts since 1.29, pod-level resources if their gate is on, since 1.37 each resource of each container decides
 * Kept exactly  only cpu and memory; init containers count; up to 1.36 only amounts above zero count and their sums are compared,
 *               and any `spec.resources`, even an empty one, replaces the containers' resources
 * Left out      a stored class other than the three, which upstream keeps: here the class is computed instead
 */

import {
  addQuantities,
  binaryQuantity,
  compareQuantities,
  type Quantity,
  signOf,
} from '#base/go/quantity.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod, PodContainer, PodResources } from './pod.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const qosClasses: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort']
const qosResources = ['cpu', 'memory'] as const
const noQuantity = binaryQuantity(0)

interface Requirements {
  requests: PodResources
  limits: PodResources
}

/** The QoS class that a kubelet of this version uses. Upstream: GetPodQOS. */
export function podQosClass(pod: Pod, kubelet: Kubelet): QosClass {
  return qosClasses.find(known => known === pod.qosClass) ?? computePodQos(pod, kubelet)
}

function computePodQos(pod: Pod, kubelet: Kubelet): QosClass {
  const requirements = qosRequirements(pod, kubelet)
  return kubelet.features.has('qosByRequirement')
    ? qosOfEach(requirements)
    : qosOfSums(requirements)
}

function qosRequirements(pod: Pod, kubelet: Kubelet): readonly Requirements[] {
  const { containers, initContainers, resources } = pod
  const isPodLevel =
    resources !== null &&
    kubelet.isGateOn('PodLevelResources') &&
    (!kubelet.isGateOn('PodLevelResourcesFixKubeletQOSClass') || isPodLevelResourcesSet(pod))
  return isPodLevel ? [resources] : [...initContainers, ...containers]
}

function qosOfSums(requirements: readonly Requirements[]): QosClass {
  let hasAny = false
  let isGuaranteed = true
  for (const resource of qosResources) {
    const requests = positiveAmounts(requirements.map(({ requests }) => requests.get(resource)))
    const limits = positiveAmounts(requirements.map(({ limits }) => limits.get(resource)))
    const [request, limit] = [requests.reduce(sum, null), limits.reduce(sum, null)]
    hasAny ||= request !== null || limit !== null
    isGuaranteed &&=
      request !== null &&
      limit !== null &&
      limits.length === requirements.length &&
      compareQuantities(request, limit) === 0
  }
  if (!hasAny) return 'BestEffort'
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

const positiveAmounts = (quantities: (Quantity | undefined)[]) =>
  quantities.filter(
    (quantity): quantity is Quantity => quantity !== undefined && signOf(quantity) > 0,
  )

/** If all containers of a pod, and both resources of each container, have one class, that is the result; else Burstable. */
function qosOfEach(requirements: readonly Requirements[]): QosClass {
  const classes = new Set(
    requirements.flatMap(resources => qosResources.map(name => resourceQos(resources, name))),
  )
  const [only = 'BestEffort'] = classes
  return classes.size > 1 ? 'Burstable' : only
}

/** Upstream: resourceQOS. */
function resourceQos({ requests, limits }: Requirements, name: string): QosClass {
  const request = requests.get(name) ?? noQuantity
  if (compareQuantities(request, limits.get(name) ?? noQuantity) !== 0) return 'Burstable'
  return signOf(request) === 0 ? 'BestEffort' : 'Guaranteed'
}

/*
 * The requests of a whole pod, and its limit of ephemeral storage.
 *
 * Replays       pkg/api/v1/resource/helpers.go  GetResourceRequestQuantity, PodLimits (to 1.31);
 *               k8s.io/component-helpers/resource/helpers.go  PodLimits, PodRequests, AggregateContainerLimits, IsPodLevelResourcesSet (since 1.32)
 * Read at       1.29 to 1.37; requests and pod-level resources since 1.34
 * Kept exactly  overhead counts only on top of an amount; a pod with only pod-level limits requests nothing (gate PodLevelResources);
 *               with the gate off a pod-level request still replaces the containers'
 * Left out      resources allocated by an in-place resize, where they differ from the manifest's
 */

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

const sum = (a: Quantity | null, b: Quantity | null | undefined): Quantity | null =>
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
