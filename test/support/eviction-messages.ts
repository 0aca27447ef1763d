/**
 * The kubelet's texts for an evicted pod: its status message, the annotations of its event, its condition. No rule reads them.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  evictionMessage, getThresholdMetInfo;
 *               pkg/kubelet/eviction/eviction_manager.go  evictPod, localStorageEviction
 * Read at       1.29 to 1.37; init containers since 1.32, the pod's own request since 1.34
 * Kept exactly  the blank at the end; a threshold prints as a binary quantity, even for inodes and pids; their available amount prints as decimal;
 *               only memory and storage messages name containers: those above their requests
 * Left out      allocated instead of requested memory (to 1.31 with the gate InPlacePodVerticalScaling, off)
 */

import { goQuote } from '#base/go/go-text.ts'
import {
  binaryQuantity,
  canonicalText,
  compareQuantities,
  formatBytes,
  parseQuantity,
} from '#base/go/quantity.ts'
import type { Observation, Threshold } from '#model/prediction.ts'
import type { Eviction, Outcome, Pass } from '#replay/eviction/synchronize.ts'
import { getThresholdQuantity } from '#replay/eviction/thresholds.ts'
import type { StorageLimitExceeded } from '#replay/eviction/victims.ts'
import { resourceOf, type StarvedResource } from '#replay/eviction/victims.ts'
import {
  type ContainerStats,
  ephemeralStorageLimit,
  isPodLevelResourcesSet,
  type Pod,
  type PodStats,
  podStatsOf,
} from '#replay/pods.ts'
import type { Kubelet } from '#replay/times.ts'

export interface EvictionMessage {
  message: string
  annotations: Readonly<Record<string, string>>
}

export interface EvictedPodTexts {
  message: string
  /** Annotations of the event. Null: upstream sets none. */
  annotations: Readonly<Record<string, string>> | null
  disruptionTarget: { status: 'True'; reason: 'TerminationByKubelet'; message: string } | null
}

/** @param pass the pass with this outcome */
export function textsOf(
  { pod, exceeded }: Eviction,
  { picked }: Outcome,
  { observations, podStats, kubelet }: Omit<Pass, 'pods'>,
): EvictedPodTexts {
  if (exceeded)
    return { message: limitMessage(exceeded), annotations: null, disruptionTarget: null }
  if (picked === null) throw new Error('an eviction without a reason')
  const { message, annotations } = evictionMessage(
    picked,
    observations?.[picked.signal],
    pod,
    podStatsOf(podStats, pod),
    kubelet,
  )
  const target = { status: 'True', reason: 'TerminationByKubelet', message } as const
  return { message, annotations, disruptionTarget: setsDisruptionTarget(kubelet) ? target : null }
}

const setsDisruptionTarget = ({ features, isGateOn }: Kubelet) =>
  features.has('disruptionTargetUngated') || isGateOn('PodDisruptionConditions')

/** For a pod above a limit of local storage. */
export function limitMessage({ pod, limit, what }: StorageLimitExceeded): string {
  if (limit === 'pod')
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalText(ephemeralStorageLimit(pod) ?? noQuantity)}. `
  if (limit === 'emptyDir') {
    const sizeLimit = pod.volumes.find(({ name }) => name === what)?.emptyDir?.sizeLimit
    return `Usage of EmptyDir volume ${goQuote(what)} exceeds the limit ${goQuote(canonicalText(sizeLimit ?? noQuantity))}. `
  }
  const container = [...pod.containers, ...pod.initContainers].find(({ name }) => name === what)
  const storage = container?.limits.get('ephemeral-storage') ?? noQuantity
  return `Container ${what} exceeded its local ephemeral storage limit ${goQuote(canonicalText(storage))}. `
}

const noQuantity = binaryQuantity(0)

export function evictionMessage(
  threshold: Threshold,
  observed: Observation | undefined,
  pod: Pod,
  stats: PodStats | null,
  kubelet: Kubelet,
): EvictionMessage {
  const resource = resourceOf(threshold.signal)
  const low = `The node was low on resource: ${resource}. ${thresholdMetInfo(threshold, observed)}`
  if (!stats) return { message: low, annotations: {} }
  const ofPod = resource === 'memory' ? podUsage(pod, stats, kubelet) : null
  const offending = offendingContainers(resource, pod, stats, kubelet)
  return {
    message: [low, ofPod?.sentence ?? '', ...offending.map(({ sentence }) => sentence)].join(''),
    annotations: {
      ...(ofPod ? { offending_pod: pod.name, offending_pod_usage: ofPod.usage } : {}),
      offending_containers: offending.map(({ name }) => name).join(','),
      offending_containers_usage: offending.map(({ usage }) => usage).join(','),
      starved_resource: resource,
    },
  }
}

/** Upstream takes the first threshold of that resource. The picked threshold stands first. */
function thresholdMetInfo({ signal, value }: Threshold, observed: Observation | undefined) {
  if (!observed) return ''
  const isCounted = resourceOf(signal) === 'inodes' || resourceOf(signal) === 'pids'
  const available = isCounted
    ? canonicalText(parseQuantity(String(BigInt(observed.available))))
    : formatBytes(observed.available)
  return `Threshold quantity: ${canonicalText(getThresholdQuantity(value, observed.capacity))}, available: ${available}. `
}

interface Usage {
  usage: string
  sentence: string
}

function podUsage(pod: Pod, { memory }: PodStats, kubelet: Kubelet): Usage | null {
  const request = pod.resources?.requests.get('memory')
  const isNamed =
    kubelet.features.has('standardPodRequests') &&
    kubelet.isGateOn('PodLevelResources') &&
    isPodLevelResourcesSet(pod)
  if (!isNamed || !request || !memory) return null
  const usage = formatBytes(memory.workingSetBytes ?? 0)
  return {
    usage,
    sentence: `Pod ${pod.name} was using ${usage}, request is ${canonicalText(request)}, has larger consumption of memory. `,
  }
}

function offendingContainers(
  resource: StarvedResource,
  pod: Pod,
  stats: PodStats,
  { features }: Kubelet,
): (Usage & { name: string })[] {
  const namesInit = features.has('evictionMessageNamesInitContainers')
  const containers = namesInit ? [...pod.containers, ...pod.initContainers] : pod.containers
  return stats.containers.flatMap(running => {
    const usedBytes = usedBytesOf(resource, running)
    const container = containers.find(({ name }) => name === running.name)
    const request = container && (container.requests.get(resource) ?? binaryQuantity(0))
    if (
      usedBytes === null ||
      !request ||
      compareQuantities(binaryQuantity(usedBytes), request) <= 0
    )
      return []
    const usage = formatBytes(usedBytes)
    const asked = canonicalText(request)
    const sentence = `Container ${running.name} was using ${usage}, request is ${asked}, has larger consumption of ${resource}. `
    return [{ name: running.name, usage, sentence }]
  })
}

function usedBytesOf(
  resource: StarvedResource,
  { memoryWorkingSetBytes, rootfs, logs }: ContainerStats,
) {
  if (resource === 'memory') return memoryWorkingSetBytes
  if (resource !== 'ephemeral-storage' || rootfs.usedBytes === null || logs.usedBytes === null)
    return null
  return rootfs.usedBytes + logs.usedBytes
}
