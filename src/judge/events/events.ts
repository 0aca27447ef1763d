import { byText } from '#base/text/text-order.ts'
import { eventTtlMs } from '#facts/kubernetes/controllers.ts'
import { type Failing, line, shorten, type Undecided } from '#judge/rule.ts'
import type { NodeContext, NodeEvent } from '#judge/subject/node-subject.ts'
import type { Evidence } from '#model/finding/finding.ts'

const mostTimes = 1_000_000

/** Age at `at` in ms. Null: no time, or a time further in the future than clock skew explains. */
export function agoMs(time: string | null, at: string): number | null {
  const ago = Date.parse(at) - Date.parse(time ?? '')
  return Number.isNaN(ago) || ago < -eventTtlMs ? null : Math.max(0, ago)
}

/** Whether the time is within the window. True without a time: the API server keeps events for an hour. */
export const isWithin = (time: string | null, at: string, windowMs: number = eventTtlMs): boolean =>
  (agoMs(time, at) ?? 0) <= windowMs

export function recentEvents(
  events: readonly NodeEvent[] | null,
  at: string,
  reasons: readonly string[],
): NodeEvent[] {
  return (events ?? []).filter(
    ({ reason, lastTime }) => reasons.includes(reason) && isWithin(lastTime, at),
  )
}

/** Of containers that did not start. */
export const startReasons = ['Failed', 'FailedCreatePodContainer', 'FailedCreatePodSandBox']

/** If the event list is unread or incomplete, a missing event proves nothing. */
export function* unreadEvents({ failed }: Pick<NodeContext, 'failed'>): Iterable<Undecided> {
  const reason = failed('events')
  if (reason !== null) yield { unknown: reason }
}

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
    .toSorted(byText)
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
export function timesOf({ count, first, last }: EventTimes): string {
  if (count === 1) return `once${last === null ? '' : ` at ${shorten(last, 40)}`}`
  const times = count >= mostTimes ? `${mostTimes} times or more` : `${count} times`
  return first === null || last === null
    ? times
    : `${times} since ${shorten(first, 40)}, last at ${shorten(last, 40)}`
}

export function eventEvidence(events: readonly NodeEvent[], at: string): Evidence[] {
  const newest = events.at(-1)
  if (newest === undefined) return []
  return [
    line(
      'event',
      `event ${newest.reason}, ${timesOf(eventTimes(events, at))}`,
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
