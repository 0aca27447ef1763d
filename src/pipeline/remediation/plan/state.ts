/** The numbers of a prediction that a plan compares before and after. */

import { milliValue, parseQuantity } from '#base/go/quantity.ts'
import { leavesOf, type RawObject } from '#base/raw-object.ts'
import { allocatableFields } from '#facts/kubelet/fields.ts'
import { dockerHubLimits } from '#facts/kubernetes/registries.ts'
import { registryOf } from '#judge/events/events.ts'
import { evictionBeforeImageGc } from '#judge/rules/image-gc/eviction-before-image-gc.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { NodeState, Pulls } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { ImageDeletion, ImageGcPrediction, NodePrediction } from '#model/prediction.ts'
import { getResourceRequestQuantity, isActive, parsePod } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'

/** @param record has the configuration that was replayed */
export function stateOf(record: NodeInput, prediction: NodePrediction, policy: Policy): NodeState {
  const { state } = outcomeOf(evictionBeforeImageGc, nodeSubject(record, prediction), policy)
  const { imageGC, eviction } = prediction
  const comesFirst = state === 'unknown' || state === 'error' ? null : state === 'fail'
  const isDue = imageGC?.triggered ?? null
  const freedBytes = isDue && imageGC ? freedAtMost(imageGC) : 0
  return {
    evictsBeforeImageGc:
      imageGC?.enabled === false
        ? (eviction?.thresholds.some(({ signal }) =>
            /^(?:nodefs|imagefs)\.available$/.test(signal),
          ) ?? null)
        : comesFirst,
    imageGcDue: isDue,
    freedBytesAtMost: isDue === null ? null : freedBytes,
    evictsNow:
      !eviction || eviction.error !== null
        ? null
        : [
            ...[
              ...new Set(
                eviction.thresholds.flatMap(({ signal, met }) =>
                  // The containerfs signals only repeat the filesystem of containerfs.
                  met === true && !signal.startsWith('containerfs.') ? [signal] : [],
                ),
              ),
            ].sort(),
            ...overcommittedFields(record, prediction),
          ],
  }
}

/** Upper bound of freed bytes: image GC stops with the image that reaches the target, or when no image is left. */
function freedAtMost({ deletions, bytesToFree }: ImageGcPrediction) {
  const sizes = spaceDeletions(deletions)?.map(({ sizeBytes }) => sizeBytes) ?? null
  if (!sizes || bytesToFree === null || sizes.some(size => size === null)) return null
  const known = sizes.map(Number)
  return Math.min(
    known.reduce((sum, size) => sum + size, 0),
    Math.max(bytesToFree, 0) + Math.max(0, ...known),
  )
}

const spaceDeletions = (deletions: readonly ImageDeletion[] | null) =>
  deletions?.filter(({ reason }) => reason === 'space') ?? null

/** Images that the image-GC round may delete, by registry. Pods that need these images pull them again. */
export function pullsOf({ imageGC }: NodePrediction): Pulls[] {
  const images = imageGC?.triggered ? (spaceDeletions(imageGC.deletions) ?? []) : []
  const registries = Map.groupBy(
    images.flatMap(({ names: [name] }) => (name === undefined ? [] : [registryOf(name)])),
    registry => registry,
  )
  return [...registries].map(([registry, some]) => ({
    registry,
    images: some.length,
    limit:
      registry === 'docker.io'
        ? { pulls: dockerHubLimits.anonymousPulls, hours: dockerHubLimits.hours }
        : null,
  }))
}

/**
 * Resources of which the pods request more than the node would offer: a starting kubelet admits its pods again, one by one, and refuses those that
 * no longer fit. Upstream: pkg/kubelet/kubelet.go HandlePodAdditions; pkg/kubelet/lifecycle/predicate.go
 */
function overcommittedFields(record: NodeInput, { allocatable, kubeletVersion }: NodePrediction) {
  if (!allocatable || !record.pods) return []
  const kubelet = kubeletOf(kubeletVersion, record.configuration?.fields.featureGates ?? {})
  const pods = record.pods.flatMap(raw => parsePod(raw) ?? []).filter(isActive)
  return ['cpu', 'memory', 'ephemeral-storage'].flatMap(resource => {
    const offered = allocatable[resource]
    // Pods can request fractions of a core, so the sum is in thousandths.
    const requested = pods.reduce(
      (sum, pod) => sum + milliValue(getResourceRequestQuantity(pod, resource, kubelet)),
      0n,
    )
    return typeof offered === 'string' && requested > milliValue(parseQuantity(offered))
      ? [`allocatable.${resource}`]
      : []
  })
}

/** Why the effect of the change on the node's present state cannot be replayed; null: it can. */
export function whyUnsure(
  patch: RawObject,
  { imageGC, eviction, allocatable, unknowns }: NodePrediction,
): string | null {
  const fields = Object.keys(patch)
  const reason = unknowns.map(({ what }) => what).slice(0, 3)
  const because = `what it would do at once is not known (not read: ${reason.join(', ') || 'part of the node'}). Ask for it with --allow-act-at-once`
  if (fields.some(field => field.startsWith('image')) && (imageGC?.triggered ?? null) === null)
    return because
  if (fields.some(field => allocatableFields.has(field)) && !allocatable) return because
  if (
    !fields.some(field => field.startsWith('eviction') || field === 'mergeDefaultEvictionSettings')
  )
    return null
  if (!eviction || eviction.error !== null) return because
  const touched = leavesOf(patch).map(([path]) => path.slice(path.indexOf('.') + 1))
  const blind = eviction.thresholds.find(
    ({ signal, met }) => met === null && touched.includes(signal),
  )
  return blind
    ? `whether ${blind.signal} is below ${blind.value} now is not known. Ask for it with --allow-act-at-once`
    : null
}

/** Describes the signal, for people. @param signal one of NodeState.evictsNow */
export function actWords(signal: string, { eviction, allocatable }: NodePrediction) {
  const resource = /^allocatable\.(.*)/.exec(signal)?.[1]
  if (resource !== undefined)
    return `its pods request more ${resource} than the ${String(allocatable?.[resource])} that the node would offer, and some are refused`
  const met = eviction?.thresholds.find(threshold => threshold.signal === signal && threshold.met)
  const observed = eviction?.signals[met?.signal ?? 'nodefs.available']?.availableBytes
  return `${signal} is ${observed ?? 'less'} now, below the new ${met?.value ?? 'threshold'}`
}
