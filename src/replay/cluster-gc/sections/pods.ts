/** Pods that are finished or Terminating, as pod GC sees them. Nothing is kept of other pods. */

import { byText } from '#base/text.ts'
import { podGcQuarantineMs, terminatedPodThreshold } from '#facts/kubernetes/controllers.ts'
import type {
  HeldFinalizer,
  PodGarbage,
  TerminatedPod,
  TerminatingPod,
} from '#model/cluster-garbage.ts'
import {
  type ClusterObject,
  type EksCluster,
  isObjectOf,
  type KubernetesNode,
  type KubernetesPod,
} from '#model/input/record.ts'
import type { Certainty } from '#model/prediction.ts'
import {
  compareTimes,
  controllerIn,
  controllersIn,
  keyOf,
  nameOf,
  type ObjectMetadata,
  type OpenSection,
  Packed,
  parseMetadata,
  readyCondition,
  type Section,
  type SectionContext,
  slim,
  slimMetadata,
  timeOf,
} from '#replay/cluster-gc/section.ts'

export const pods: Section<'pods'> = { resources: ['pods'], open: () => new Pods() }

class Pods implements OpenSection<PodGarbage> {
  readonly #kept = new Packed<KeptPod>()

  take(resource: string, pod: ClusterObject) {
    if (!isObjectOf('pods', resource, pod)) return
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
      nodes && new Map(nodes.map(node => [nameOf(node), readyCondition(node)?.status === 'True']))
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
  return metadata ? metadata.uid || keyOf(metadata) : ''
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
  const { status, finishedMs } = pod
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    phase: status?.phase ?? '',
    reason: status?.reason ?? null,
    controller: controllerIn(metadata),
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
    isLetGo: isKubeletDone(pod),
  }
}

/**
 * Whether the kubelet is done with the pod: it deletes a terminated pod again with grace period 0. The API server deletes an already terminated pod at once.
 * If the field is missing, the phase decides. Upstream: pkg/registry/core/pod/strategy.go CheckGracefulDelete, pkg/kubelet/status/status_manager.go syncPod
 */
function isKubeletDone({ metadata, status }: KubernetesPod) {
  const gracePeriodSeconds = metadata?.deletionGracePeriodSeconds ?? null
  return gracePeriodSeconds === null ? !alive.has(status?.phase ?? '') : gracePeriodSeconds === 0
}

function nodeState(node: string | null, readyNodes: ReadonlyMap<string, boolean> | null) {
  if (node === null) return 'none'
  if (!readyNodes) return 'not-read'
  const isReady = readyNodes.get(node)
  if (isReady === undefined) return 'gone'
  return isReady ? 'ready' : 'not-ready'
}

/*
 * Pod GC: which pods the control plane would delete in a round, why, and which it would delete first if more pods had finished.
 *
 * Replays       pkg/controller/podgc/gc_controller.go  gc, gcTerminated, gcTerminating, gcOrphaned, gcUnscheduledTerminating,
 *                                                      byEvictionAndCreationTimestamp
 *               pkg/kubelet/eviction/helpers.go        PodIsEvicted
 * Read at       1.29 to 1.37
 * Kept exactly  a pod without a phase counts as terminated; an evicted pod is also Failed; a threshold of 0 or below switches the first step off;
 *               a missing creation time is before all others; pods with equal time and name have no order
 * Left out      the status that a deleted pod gets; deletions that fail; switched gates PodDisruptionConditions, JobPodReplacementPolicy and NodeOutOfServiceVolumeDetach
 */

export interface PodGcInput {
  pods: readonly KubernetesPod[]
  /** Null: not read. */
  nodes: readonly KubernetesNode[] | null
  /** `--terminated-pod-gc-threshold`; null: not known. */
  terminatedPodThreshold: number | null
  /** For each deleted node, by name: how long the controller has seen pods of that node, in ms. */
  missingForMs: ReadonlyMap<string, number>
}

/** The reasons as upstream's metric names them. */
type PodGcReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled'

interface PodDeletion {
  /** `namespace/name` */
  pod: string
  uid: string
  reason: PodGcReason
  certainty: Certainty
  /** Order within the step, from 0. Equal: upstream has no order between these. Null: the step has no order. */
  rank: number | null
}

interface PodGcRound {
  /** Each pod once, under the first step that deletes it, in the order of the steps. */
  deletions: PodDeletion[]
  /** All finished pods, first to be deleted first. Equal `rank`: upstream has no order. */
  terminated: { pod: string; uid: string; rank: number }[]
  /** Number of finished pods above the threshold; null: not known. */
  excess: number | null
}

interface CountedPod {
  metadata: ObjectMetadata
  nodeName: string
  phase: string
  isEvicted: boolean
}

interface Chosen {
  pod: CountedPod
  reason: PodGcReason
  certainty: Certainty
  rank: number | null
}

/** Null: the threshold is unknown. Upstream: a threshold of 0 or less deletes none. */
function excessOf(count: number, threshold: number | null) {
  if (threshold === null) return null
  return threshold > 0 ? count - threshold : 0
}

export function podGc({
  pods: rawPods,
  nodes,
  terminatedPodThreshold,
  missingForMs,
}: PodGcInput): PodGcRound {
  const pods = rawPods.map(parsePod).filter(pod => pod !== null)
  const terminated = rankPods(pods.filter(isPodTerminated))
  const excess = excessOf(terminated.length, terminatedPodThreshold)
  const chosen = [
    ...gcTerminated(terminated, excess ?? 0),
    ...(nodes ? gcTerminating(pods, nodes) : []),
    ...(nodes ? gcOrphaned(pods, nodes, missingForMs) : []),
    ...gcUnscheduledTerminating(pods),
  ]
  return {
    deletions: firstOfEach(chosen).map(deletion),
    terminated: terminated.map(({ pod, rank }) => ({
      pod: keyOf(pod.metadata),
      uid: pod.metadata.uid,
      rank,
    })),
    excess: excess === null ? null : Math.max(0, excess),
  }
}

/** Null: the object has no status, so its phase is not known. */
function parsePod(raw: KubernetesPod): CountedPod | null {
  const metadata = parseMetadata(raw)
  const status = raw.status
  if (!metadata || !status) return null
  const phase = status.phase ?? ''
  return {
    metadata,
    nodeName: raw.spec?.nodeName ?? '',
    phase,
    isEvicted: phase === 'Failed' && status.reason === 'Evicted',
  }
}

const isPodTerminated = ({ phase }: CountedPod) => !alive.has(phase)

const isTerminating = ({ metadata }: CountedPod) => metadata.deletedMs !== null

function rankPods(pods: CountedPod[]) {
  const compare = (a: CountedPod, b: CountedPod) =>
    Number(b.isEvicted) - Number(a.isEvicted) ||
    compareTimes(a.metadata.createdMs, b.metadata.createdMs) ||
    byText(a.metadata.name, b.metadata.name)
  const sorted = pods.toSorted(compare)
  let rank = 0
  return sorted.map((pod, index) => {
    const before = sorted[index - 1]
    if (before && compare(before, pod) !== 0) rank = index
    return { pod, rank }
  })
}

/** If a kept pod is equal to the last deleted pod, either of them might be deleted. */
function gcTerminated(
  terminated: { pod: CountedPod; rank: number }[],
  deleteCount: number,
): Chosen[] {
  const firstKept = terminated[deleteCount]?.rank ?? terminated.length
  const lastDeleted = terminated[deleteCount - 1]?.rank ?? -1
  return terminated
    .filter(({ rank }) => rank <= lastDeleted)
    .map(({ pod, rank }) => ({
      pod,
      reason: 'terminated',
      certainty: rank < firstKept ? 'certain' : 'possible',
      rank,
    }))
}

function gcTerminating(pods: CountedPod[], nodes: readonly KubernetesNode[]): Chosen[] {
  const outOfService = new Set(nodes.filter(isOutOfService).map(node => parseMetadata(node)?.name))
  return rankPods(pods.filter(pod => isTerminating(pod) && outOfService.has(pod.nodeName))).map(
    ({ pod, rank }) => ({ pod, reason: 'out-of-service', certainty: 'certain', rank }),
  )
}

const isOutOfService = (node: KubernetesNode) =>
  readyCondition(node)?.status !== 'True' &&
  (node.spec?.taints ?? []).some(taint => taint.key === 'node.kubernetes.io/out-of-service')

function gcOrphaned(
  pods: CountedPod[],
  nodes: readonly KubernetesNode[],
  missingForMs: ReadonlyMap<string, number>,
): Chosen[] {
  const existing = new Set(nodes.map(node => parseMetadata(node)?.name))
  return pods.flatMap(pod => {
    const missing = missingForMs.get(pod.nodeName)
    const isQuarantined = missing !== undefined && missing < podGcQuarantineMs
    if (pod.nodeName === '' || existing.has(pod.nodeName) || isQuarantined) return []
    const certainty = missing === undefined ? 'possible' : 'certain'
    return [{ pod, reason: 'orphaned', certainty, rank: null }]
  })
}

const gcUnscheduledTerminating = (pods: CountedPod[]): Chosen[] =>
  pods
    .filter(pod => isTerminating(pod) && pod.nodeName === '')
    .map(pod => ({ pod, reason: 'unscheduled', certainty: 'certain', rank: null }))

/** If an earlier step only possibly deletes a pod, the step that certainly deletes it counts. */
function firstOfEach(chosen: Chosen[]) {
  const first = new Map<CountedPod, Chosen>()
  for (const each of chosen) {
    const earlier = first.get(each.pod)
    if (!earlier || (earlier.certainty === 'possible' && each.certainty === 'certain'))
      first.set(each.pod, each)
  }
  return chosen.filter(each => first.get(each.pod) === each)
}

const deletion = ({ pod: { metadata }, ...chosen }: Chosen): PodDeletion => ({
  pod: keyOf(metadata),
  uid: metadata.uid,
  ...chosen,
})
