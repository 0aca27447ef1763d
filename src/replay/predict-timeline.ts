/** A node's timeline from its data and the assumptions. */

import { timelineSteps } from '#base/limits.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { WhatIf } from '#model/plan.ts'
import type { NodeCondition, TimelineDetail, TimelineEvent, Unknown } from '#model/prediction.ts'
import type { EvictionConfig } from '#replay/eviction/thresholds.ts'
import { freedByOf, imageSpaceOf } from '#replay/image-gc/unpacked-bytes.ts'
import { assumptionsOf } from '#replay/timeline/assumptions.ts'
import {
  type Story,
  type StoryEvent,
  stepsAtStart,
  storyOf,
  timelineMs,
} from '#replay/timeline/story.ts'
import { deadContainers } from './container-gc.ts'
import { type ImageGcPolicy, isImageGcStopped } from './image-gc/policy.ts'
import type { ImageEvidence } from './image-gc/users.ts'
import { containerIdOf, containerStatusesOf } from './pods.ts'
import type { PreparedNode } from './prepare.ts'
import {
  deadUser,
  expiringUser,
  type TimelineImage,
  type TimelineInput,
} from './timeline/resources.ts'
import { roundWidthMs } from './times.ts'

/** Names the unknown of a node whose timeline would exceed the steps of the command. */
export const timelineLeftOut = 'timeline.leftOut'

interface TimelineSettings {
  imageGc: ImageGcPolicy | null
  eviction: EvictionConfig | string
}

export function predictTimeline(
  node: PreparedNode,
  settings: TimelineSettings | null,
  { fills, isLikelyCourse = false, budget }: Pick<WhatIf, 'fills' | 'isLikelyCourse' | 'budget'>,
  unknowns: Unknown[],
): TimelineEvent[] | null {
  const { imageGc = null, eviction = '' } = settings ?? {}
  if (!imageGc || typeof eviction === 'string' || !node.layout) return noteUnpredictable(unknowns)
  if (budget && budget.steps <= 0) {
    unknowns.push({
      what: timelineLeftOut,
      effect: 'the timelines of earlier nodes took all steps of the command',
    })
    return null
  }
  const widthMs = gcRoundWidthMs(node)
  const dead = new Set(deadContainers(node.input))
  const expiring = new Set(node.containerGc().prediction?.periodic.removals.map(({ id }) => id))
  const timeline = timelineOf({
    startMs: node.atMs,
    kubelet: node.kubelet,
    eviction,
    imageGc: isImageGcStopped(imageGc, node.kubelet) ? null : imageGc,
    evictionImageGc: imageGc,
    layout: node.layout,
    observations: node.observations,
    fills,
    isLikelyCourse,
    pods: node.activePods,
    podStats: node.podStats,
    images: timelineImages(node, dead, expiring),
    freedBy: freedByOf(listedImages(node), imageSpaceOf(node)),
    deadContainers: [...dead].filter(id => !expiring.has(id)).length,
    // An unknown start counts as long ago: the first round deletes images above the maximum age.
    beganGcMs: node.kubeletStart?.earliestMs ?? Number.NEGATIVE_INFINITY,
    gcLoopStart: widthMs < imageGcPeriodMs ? node.kubeletStart : null,
    conditions: reportedNow(node),
  })
  if (!timeline) return noteUnpredictable(unknowns)
  const { events, untilMs, steps } = timeline
  if (budget) budget.steps -= steps
  unknowns.push(...assumptions, ...phaseUnknowns(node, widthMs))
  if (node.filesystems.layoutCertainty === 'likely') unknowns.push(likelyLayout)
  if (untilMs < timelineMs) unknowns.push(cutAfter(untilMs))
  return events
}

const assumptions: readonly Unknown[] = [
  {
    what: 'timeline.bytes',
    effect:
      'what a deletion frees is estimated from the space that all images take: frees has the bounds; an image unpacks to at most 3.5 times its packed size',
  },
  {
    what: 'timeline.pods',
    effect:
      'no pod of the node fills it, and no pod replaces an evicted one; a victim frees what it used at the reading, within 5 %, and ends within the time for which the kubelet waits',
  },
]

/** Width in ms of the interval of an image GC round. Infinite: the kubelet's start is unknown. */
const gcRoundWidthMs = ({ kubeletStart, atMs }: PreparedNode) =>
  kubeletStart
    ? roundWidthMs({ start: kubeletStart, periodMs: imageGcPeriodMs }, atMs)
    : Number.POSITIVE_INFINITY

const statedWidthMs = 30_000

/** After a day or two, the phase of image GC is less exact than 30 s. */
function phaseUnknowns({ kubeletStart }: PreparedNode, widthMs: number): Unknown[] {
  if (widthMs <= statedWidthMs) return []
  const within = 'image GC runs within 5 min of the time shown'
  const effect =
    widthMs < imageGcPeriodMs
      ? `each round may delay the next ones by 20 ms: image GC runs within ${Math.ceil(widthMs / 1000)} s`
      : `the kubelet has run so long that the phase of image GC is lost: ${within}`
  const what = 'timeline.phase'
  if (!kubeletStart) return [{ what, effect: `the start of the kubelet is unknown: ${within}` }]
  return [{ what, effect }]
}

const likelyLayout: Unknown = {
  what: 'filesystems.layout',
  effect:
    'that images and nodefs are on one disk is very likely, not certain: the timeline assumes it',
}

const cutAfter = (untilMs: number): Unknown => ({
  what: 'timeline.end',
  effect: `a whole day of this node takes too many steps: what happens after ${Math.floor(untilMs / 60_000)} min is not predicted`,
})

function noteUnpredictable(unknowns: Unknown[]) {
  unknowns.push({
    what: 'timeline',
    effect:
      'the disks, their layout or the kubelet settings are unknown, so the timeline cannot be predicted',
  })
  return null
}

const reportedNow = ({ reported }: PreparedNode): NodeCondition[] =>
  (['DiskPressure', 'MemoryPressure', 'PIDPressure'] as const).filter(
    condition => reported[condition]?.isTrue === true,
  )

function listedImages({ images, imageEvidence }: PreparedNode) {
  const used = new Set(
    imageEvidence.images?.flatMap(({ image, users }) => (users.length > 0 ? [image] : [])),
  )
  return images.images.map(one => ({ ...one, hasContainer: used.has(one.image) }))
}

function timelineImages(
  { input, imageEvidence, images }: PreparedNode,
  dead: ReadonlySet<string>,
  expiring: ReadonlySet<string>,
): TimelineImage[] {
  const pods = podsOfContainers(input)
  const evidence = new Map((imageEvidence.images ?? []).map(image => [image.image, image]))
  const userOf = (containerId: string) => {
    if (expiring.has(containerId)) return expiringUser
    return dead.has(containerId) ? deadUser : (pods.get(containerId) ?? null)
  }
  return images.images.map(({ image, sizeBytes, isPinned, isInUse, firstDetected, lastUsed }) => {
    const known = evidence.get(image)
    const users = usersOf(known, userOf)
    const isTaken = users.includes(null)
    const isListed = known?.known.firstDetectedMs !== null
    return {
      id: image,
      sizeBytes: sizeBytes ?? 0,
      isPinned,
      isHeld: isTaken || (users.length === 0 && isInUse === null ? null : false),
      pods: users.filter(user => user !== null),
      firstDetectedMs: isListed ? firstDetected.earliestMs : null,
      firstDetectedLatestMs: firstDetected.latestMs,
      lastUsedMs: lastUsed.earliestMs,
    }
  })
}

/** Each user once; null: a container of no known pod. */
const usersOf = (
  evidence: ImageEvidence | undefined,
  userOf: (containerId: string) => string | null,
) => [...new Set((evidence?.users ?? []).map(({ containerId }) => userOf(containerId)))]

/** `namespace/name` by the container's id. */
function podsOfContainers({ pods, runtime }: NodeInput): ReadonlyMap<string, string> {
  const named = new Map<string, string>()
  for (const pod of pods ?? []) {
    const { metadata } = pod
    const name = `${metadata?.namespace ?? 'default'}/${metadata?.name}`
    for (const status of containerStatusesOf(pod)) named.set(containerIdOf(status), name)
  }
  for (const container of runtime?.containers ?? []) {
    const { labels } = container
    const name = labels?.['io.kubernetes.pod.name']
    if (name !== undefined)
      named.set(
        container.id ?? '',
        `${labels?.['io.kubernetes.pod.namespace'] ?? 'default'}/${name}`,
      )
  }
  return named
}

/*
 * A node that fills, over time: when image GC runs, conditions start and end, and pods are evicted, until nothing more can be done.
 * Each event has bounds: its earliest and latest time in all possible courses.
 */

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
  const mostSteps = Math.floor(timelineSteps.ofOneNode / assumptions.length)
  if (stepsAtStart(input) > mostSteps) return { events: [], untilMs: 0, steps: 0 }
  for (const assumption of input.isLikelyCourse ? assumptions.slice(0, 1) : assumptions) {
    const story = storyOf(input, assumption, mostSteps)
    if (!story) return null
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
  if (!shown) throw new Error('an event without an occurrence')
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
