/** What rules ask of events: those of the last hour, how often they were told, and since when. */

import { eventTtlMs } from '#facts/kubernetes/controllers.ts'
import type { NodeContext, NodeEvent } from '#judge/cluster-facts.ts'
import { line } from '#judge/evidence.ts'
import type { Failing, Undecided } from '#judge/rule.ts'
import { bounded } from '#judge/text.ts'
import type { Evidence } from '#model/finding.ts'
import { byText } from '#model/text-order.ts'

/** Counts come from outside: nothing is told so often within an hour. */
const mostTimes = 1_000_000

/** How long before `at`. Null where there is no time, or one that lies so far ahead that no clock explains it. */
export function agoMs(time: string | null, at: string): number | null {
  const ago = Date.parse(at) - Date.parse(time ?? '')
  return Number.isNaN(ago) || ago < -eventTtlMs ? null : Math.max(0, ago)
}

/** Not longer ago than that; what has no time was remembered by the API server, which does so for an hour. */
export const isWithin = (time: string | null, at: string, windowMs: number = eventTtlMs): boolean =>
  (agoMs(time, at) ?? 0) <= windowMs

/** Those of the last hour, by time. */
export function recentEvents(
  events: readonly NodeEvent[] | null,
  at: string,
  reasons: readonly string[],
): NodeEvent[] {
  return (events ?? []).filter(
    ({ reason, lastTime }) => reasons.includes(reason) && isWithin(lastTime, at),
  )
}

/** Where the list failed or broke off, what no event tells may have happened all the same. */
export function* unreadEvents({ failed }: Pick<NodeContext, 'failed'>): Iterable<Undecided> {
  const reason = failed('events')
  if (reason !== null) yield { unknown: reason }
}

export interface Told {
  count: number
  first: string | null
  last: string | null
}

/** Several events as one. */
export function toldOf(
  events: readonly Pick<NodeEvent, 'count' | 'firstTime' | 'lastTime'>[],
  at: string,
): Told {
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
export function timesOf({ count, first, last }: Told): string {
  if (count === 1) return `once${last === null ? '' : ` at ${bounded(last, 40)}`}`
  const times = count >= mostTimes ? `${mostTimes} times or more` : `${count} times`
  return first === null || last === null
    ? times
    : `${times} since ${bounded(first, 40)}, last at ${bounded(last, 40)}`
}

/** Evidence of events of one reason, the newest message first. */
export function toldEvidence(events: readonly NodeEvent[], at: string): Evidence[] {
  const newest = events.at(-1)
  if (newest === undefined) return []
  return [
    line(
      'event',
      `event ${newest.reason}, ${timesOf(toldOf(events, at))}`,
      newest.message === '' ? 'no message' : newest.message,
    ),
  ]
}

/** What the node itself showed, borne out by what was told of it. */
export const withEvidence = (
  yields: readonly (Failing | Undecided)[],
  told: readonly Evidence[],
): (Failing | Undecided)[] =>
  yields.map(said =>
    'consequence' in said ? { ...said, evidence: [...said.evidence, ...told] } : said,
  )
