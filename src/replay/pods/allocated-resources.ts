/**
 * The resources that the kubelet has allocated to a pod. They differ from the manifest's while an in-place resize is pending.
 *
 * Replays       pkg/kubelet/allocation/allocation_manager.go  UpdatePodFromAllocation;  pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses
 * Read at       1.32 to 1.37, with the gate InPlacePodVerticalScaling
 * Kept exactly  only requests of cpu and memory: nothing else can be resized
 * Left out      limits of cpu and memory, which no decision reads; pod-level resources, whose resize is alpha
 */
import type { ContainerSpec, ContainerStatus, KubernetesPod } from '#model/kubernetes.ts'
import type { Kubelet } from '#replay/kubelet.ts'

export const usesAllocatedResources = ({ features, isGateOn }: Kubelet): boolean =>
  features.has('evictionUsesAllocatedResources') && isGateOn('InPlacePodVerticalScaling')

/** The pod with the requests that its status reports as allocated. Requests without a report stay as in the manifest. */
export function withAllocatedResources(pod: KubernetesPod): KubernetesPod {
  const { spec, status } = pod
  if (!spec) return pod
  if (!status) return pod
  const containers = allocated(spec.containers, status.containerStatuses)
  const initContainers = allocated(spec.initContainers, status.initContainerStatuses)
  return containers === spec.containers && initContainers === spec.initContainers
    ? pod
    : { ...pod, spec: { ...spec, containers, initContainers } }
}

/** Mostly the list itself: no status reports an amount. */
function allocated(
  containers: ContainerSpec[] | undefined,
  statuses: readonly ContainerStatus[] = [],
): ContainerSpec[] | undefined {
  if (!statuses.some(({ resources, allocatedResources }) => resources ?? allocatedResources))
    return containers
  return containers?.map(container => {
    const status = statuses.find(({ name }) => name === container.name)
    const requests = { ...status?.resources?.requests, ...status?.allocatedResources }
    const written = container.resources?.requests ?? {}
    const resized = ['cpu', 'memory'].filter(
      name => (requests[name] ?? written[name]) !== written[name],
    )
    if (resized.length === 0) return container
    const changed = Object.fromEntries(resized.map(name => [name, requests[name]]))
    return {
      ...container,
      resources: { ...container.resources, requests: { ...written, ...changed } },
    }
  })
}
