/**
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

import { byText } from '#base/text/text-order.ts'
import { podGcQuarantineMs } from '#facts/kubernetes/controllers.ts'
import type { KubernetesNode, KubernetesPod } from '#model/input/kubernetes.ts'
import type { Certainty } from '#model/prediction/prediction.ts'
import { compareTimes, conditionOf, keyOf, type ObjectMetadata, parseMetadata } from './metadata.ts'

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
export type PodGcReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled'

export interface PodDeletion {
  /** `namespace/name` */
  pod: string
  uid: string
  reason: PodGcReason
  certainty: Certainty
  /** Order within the step, from 0. Equal: upstream has no order between these. Null: the step has no order. */
  rank: number | null
}

export interface PodGcRound {
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
  const terminated = ranked(pods.filter(isPodTerminated))
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
  const phase = status?.phase ?? ''
  return {
    metadata,
    nodeName: raw.spec?.nodeName ?? '',
    phase,
    isEvicted: phase === 'Failed' && status.reason === 'Evicted',
  }
}

const isPodTerminated = ({ phase }: CountedPod) =>
  phase !== 'Pending' && phase !== 'Running' && phase !== 'Unknown'

const isTerminating = ({ metadata }: CountedPod) => metadata.deletedMs !== null

function ranked(pods: CountedPod[]) {
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
  return ranked(pods.filter(pod => isTerminating(pod) && outOfService.has(pod.nodeName))).map(
    ({ pod, rank }) => ({ pod, reason: 'out-of-service', certainty: 'certain', rank }),
  )
}

const isOutOfService = (node: KubernetesNode) =>
  conditionOf(node, 'Ready')?.status !== 'True' &&
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
    return [
      {
        pod,
        reason: 'orphaned',
        certainty: missing === undefined ? 'possible' : 'certain',
        rank: null,
      },
    ]
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
