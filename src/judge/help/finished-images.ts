/** Images that only finished pods keep in use: their dead containers stay as long as the pods do. Upstream: pkg/kubelet/images/image_gc_manager.go detectImages */

import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { bytes, plural, shortName } from '#judge/rule.ts'
import type { HolderCause } from '#model/finding.ts'
import { canonicalName } from '#model/input/image-reference.ts'
import type { Reason } from './holder-cause.ts'
import type { DiskSubject } from './holder-steps.ts'
import { namesIn } from './listed-images.ts'

/** Share of the bytes of used images from which on finished pods are the cause. */
const leastShare = 0.5

/** Null: images of pods that run are most, or nothing shows the sizes. */
export function finishedPodsReason(
  { holder, amount }: HolderCause,
  { pods, runtime, node }: DiskSubject,
): Partial<Reason> | null {
  if (holder !== 'images-in-use' || amount.unit !== 'bytes' || !pods) return null
  const images =
    runtime?.images?.map(({ repoTags = [], repoDigests = [], size = 0 }) => ({
      names: [...repoTags, ...repoDigests],
      sizeBytes: Number(size),
    })) ??
    node?.status?.images ??
    []
  // What is evicted comes back, and needs its image again.
  const finished = pods.filter(
    ({ status }) => isTerminalPhase(status?.phase) && status?.reason !== 'Evicted',
  )
  const ended = new Set(finished)
  const namesOf = (some: typeof pods) => new Set(some.flatMap(namesIn).map(canonicalName))
  const ofFinished = namesOf(finished)
  const ofOthers = namesOf(pods.filter(pod => !ended.has(pod)))
  const usedBy = (users: ReadonlySet<string>) =>
    images.filter(({ names = [] }) => names.some(name => users.has(canonicalName(name))))
  const sumOf = (some: typeof images) => some.reduce((sum, one) => sum + (one.sizeBytes ?? 0), 0)
  const ofRunning = usedBy(ofOthers)
  const running = new Set(ofRunning)
  const kept = usedBy(ofFinished).filter(image => !running.has(image))
  if (kept.length === 0 || sumOf(kept) < leastShare * sumOf([...kept, ...ofRunning])) return null
  const namespaces = new Set(finished.map(({ metadata }) => metadata?.namespace ?? ''))
  const where = namespaces.size === 1 ? `of namespace ${shortName([...namespaces].join(''))}` : ''
  return {
    steps: [{ id: 'prune-dead-containers', variant: 'finished' }],
    seen: `${plural(finished.length, 'finished pod')} ${where === '' ? '' : `${where} `}${finished.length === 1 ? 'keeps' : 'keep'} ${plural(kept.length, 'image')} in use that no other pod runs (${bytes(sumOf(kept))} in the list), as long as the pods exist. Under DiskPressure the kubelet deletes their containers and these images before it evicts a pod.`,
  }
}
