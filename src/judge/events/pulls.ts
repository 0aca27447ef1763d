import { isOfPull, type PullCause, pullCause, pulledImage } from '#facts/kubelet/event-messages.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import type { NodeEvent } from '#judge/cluster-facts.ts'
import { bounded } from '#judge/text.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { byText } from '#model/text-order.ts'
import { type EventTimes, eventTimes, isWithin, recentEvents } from './events.ts'
import { registryOf } from './images.ts'

export interface PullFailure extends EventTimes {
  pod: string
  image: string | null
  registry: string | null
  cause: PullCause | null
  message: string
  isPulledSince: boolean
}

const reasons = ['Failed', 'BackOff', 'ErrImageNeverPull', 'InspectFailed']
const podOf = ({ pod }: NodeEvent): string => (pod ? `${pod.namespace}/${pod.name}` : '')

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
      }
    })
  })
}

/**
 * Latest container start within the last hour, by `namespace/pod`. Pods are left out while one of
 * their containers waits for its image.
 */
export function recentStarts(pods: readonly KubernetesPod[], at: string): Record<string, string> {
  return Object.fromEntries(
    pods.flatMap(pod => {
      const { metadata, status } = pod
      const statuses = [
        ...(status?.containerStatuses ?? []),
        ...(status?.initContainerStatuses ?? []),
      ]
      const started = statuses
        .flatMap(({ state }) => [state?.running?.startedAt, state?.terminated?.startedAt])
        .filter(time => typeof time === 'string' && isWithin(time, at))
      const last = started.map(String).toSorted(byText).at(-1)
      return last === undefined || waitingOf(pod).length > 0
        ? []
        : [[`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`, last]]
    }),
  )
}

export interface WaitingContainer {
  pod: string
  image: string
  reason: string
  message: string
}

export function waitingOf({ metadata, status }: KubernetesPod): WaitingContainer[] {
  const statuses = [
    status?.initContainerStatuses,
    status?.containerStatuses,
    status?.ephemeralContainerStatuses,
  ]
  return statuses.flatMap(list =>
    (list ?? []).flatMap(({ image = '', state }) => {
      const { reason, message } = state?.waiting ?? {}
      if (reason === undefined || !pullErrors.has(reason)) return []
      const text = bounded(typeof message === 'string' ? message : '', 1024)
      return [
        {
          pod: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`,
          image,
          reason,
          message: text,
        },
      ]
    }),
  )
}
