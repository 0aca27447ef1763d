/** A node's timeline from its data and the assumptions. */

import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { WhatIf } from '#model/plan/what-if.ts'
import type { TimelineEvent, Unknown } from '#model/prediction/prediction.ts'
import { roundWidthMs } from './clocks.ts'
import { deadContainers } from './container-gc.ts'
import type { EvictionConfig } from './eviction/config.ts'
import type { NodeCondition } from './eviction/signals.ts'
import type { ImageEvidence } from './image-gc/evidence.ts'
import { type ImageGcPolicy, isImageGcStopped } from './image-gc/policy.ts'
import { freedByOf, imageSpaceOf } from './image-gc/unpacked-bytes.ts'
import { containerIdOf, containerStatusesOf } from './pods/pod.ts'
import type { PreparedNode } from './prepare.ts'
import { deadUser, expiringUser, type TimelineImage } from './timeline/input.ts'
import { timelineMs } from './timeline/story.ts'
import { timelineOf } from './timeline/timeline.ts'

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
  if (imageGc === null || typeof eviction === 'string' || node.layout === null)
    return unpredictable(unknowns)
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
  if (timeline === null) return unpredictable(unknowns)
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
  kubeletStart === null
    ? Number.POSITIVE_INFINITY
    : roundWidthMs({ start: kubeletStart, periodMs: imageGcPeriodMs }, atMs)

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
  if (kubeletStart === null)
    return [{ what, effect: `the start of the kubelet is unknown: ${within}` }]
  return [{ what, effect }]
}

const likelyLayout: Unknown = {
  what: 'filesystems.layout',
  effect:
    'that images and nodefs are on one disk is very likely, not certain: the timeline assumes it',
}

const cutAfter = (untilMs: number): Unknown => ({
  what: 'timeline.end',
  effect: `the node has too many pods for a whole day: what happens after ${Math.floor(untilMs / 60_000)} min is not predicted`,
})

function unpredictable(unknowns: Unknown[]) {
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
