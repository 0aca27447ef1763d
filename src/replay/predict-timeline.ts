/** A node's timeline from what was read of it: what is not known of its images is decided as it most likely is, and said. */

import type { NodeInput } from '#model/node-input.ts'
import type { TimelineEvent, Unknown } from '#model/prediction.ts'
import type { Fill } from '#model/what-if.ts'
import { deadContainers } from './container-gc.ts'
import type { EvictionConfig } from './eviction/config.ts'
import type { NodeCondition } from './eviction/signals.ts'
import type { ImageEvidence } from './image-gc/evidence.ts'
import { type ImageGcPolicy, isImageGcStopped } from './image-gc/policy.ts'
import { containerIdOf, containerStatusesOf } from './pods/pod.ts'
import type { PreparedNode } from './prepare.ts'
import { deadUser, type TimelineImage, timelineOf } from './timeline.ts'

interface TimelineSettings {
  imageGc: ImageGcPolicy | null
  eviction: EvictionConfig | string
}

export function predictTimeline(
  node: PreparedNode,
  settings: TimelineSettings | null,
  fills: readonly Fill[],
  unknowns: Unknown[],
): TimelineEvent[] | null {
  const { imageGc = null, eviction = '' } = settings ?? {}
  if (imageGc === null || typeof eviction === 'string' || node.layout === null)
    return unpredictable(unknowns)
  unknowns.push(...assumptions)
  const dead = new Set(deadContainers(node.input))
  const events = timelineOf({
    startMs: node.atMs,
    kubelet: node.kubelet,
    eviction,
    imageGc: isImageGcStopped(imageGc, node.kubelet) ? null : imageGc,
    evictionImageGc: imageGc,
    layout: node.layout,
    observations: node.observations,
    fills,
    pods: node.activePods,
    podStats: node.podStats,
    images: timelineImages(node, dead),
    deadContainers: dead.size,
    // Where it is not known it was long ago: what is too old goes in the first round.
    beganGcMs: node.kubeletStart?.earliestMs ?? Number.NEGATIVE_INFINITY,
    conditions: reportedNow(node),
  })
  return events ?? unpredictable(unknowns)
}

const assumptions: readonly Unknown[] = [
  {
    what: 'timeline.images',
    effect:
      'images whose use, age or pin is not known are taken for unused, old and not pinned; each is taken to give back the size that the runtime tells',
  },
  {
    what: 'timeline.phase',
    effect:
      'the clocks of image GC and eviction are taken to start together at that moment: the real ones come up to 5 min and 10 s later',
  },
  {
    what: 'timeline.pods',
    effect:
      'what fills the disk is taken to be no pod of the node, and nothing to come in the place of evicted pods',
  },
]

function unpredictable(unknowns: Unknown[]): null {
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

function timelineImages(
  { input, imageEvidence, images }: PreparedNode,
  dead: ReadonlySet<string>,
): TimelineImage[] {
  const pods = podsOfContainers(input)
  const evidence = new Map((imageEvidence.images ?? []).map(image => [image.image, image]))
  return images.images.map(
    ({ image, sizeBytes, isPinned, keptBecause, firstDetected, lastUsed }) => {
      const users = usersOf(evidence.get(image), pods, dead)
      return {
        id: image,
        sizeBytes: sizeBytes ?? 0,
        isPinned: isPinned === true,
        isHeld: keptBecause === 'sandbox' || users.includes(null),
        pods: users.filter(user => user !== null),
        firstDetectedMs: firstDetected.earliestMs,
        lastUsedMs: lastUsed.earliestMs,
      }
    },
  )
}

/** Each pod once; null: a container that belongs to no pod we know. */
const usersOf = (
  evidence: ImageEvidence | undefined,
  pods: ReadonlyMap<string, string>,
  dead: ReadonlySet<string>,
): (string | null)[] => [
  ...new Set(
    (evidence?.users ?? []).map(({ containerId }) =>
      dead.has(containerId) ? deadUser : (pods.get(containerId) ?? null),
    ),
  ),
]

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
