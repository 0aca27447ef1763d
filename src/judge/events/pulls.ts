/** Pulls that failed, by events and by the states of containers: which image, from which registry, and why. */

import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import type { NodeEvent } from '#judge/cluster-facts.ts'
import { bounded } from '#judge/text.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { byText } from '#model/text-order.ts'
import { isWithin, recentEvents, type Told, toldOf } from './events.ts'
import { registryOf } from './images.ts'

export const rateLimit = 'rate limit (429)'

/** Runtimes pass on what the registry says, each in its own words. */
const causes: readonly [RegExp, string][] = [
  [/toomanyrequests|too many requests|pull rate limit|status(?: code)?:? 429\b/i, rateLimit],
  [/no space left on device/i, 'no space left'],
  [/x509:|certificate/i, 'certificate (x509)'],
  [/unauthorized|denied|forbidden|authorization failed|no basic auth credentials/i, 'denied'],
  [/not found|manifest unknown|name unknown|not present with pull policy of Never/i, 'not found'],
  [/timeout|timed out|deadline exceeded/i, 'timeout'],
  [/no such host|connection refused|connection reset|no route to host/i, 'out of reach'],
  [/InvalidImageName|couldn't parse image|invalid reference format/i, 'invalid name'],
]

/** Null: none that is known. The image's own name, which may hold any word, is not looked at. */
export function causeOf(message: string, image: string | null): string | null {
  const said = image ? message.replaceAll(image, '') : message
  return causes.find(([words]) => words.test(said))?.[1] ?? null
}

/** Upstream prints it with %q. */
const imageIn = (message: string): string | null =>
  /image (?:tag )?"([^"\\\s]{1,500})"/.exec(message)?.[1] ?? null

export interface PullFailure extends Told {
  /** `namespace/pod`. */
  pod: string
  image: string | null
  registry: string | null
  cause: string | null
  message: string
  isPulledSince: boolean
}

const reasons = ['Failed', 'BackOff', 'ErrImageNeverPull', 'InspectFailed']
/** `Failed` stands for containers that did not start, too. */
const isOfPull = ({ reason, message }: NodeEvent) =>
  reason !== 'Failed' ||
  /pull(?:ing)? image|ErrImage|ImagePullBackOff|InvalidImageName|inspect image/i.test(message)

const podOf = ({ pod }: NodeEvent): string => (pod ? `${pod.namespace}/${pod.name}` : '')

/**
 * What failed to be pulled within the last hour, one for each pod and image.
 * Upstream: pkg/kubelet/images/image_manager.go EnsureImageExists tells the image, pkg/kubelet/kuberuntime startContainer once more without it.
 */
export function pullFailures(events: readonly NodeEvent[] | null, at: string): PullFailure[] {
  const pulled = recentEvents(events, at, ['Pulled'])
  const failed = recentEvents(events, at, reasons).filter(
    event => event.pod !== null && isOfPull(event),
  )
  return [...Map.groupBy(failed, podOf)].flatMap(([pod, ofPod]) => {
    const byImage = Map.groupBy(ofPod, ({ message }) => imageIn(message))
    if (byImage.size > 1) byImage.delete(null)
    return [...byImage].map(([image, told]) => {
      const { first, last } = toldOf(told, at)
      const telling =
        told.findLast(({ message }) => causeOf(message, image) !== null) ?? told.at(-1)
      const message = telling?.message ?? ''
      const cause = causeOf(message, image)
      // An attempt is told up to three times: counted by those that tell the same.
      const same = told.filter(
        event => event.reason === telling?.reason && causeOf(event.message, image) === cause,
      )
      const isPulledSince = pulled.some(
        event =>
          podOf(event) === pod &&
          imageIn(event.message) === image &&
          last !== null &&
          (event.lastTime ?? '') > last,
      )
      const registry = image === null ? null : registryOf(image)
      return {
        count: toldOf(same, at).count,
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

/** By `namespace/pod`: when the last container of it started within the hour that events are kept. Not of pods of which one still waits for its image. */
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
  /** `namespace/pod`. */
  pod: string
  image: string
  reason: string
  message: string
}

/** Containers that wait for their image now. */
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
