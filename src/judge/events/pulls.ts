import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import type { NodeEvent } from '#judge/cluster-facts.ts'
import { bounded } from '#judge/text.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { byText } from '#model/text-order.ts'
import { type EventTimes, eventTimes, isWithin, recentEvents } from './events.ts'
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

/** Cause of a failed pull; null: unknown. The image name may contain any word, so it is removed first. */
export function causeOf(message: string, image: string | null): string | null {
  const text = image ? message.replaceAll(image, '') : message
  return causes.find(([words]) => words.test(text))?.[1] ?? null
}

/** Upstream prints it with %q. */
const imageIn = (message: string): string | null =>
  /image (?:tag )?"([^"\\\s]{1,500})"/.exec(message)?.[1] ?? null

export interface PullFailure extends EventTimes {
  pod: string
  image: string | null
  registry: string | null
  cause: string | null
  message: string
  isPulledSince: boolean
}

const reasons = ['Failed', 'BackOff', 'ErrImageNeverPull', 'InspectFailed']
/** Reason `Failed` is also used for containers that did not start. */
const isOfPull = ({ reason, message }: NodeEvent) =>
  reason !== 'Failed' ||
  /pull(?:ing)? image|ErrImage|ImagePullBackOff|InvalidImageName|inspect image/i.test(message)

const podOf = ({ pod }: NodeEvent): string => (pod ? `${pod.namespace}/${pod.name}` : '')

/**
 * Failed pulls of the last hour, one for each pod and image. Upstream reports a failure twice:
 * pkg/kubelet/images/image_manager.go EnsureImageExists with the image, pkg/kubelet/kuberuntime
 * startContainer without it.
 */
export function pullFailures(events: readonly NodeEvent[] | null, at: string): PullFailure[] {
  const pulled = recentEvents(events, at, ['Pulled'])
  const failed = recentEvents(events, at, reasons).filter(
    event => event.pod !== null && isOfPull(event),
  )
  return [...Map.groupBy(failed, podOf)].flatMap(([pod, ofPod]) => {
    const byImage = Map.groupBy(ofPod, ({ message }) => imageIn(message))
    if (byImage.size > 1) byImage.delete(null)
    return [...byImage].map(([image, ofImage]) => {
      const { first, last } = eventTimes(ofImage, at)
      const newest =
        ofImage.findLast(({ message }) => causeOf(message, image) !== null) ?? ofImage.at(-1)
      const message = newest?.message ?? ''
      const cause = causeOf(message, image)
      // One attempt produces up to three events: only those of one reason and cause are counted.
      const same = ofImage.filter(
        event => event.reason === newest?.reason && causeOf(event.message, image) === cause,
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
 * Latest container start within the last hour, by `namespace/pod`. Pods with a container that still
 * waits for its image are left out.
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
