/**
 * A node that fills, over time: when image GC runs, conditions start and end, and pods are evicted, until nothing more can be done.
 * Each event has bounds: its earliest and latest time in all possible courses.
 */
import type { TimelineDetail, TimelineEvent } from '#model/prediction/prediction.ts'
import { assumptionsOf } from './assumptions.ts'
import type { TimelineInput } from './input.ts'
import { type Story, type StoryEvent, storyOf } from './story.ts'

/** A pass and a deletion take time; the time of a round is its start. In ms. */
const slackMs = { before: 1_000, after: 2_000 }

export interface Timeline {
  /** In time order. */
  events: TimelineEvent[]
  /** Later events are not predicted. Ms since the start. */
  untilMs: number
  /** Of all courses. */
  steps: number
}

/** Null: a resource that fills is not observed. */
export function timelineOf(input: TimelineInput): Timeline | null {
  const stories: Story[] = []
  const assumptions = assumptionsOf(input.gcLoopStart, input.startMs)
  for (const assumption of input.isLikelyCourse ? assumptions.slice(0, 1) : assumptions) {
    const story = storyOf(input, assumption)
    if (story === null) return null
    stories.push(story)
  }
  const untilMs = Math.min(...stories.map(story => story.untilMs))
  const byKey = Map.groupBy(
    stories.flatMap(({ events }) => events),
    ({ key }) => key,
  )
  const events = [...byKey.values()]
    .map(same => eventOf(same, stories.length))
    .filter(({ atMs }) => atMs <= untilMs)
  const steps = stories.reduce((sum, story) => sum + story.steps, 0)
  return { events: events.sort((a, b) => a.atMs - b.atMs), untilMs, steps }
}

/** `same`: the same event in each course that has it, the shown course first. */
function eventOf(same: StoryEvent[], stories: number): TimelineEvent {
  const [shown] = same
  if (shown === undefined) throw new Error('an event without an occurrence')
  const times = same.map(({ atMs }) => atMs)
  return {
    atMs: shown.atMs,
    earliestMs: Math.max(0, Math.min(...times) - slackMs.before),
    latestMs: Math.max(...times) + slackMs.after,
    certainty: same.length === stories ? 'certain' : 'possible',
    ...withBounds(
      shown.what,
      same.map(({ what }) => what),
    ),
  }
}

/** Other courses delete other images, so the bounds cover all courses. */
function withBounds(shown: TimelineDetail, all: TimelineDetail[]): TimelineDetail {
  const bounds = all.flatMap(({ detail }) => ('frees' in detail ? [detail.frees] : []))
  const frees = {
    least: Math.min(...bounds.map(({ least }) => least)),
    most: Math.max(...bounds.map(({ most }) => most)),
  }
  if (shown.event === 'imageGC')
    return { ...shown, detail: { ...shown.detail, frees: { ...shown.detail.frees, ...frees } } }
  if (shown.event === 'reclaim')
    return { ...shown, detail: { ...shown.detail, frees: { ...shown.detail.frees, ...frees } } }
  return shown
}
