import { byText } from '#base/text/text-order.ts'
import { isOfPull, type PullCause, pullCause, pulledImage } from '#facts/kubelet/event-messages.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import type { NodeEvent } from '#judge/subject/cluster-facts.ts'
import { podName, shorten } from '#judge/text.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'
import { controllerOf, statusesOf } from '#model/input/kubernetes.ts'
import { type EventTimes, eventTimes, isWithin, recentEvents } from './events.ts'
import { registryOf } from './images.ts'

export interface PullFailure extends EventTimes {
  pod: string
  image: string | null
  registry: string | null
  cause: PullCause | null
  message: string
  isPulledSince: boolean
  /** Of the image that each pod begins with: the runtime pulls it, without the credentials of the kubelet. */
  isOfSandbox: boolean
}

const sandboxFailed = 'FailedCreatePodSandBox'
const reasons = ['Failed', 'BackOff', 'ErrImageNeverPull', 'InspectFailed', sandboxFailed]
const podOf = ({ pod }: NodeEvent) => (pod ? `${pod.namespace}/${pod.name}` : '')

/**
 * Failed pulls of the last hour, one for each pod and image. Upstream reports a failure twice: with
 * the image in pkg/kubelet/images/image_manager.go EnsureImageExists, and without the image in
 * pkg/kubelet/kuberuntime startContainer.
 */
export function pullFailures(events: readonly NodeEvent[] | null, at: string): PullFailure[] {
  const pulled = recentEvents(events, at, ['Pulled'])
  const failed = recentEvents(events, at, reasons).filter(
    event => event.pod !== null && isOfPull(event.reason, event.message),
  )
  return [...Map.groupBy(failed, podOf)].flatMap(([pod, ofPod]) => {
    const byImage = Map.groupBy(ofPod, ({ message }) => pulledImage(message))
    if (byImage.size > 1) byImage.delete(null)
    return [...byImage].map(([image, ofImage]) => {
      const { first, last } = eventTimes(ofImage, at)
      const newest =
        ofImage.findLast(({ message }) => pullCause(message, image) !== null) ?? ofImage.at(-1)
      const message = newest?.message ?? ''
      const cause = pullCause(message, image)
      // One attempt produces up to three events. Only events of the newest reason and cause count.
      const same = ofImage.filter(
        event => event.reason === newest?.reason && pullCause(event.message, image) === cause,
      )
      const isPulledSince = pulled.some(
        event =>
          podOf(event) === pod &&
          pulledImage(event.message) === image &&
          last !== null &&
          (event.lastTime ?? '') > last,
      )
      const registry = image === null ? null : registryOf(image)
      return {
        count: eventTimes(same, at).count,
        first,
        last,
        pod,
        image,
        registry,
        cause,
        message,
        isPulledSince,
        isOfSandbox: newest?.reason === sandboxFailed,
      }
    })
  })
}

/**
 * Latest container start within the last hour, by `namespace/pod`. Pods are left out while one of
 * their containers waits for its image.
 */
export function recentStarts(pods: readonly KubernetesPod[], at: string): Record<string, string> {
  const starts: Record<string, string> = {}
  for (const pod of pods) {
    const { metadata } = pod
    let last: string | null = null
    for (const { state } of statusesOf(pod))
      for (const time of [state?.running?.startedAt, state?.terminated?.startedAt])
        if (isLater(time, last) && isWithin(time, at)) last = time
    if (last !== null && waitingOf(pod).length === 0) starts[podName(metadata)] = last
  }
  return starts
}

const isLater = (time: unknown, last: string | null): time is string =>
  typeof time === 'string' && (last === null || byText(time, last) > 0)

export interface WaitingContainer {
  pod: string
  /** `Kind name` of the pod's controller. Null: it has none. */
  workload: string | null
  image: string
  reason: string
  message: string
}

/** Containers that wait for an image which cannot be pulled. */
export const waitingOf = (pod: KubernetesPod): WaitingContainer[] =>
  waitingContainers(pod).filter(({ reason }) => pullErrors.has(reason))

export function waitingContainers(given: KubernetesPod): WaitingContainer[] {
  const { metadata, status } = given
  const waiting: WaitingContainer[] = []
  for (const statuses of [
    status?.initContainerStatuses,
    status?.containerStatuses,
    status?.ephemeralContainerStatuses,
  ])
    for (const { image = '', state } of statuses ?? []) {
      const { reason, message } = state?.waiting ?? {}
      if (reason === undefined) continue
      const pod = podName(metadata)
      const text = shorten(typeof message === 'string' ? message : '', 1024)
      waiting.push({ pod, workload: controllerOf(given), image, reason, message: text })
    }
  return waiting
}
