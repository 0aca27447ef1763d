/** Pods that are finished or Terminating, as pod GC sees them. Nothing is kept of other pods. */
import { terminatedPodThreshold } from '#facts/kubernetes/controllers.ts'
import type {
  HeldFinalizer,
  PodGarbage,
  TerminatedPod,
  TerminatingPod,
} from '#model/finding/cluster-garbage.ts'
import type { EksCluster } from '#model/input/cluster-input.ts'
import { isOf } from '#model/input/cluster-objects.ts'
import type { ClusterObject, KubernetesPod } from '#model/input/kubernetes.ts'
import {
  controllerIn,
  controllersIn,
  nameOf,
  Packed,
  slim,
  slimMetadata,
} from '#replay/cluster-gc/kept-objects.ts'
import { conditionOf, keyOf, parseMetadata, timeOf } from '#replay/cluster-gc/metadata.ts'
import { podGc } from '#replay/cluster-gc/pod-gc.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'

export const pods: Section<'pods'> = { resources: ['pods'], open: () => new Pods() }

class Pods implements OpenSection<PodGarbage> {
  readonly #kept = new Packed<KeptPod>()

  take(resource: string, pod: ClusterObject) {
    if (!isOf('pods', resource, pod)) return
    const { status } = pod
    const isOver = status !== undefined && !alive.has(status.phase ?? '')
    if (isOver || timeOf(pod.metadata?.deletionTimestamp) !== null) this.#kept.push(slimPod(pod))
  }

  close({ eks, nodes, holderOf }: SectionContext): PodGarbage {
    const threshold = thresholdIn(eks)
    const byUid = new Map(Array.from(this.#kept, pod => [uidOf(pod), pod]))
    const kept = [...byUid.values()]
    const round = podGc({
      pods: kept,
      nodes,
      terminatedPodThreshold: threshold.pods,
      missingForMs: new Map(),
    })
    const taken = new Set(round.deletions.map(({ uid, pod }) => uid || pod))
    const readyNodes =
      nodes &&
      new Map(nodes.map(node => [nameOf(node), conditionOf(node, 'Ready')?.status === 'True']))
    return {
      terminated: round.terminated.flatMap(
        ({ uid, pod }) => terminatedPod(byUid.get(uid || pod)) ?? [],
      ),
      threshold,
      excess: round.excess ?? 0,
      terminating: kept.flatMap(pod => terminatingPod(pod, { readyNodes, taken, holderOf }) ?? []),
    }
  }
}

type KeptPod = KubernetesPod & { finishedMs: number | null }

/** Upstream: pkg/controller/podgc/gc_controller.go isPodTerminated. */
const alive: ReadonlySet<string> = new Set(['Pending', 'Running', 'Unknown'])

const uidOf = (pod: KubernetesPod) => {
  const metadata = parseMetadata(pod)
  return metadata === null ? '' : metadata.uid || keyOf(metadata)
}

function slimPod(pod: KubernetesPod): KeptPod {
  const { metadata, spec, status } = pod
  return {
    metadata: {
      ...slimMetadata(pod, [
        'creationTimestamp',
        'deletionTimestamp',
        'deletionGracePeriodSeconds',
        ...((metadata?.finalizers ?? []).length > 0 ? (['finalizers'] as const) : []),
      ]),
      ownerReferences: controllersIn(pod).slice(0, 1),
    },
    spec: slim(spec, ['nodeName']),
    status: slim(status, ['phase', 'reason']),
    finishedMs: finishedMs(status),
  }
}

/** When the pod's last container ended; null: no container reports an end, as for a pod that the kubelet refused. */
function finishedMs(status: KubernetesPod['status']) {
  const ends = (status?.containerStatuses ?? [])
    .map(container => timeOf(container.state?.terminated?.finishedAt))
    .filter(time => time !== null)
  return ends.length === 0 ? null : Math.max(...ends)
}

/** Source: EKS API reference, KubeControllerManagerConfigResponse. */
function thresholdIn(eks: EksCluster | null) {
  const podGcConfig = eks?.kubeControllerManagerConfig?.podGcControllerConfig
  const threshold = podGcConfig?.terminatedPodGcThreshold ?? null
  return { pods: threshold ?? terminatedPodThreshold, isAssumed: threshold === null }
}

function terminatedPod(pod: KeptPod | undefined): TerminatedPod | null {
  const metadata = parseMetadata(pod)
  if (!pod || !metadata) return null
  const { spec, status, finishedMs } = pod
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    phase: status?.phase ?? '',
    reason: status?.reason ?? null,
    controller: controllerIn(metadata),
    node: spec?.nodeName || null,
    createdMs: metadata.createdMs,
    finishedMs,
    isBeingDeleted: metadata.deletedMs !== null,
  }
}

function terminatingPod(
  pod: KubernetesPod,
  {
    readyNodes,
    taken,
    holderOf,
  }: {
    readyNodes: ReadonlyMap<string, boolean> | null
    taken: ReadonlySet<string>
    holderOf: (finalizer: string) => HeldFinalizer
  },
): TerminatingPod | null {
  const metadata = parseMetadata(pod)
  if (!metadata || metadata.deletedMs === null) return null
  const node = pod.spec?.nodeName || null
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    controller: controllerIn(metadata),
    node,
    sinceMs: metadata.deletedMs,
    finalizers: metadata.finalizers.map(holderOf),
    nodeState: nodeState(node, readyNodes),
    isTakenByPodGc: taken.has(uidOf(pod)),
    isLetGo: isLetGo(pod),
  }
}

/**
 * Whether the kubelet is done with the pod: it deletes a terminated pod again with grace period 0. The API server deletes an already terminated pod at once.
 * If the field is missing, the phase decides. Upstream: pkg/registry/core/pod/strategy.go CheckGracefulDelete, pkg/kubelet/status/status_manager.go syncPod
 */
function isLetGo({ metadata, status }: KubernetesPod) {
  const gracePeriodSeconds = metadata?.deletionGracePeriodSeconds ?? null
  return gracePeriodSeconds === null ? !alive.has(status?.phase ?? '') : gracePeriodSeconds === 0
}

function nodeState(node: string | null, readyNodes: ReadonlyMap<string, boolean> | null) {
  if (node === null) return 'none'
  if (readyNodes === null) return 'not-read'
  const isReady = readyNodes.get(node)
  if (isReady === undefined) return 'gone'
  return isReady ? 'ready' : 'not-ready'
}
