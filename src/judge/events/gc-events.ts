/**
 * The kubelet's events about its garbage collection.
 *
 * An image GC round without a capacity emits InvalidDiskCapacity. A round that frees too little emits FreeDiskSpaceFailed. Every such round does.
 * ImageGCFailed, with the round's error, appears from the second consecutive failure on. ContainerGCFailed appears at every failure.
 * Upstream: pkg/kubelet/kubelet.go StartGarbageCollection, pkg/kubelet/images/image_gc_manager.go GarbageCollect; only texts differ from 1.29 to 1.37.
 */
import { isOfKubelet, isShortfall } from '#facts/kubelet/event-messages.ts'
import { containerGcPeriodMs, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { NodeEvent } from '#judge/subject/node-subject.ts'
import { agoMs, eventTimes, isWithin, recentEvents } from './events.ts'

/** Without a further event for this time, the rounds no longer fail. The time allows for one event lost to client-go's event limit. */
const stillFailingMs = 2 * imageGcPeriodMs
/** A failure this soon after the kubelet's start may only mean that GC ran too early. */
const startingMs = 10 * 60_000

const isStillFailing = (event: NodeEvent, at: string) =>
  isWithin(event.lastTime, at, stillFailingMs)

export const isJustReported = (time: string | null, at: string): boolean =>
  (agoMs(time, at) ?? Number.POSITIVE_INFINITY) <= imageGcPeriodMs

/** Events of rounds that still free too little: FreeDiskSpaceFailed. ImageGCFailed repeats it. */
export const shortfalls = (events: readonly NodeEvent[] | null, at: string): NodeEvent[] =>
  recentEvents(events, at, ['FreeDiskSpaceFailed']).filter(
    event => isShortfall(event.message) && isStillFailing(event, at),
  )

const periodMs: Readonly<Record<string, number>> = {
  InvalidDiskCapacity: imageGcPeriodMs,
  ImageGCFailed: imageGcPeriodMs,
  ContainerGCFailed: containerGcPeriodMs,
}
/** One failure may be chance. ImageGCFailed appears only at the second failure. */
const leastTimes: Readonly<Record<string, number>> = {
  InvalidDiskCapacity: 2,
  ImageGCFailed: 1,
  ContainerGCFailed: 2,
}

/** Events of the reason, if GC still fails for another cause than freeing too little. Empty while the kubelet starts. */
export function failingGc(
  reason: 'InvalidDiskCapacity' | 'ImageGCFailed' | 'ContainerGCFailed',
  events: readonly NodeEvent[] | null,
  at: string,
): NodeEvent[] {
  const failed = recentEvents(events, at, [reason]).filter(({ message }) => !isShortfall(message))
  const { count, last } = eventTimes(failed, at)
  if (count < (leastTimes[reason] ?? 1) || !failed.some(event => isStillFailing(event, at)))
    return []
  const starts = recentEvents(events, at, ['Starting']).filter(({ message }) =>
    isOfKubelet(message),
  )
  const rounds = 1 + startingMs / (periodMs[reason] ?? startingMs)
  const isStarting =
    last !== null &&
    starts
      .flatMap(({ firstTime, lastTime }) => [firstTime, lastTime])
      .some(start => isFollowing(start, last, at)) &&
    count <= rounds * eventTimes(starts, at).count
  return isStarting ? [] : failed
}

function isFollowing(start: string | null, time: string, at: string) {
  const [started, failed] = [agoMs(start, at), agoMs(time, at)]
  return started !== null && failed !== null && started >= failed && started - failed <= startingMs
}
