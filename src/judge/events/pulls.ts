import { oncePerText } from '#base/once.ts'
import { byText } from '#base/text/text-order.ts'
import { isOfPull, type PullCause, pullCause, pulledImage } from '#facts/kubelet/event-messages.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { dockerHubHosts } from '#facts/kubernetes/registries.ts'
import type { NodeEvent } from '#judge/subject/node-subject.ts'
import { podName, shorten } from '#judge/text.ts'
import { controllerOf, type KubernetesPod, statusesOf } from '#model/input/kubernetes.ts'
import { type EventTimes, eventTimes, isWithin, recentEvents } from './events.ts'

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

/** Splits a reference into host and path. The default host is Docker Hub's. Upstream: distribution/reference normalize.go splitDockerDomain. */
function splitReference(image: string) {
  const slash = image.indexOf('/')
  const host = slash < 0 ? '' : image.slice(0, slash)
  const isHost =
    host.includes('.') || host.includes(':') || host === 'localhost' || host.toLowerCase() !== host
  return {
    registry: !isHost || dockerHubHosts.has(host) ? 'docker.io' : host,
    path: isHost ? image.slice(slash + 1) : image,
  }
}

export const registryOf = oncePerText(image => splitReference(image).registry)

/** The runtime's name of an image: `nginx` is `docker.io/library/nginx:latest`. A digest makes the tag irrelevant. Upstream: containerd ParseDockerRef. */
export const canonicalName = oncePerText(image => {
  const { registry, path } = splitReference(image)
  const at = path.indexOf('@')
  const named = at < 0 ? path : path.slice(0, at)
  const repository = registry === 'docker.io' && !named.includes('/') ? `library/${named}` : named
  const colon = repository.lastIndexOf(':')
  const hasTag = colon > repository.lastIndexOf('/')
  if (at >= 0)
    return `${registry}/${hasTag ? repository.slice(0, colon) : repository}${path.slice(at)}`
  return `${registry}/${repository}${hasTag ? '' : ':latest'}`
})

/** The short name of an image, without Docker Hub's host and `library/`. */
export const familiarName = (image: string): string =>
  canonicalName(image).replace(/^docker\.io\/(library\/)?/, '')

interface UsedImage {
  image: string
  registry: string
  /** `namespace/pod`. */
  pod: string
  hasPullSecret: boolean
}

/** Every image that an unfinished pod names. */
export function imagesOf(pods: readonly KubernetesPod[]): UsedImage[] {
  const used: UsedImage[] = []
  for (const { metadata, spec, status } of pods) {
    if (isTerminalPhase(status?.phase)) continue
    const hasPullSecret = (spec?.imagePullSecrets ?? []).length > 0
    const pod = podName(metadata)
    for (const kind of ['containers', 'initContainers', 'ephemeralContainers'] as const)
      for (const { image } of spec?.[kind] ?? [])
        if (image) used.push({ image, registry: registryOf(image), pod, hasPullSecret })
  }
  return used
}
