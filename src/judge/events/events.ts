import { oncePerText } from '#base/once.ts'
import { byText, utcMinute } from '#base/text.ts'
import {
  isFromKubelet,
  isGcShortfall,
  isPullEvent,
  pullCause,
  pulledImage,
} from '#facts/kubelet/event-messages.ts'
import { isNamespaceOfNodeEvents } from '#facts/kubelet/event-reasons.ts'
import { containerGcPeriodMs, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import { eventTtlMs } from '#facts/kubernetes/controllers.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { dockerHubHosts } from '#facts/kubernetes/registries.ts'
import {
  type Failing,
  line,
  type NodeContext,
  type NodeEvent,
  podName,
  shorten,
  type Undecided,
} from '#judge/rule.ts'
import type { Evidence } from '#model/finding.ts'
import { splitHost } from '#model/input/image-reference.ts'
import { controllerOf, type KubernetesPod, statusesOf } from '#model/input/record.ts'

const mostTimes = 1_000_000

/** Age at `at` in ms. Null: no time, or a time further in the future than clock skew explains. */
export function agoMs(time: string | null, at: string): number | null {
  const ago = Date.parse(at) - Date.parse(time ?? '')
  return Number.isNaN(ago) || ago < -eventTtlMs ? null : Math.max(0, ago)
}

/** Whether the time is within the window. True without a time: the API server keeps events for an hour. */
export const isWithinWindow = (time: string | null, at: string, windowMs: number = eventTtlMs) =>
  (agoMs(time, at) ?? 0) <= windowMs

export const recentEvents = (
  events: readonly NodeEvent[] | null,
  at: string,
  reasons: readonly string[],
): NodeEvent[] =>
  (events ?? []).filter(
    ({ reason, lastTime }) => reasons.includes(reason) && isWithinWindow(lastTime, at),
  )

/** The namespace whose users may have written all of these events: those of one namespace, unless its events count for nodes. @param pods as `namespace/name` */
export function soleAuthor(pods: Iterable<string>): string | null {
  const [first = '', ...others] = new Set([...pods].map(pod => pod.replace(/\/.*/, '')))
  return others.length > 0 || isNamespaceOfNodeEvents(first) ? null : first
}

/** Of containers that did not start. */
export const startReasons = ['Failed', 'FailedCreatePodContainer', 'FailedCreatePodSandBox']

/** If the event list is unread or incomplete, a missing event proves nothing. */
export function* unreadEvents({ failed }: Pick<NodeContext, 'failed'>): Iterable<Undecided> {
  const reason = failed('events')
  if (reason !== null) yield { unknown: reason }
}

/** Of a rule that needs events. */
export const unknownEvents = (context: NodeContext): Iterable<Undecided> =>
  context.events ? unreadEvents(context) : [{ unknown: context.why('events') }]

export interface EventTimes {
  count: number
  first: string | null
  last: string | null
}

export function eventTimes(
  events: readonly Pick<NodeEvent, 'count' | 'firstTime' | 'lastTime'>[],
  at: string,
): EventTimes {
  const isTime = (time: string | null): time is string => agoMs(time, at) !== null
  const times = events
    .flatMap(({ firstTime, lastTime }) => [firstTime, lastTime])
    .filter(isTime)
    .toSorted()
  return {
    count: Math.min(
      mostTimes,
      events.reduce((sum, { count }) => sum + count, 0),
    ),
    first: times[0] ?? null,
    last: times.at(-1) ?? null,
  }
}

/** `once at …`, `12 times since …, last at …`. */
export function timesText({ count, first, last }: EventTimes) {
  if (count === 1) return `once${last === null ? '' : ` at ${shownTime(last)}`}`
  const times = count >= mostTimes ? `${mostTimes} times or more` : `${count} times`
  return first === null || last === null
    ? times
    : `${times} since ${shownTime(first)}, last at ${shownTime(last)}`
}

/** In UTC, to the minute. What is no time stays as it is. */
export const shownTime = (time: string) => utcMinute(time) ?? shorten(time, 40)

export function eventEvidence(events: readonly NodeEvent[], at: string) {
  const newest = events.at(-1)
  if (!newest) return []
  return [
    line(
      'event',
      `event ${newest.reason}, ${timesText(eventTimes(events, at))}`,
      newest.message === '' ? 'no message' : newest.message,
    ),
  ]
}

export const withEvidence = (
  yields: readonly (Failing | Undecided)[],
  eventLines: readonly Evidence[],
): (Failing | Undecided)[] =>
  yields.map(each =>
    'consequence' in each ? { ...each, evidence: [...each.evidence, ...eventLines] } : each,
  )

/*
 * The kubelet's events about its garbage collection.
 *
 * An image GC round without a capacity emits InvalidDiskCapacity. A round that frees too little emits FreeDiskSpaceFailed. Every such round does.
 * ImageGCFailed, with the round's error, appears from the second consecutive failure on. ContainerGCFailed appears at every failure.
 * Upstream: pkg/kubelet/kubelet.go StartGarbageCollection, pkg/kubelet/images/image_gc_manager.go GarbageCollect; only texts differ from 1.29 to 1.37.
 */

/** Without a further event for this time, the rounds no longer fail. The time allows for one event lost to client-go's event limit. */
const stillFailingMs = 2 * imageGcPeriodMs
/** A failure this soon after the kubelet's start may only mean that GC ran too early. */
const startingMs = 10 * 60_000

const isStillFailing = (event: NodeEvent, at: string) =>
  isWithinWindow(event.lastTime, at, stillFailingMs)

export const isJustReported = (time: string | null, at: string) =>
  (agoMs(time, at) ?? Infinity) <= imageGcPeriodMs

/** Events of rounds that still free too little: FreeDiskSpaceFailed. ImageGCFailed repeats it. */
export const shortfalls = (events: readonly NodeEvent[] | null, at: string): NodeEvent[] =>
  recentEvents(events, at, ['FreeDiskSpaceFailed']).filter(
    event => isGcShortfall(event.message) && isStillFailing(event, at),
  )

/** One failure may be chance. ImageGCFailed appears only at the second failure. */
const gcFailures = {
  InvalidDiskCapacity: { periodMs: imageGcPeriodMs, leastTimes: 2 },
  ImageGCFailed: { periodMs: imageGcPeriodMs, leastTimes: 1 },
  ContainerGCFailed: { periodMs: containerGcPeriodMs, leastTimes: 2 },
}

/** Events of the reason, if GC still fails for another cause than freeing too little. Empty while the kubelet starts. */
export function failingGc(
  reason: keyof typeof gcFailures,
  events: readonly NodeEvent[] | null,
  at: string,
): NodeEvent[] {
  const failed = recentEvents(events, at, [reason]).filter(({ message }) => !isGcShortfall(message))
  const { count, last } = eventTimes(failed, at)
  const { periodMs, leastTimes } = gcFailures[reason]
  if (count < leastTimes || !failed.some(event => isStillFailing(event, at))) return []
  const starts = recentEvents(events, at, ['Starting']).filter(({ message }) =>
    isFromKubelet(message),
  )
  const rounds = 1 + startingMs / periodMs
  const isStarting =
    last !== null &&
    starts
      .flatMap(({ firstTime, lastTime }) => [firstTime, lastTime])
      .some(start => isSoonAfter(start, last, at)) &&
    count <= rounds * eventTimes(starts, at).count
  return isStarting ? [] : failed
}

function isSoonAfter(start: string | null, time: string, at: string) {
  const [started, failed] = [agoMs(start, at), agoMs(time, at)]
  return started !== null && failed !== null && started >= failed && started - failed <= startingMs
}

export type PullFailure = ReturnType<typeof pullFailures>[number]

const sandboxFailed = 'FailedCreatePodSandBox'
const reasons = ['Failed', 'BackOff', 'ErrImageNeverPull', 'InspectFailed', sandboxFailed]
const podOf = ({ pod }: NodeEvent) => (pod ? `${pod.namespace}/${pod.name}` : '')

/**
 * Failed pulls of the last hour, one for each pod and image. Upstream reports a failure twice: with
 * the image in pkg/kubelet/images/image_manager.go EnsureImageExists, and without the image in
 * pkg/kubelet/kuberuntime startContainer.
 */
export function pullFailures(events: readonly NodeEvent[] | null, at: string) {
  const pulled = recentEvents(events, at, ['Pulled'])
  const failed = recentEvents(events, at, reasons).filter(
    event => event.pod !== null && isPullEvent(event.reason, event.message),
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
        /** Of the image that each pod begins with: the runtime pulls it, without the credentials of the kubelet. */
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
        if (isLater(time, last) && isWithinWindow(time, at)) last = time
    if (last !== null && waitingOf(pod).length === 0) starts[podName(metadata)] = last
  }
  return starts
}

const isLater = (time: unknown, last: string | null): time is string =>
  typeof time === 'string' && (last === null || byText(time, last) > 0)

export type WaitingContainer = ReturnType<typeof waitingContainers>[number]

const hasPullSecretIn = ({ spec }: Pick<KubernetesPod, 'spec'>) =>
  (spec?.imagePullSecrets ?? []).length > 0

/** Containers that wait for an image which cannot be pulled. */
export const waitingOf = (pod: KubernetesPod) =>
  waitingContainers(pod).filter(({ reason }) => pullErrors.has(reason))

export function waitingContainers(pod: KubernetesPod) {
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {}
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].flatMap(
    ({ image = '', state }) => {
      const { reason, message } = state?.waiting ?? {}
      if (reason === undefined) return []
      return {
        pod: podName(pod.metadata),
        /** `Kind name` of the pod's controller. Null: it has none. */
        workload: controllerOf(pod),
        /** The pod brings credentials of its own. */
        hasPullSecret: hasPullSecretIn(pod),
        image,
        reason,
        message: shorten(typeof message === 'string' ? message : '', 1024),
      }
    },
  )
}

/** Docker Hub has several hosts. */
export const registryOf = oncePerText(image => {
  const { host } = splitHost(image)
  return dockerHubHosts.has(host) ? 'docker.io' : host
})

/** Every image that an unfinished pod names. */
export const imagesOf = (pods: readonly KubernetesPod[]) =>
  pods.flatMap(({ metadata, spec, status }) => {
    if (isTerminalPhase(status?.phase)) return []
    const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
    const [pod, hasPullSecret] = [podName(metadata), hasPullSecretIn({ spec })]
    return [...containers, ...initContainers, ...ephemeralContainers].flatMap(({ image }) =>
      image ? { image, registry: registryOf(image), pod, hasPullSecret } : [],
    )
  })
