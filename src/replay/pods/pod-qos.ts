/**
 * QoS classes.
 *
 * Replays       pkg/apis/core/v1/helper/qos/qos.go  GetPodQOS, ComputePodQOS, requirementsQOS, resourceQOS
 * Read at       1.29 to 1.37; a stored class counts since 1.29, pod-level resources if their gate is on, since 1.37 each resource of each container decides
 * Kept exactly  only cpu and memory; init containers count; up to 1.36 only amounts above zero count and their sums are compared,
 *               and any `spec.resources`, even an empty one, replaces the containers' resources
 * Left out      a stored class other than the three, which upstream keeps: here the class is computed instead
 */

import { compareQuantities, type Quantity, signOf } from '#base/go/quantity.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod, PodResources } from './pod.ts'
import { isPodLevelResourcesSet, noQuantity, sum } from './pod-requests.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const qosClasses: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort']
const qosResources = ['cpu', 'memory'] as const

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
