/** A timeline beside what a real kubelet did. */

import { parseFill } from '#model/plan.ts'
import type { TimelineEvent } from '#model/prediction.ts'
import { replayOf } from '#test/at-the-door.ts'
import type { ObservedEvent, Recording } from './recording.ts'

export interface ComparedEvent {
  observed: ObservedEvent
  /** The event of the timeline whose interval is nearest; null: there is none of this kind. */
  predicted: TimelineEvent | null
  isWithin: boolean
}

export interface Comparison {
  events: ComparedEvent[]
  /** Events that the timeline calls certain within the recording, and that did not come. */
  missing: TimelineEvent[]
}

export function compare(recording: Recording): Comparison {
  const { record, takenAt, fills, observed, recordedMs } = recording
  const whatIf = { at: null, changes: [], fills: fills.map(parseFill) }
  const { timeline, unknowns } = replayOf(record, takenAt, whatIf)
  if (!timeline) throw new Error(`no timeline: ${JSON.stringify(unknowns)}`)
  const left = [...timeline]
  const events = observed.map(event => {
    const predicted = nearest(event, left)
    if (predicted) left.splice(left.indexOf(predicted), 1)
    return {
      observed: event,
      predicted,
      isWithin: predicted !== null && isWithin(event, predicted),
    }
  })
  return { events, missing: left.filter(event => isDue(event, recordedMs)) }
}

const isWithin = ({ atMs }: ObservedEvent, { earliestMs, latestMs }: TimelineEvent) =>
  earliestMs <= atMs && atMs <= latestMs

/** The recordings show no full disk. */
const isDue = ({ event, certainty, latestMs }: TimelineEvent, recordedMs: number) =>
  certainty === 'certain' && latestMs < recordedMs && event !== 'full'

function nearest(event: ObservedEvent, timeline: readonly TimelineEvent[]): TimelineEvent | null {
  const alike = timeline.filter(
    predicted => predicted.event === event.event && subjectOf(predicted) === event.subject,
  )
  const distance = ({ earliestMs, latestMs, atMs }: TimelineEvent) => {
    const outsideMs = Math.max(0, earliestMs - event.atMs, event.atMs - latestMs)
    return outsideMs * 1e6 + Math.abs(atMs - event.atMs)
  }
  return alike.toSorted((a, b) => distance(a) - distance(b))[0] ?? null
}

function subjectOf({ event, detail }: TimelineEvent): string | undefined {
  if (event === 'condition') return `${detail.condition} ${detail.status}`
  return event === 'evict' ? `${detail.namespace}/${detail.name}` : undefined
}
