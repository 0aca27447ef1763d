/** Maximum bytes that evicting all pods frees on one filesystem. */
import { nodeReclaimKinds } from '#facts/kubelet/node-reclaim.ts'
import { logRotationOf } from '#judge/logs/logs.ts'
import type { Satisfied } from '#judge/rule.ts'
import { isImageListCut } from '#judge/subject/image-list.ts'
import type { Summary } from '#model/input/node-input.ts'
import type { FilesystemLayout, RankedPod, Signal } from '#model/prediction/prediction.ts'
import { evictable, whyUnobserved } from './thresholds.ts'

export interface Reclaimable {
  /** Images with their content store, and the writable layers of containers on the same disk. */
  imageBytes: number
  podBytes: number
  pods: RankedPod[]
  deadLogBytes: number
  bytes: number
}

type DiskSubject = Satisfied<'eviction' | 'configuration'>

/** Never less than the true bytes; double counting and undeletable data make it larger. A text is the reason why no bound exists. */
export function reclaimableAtMost(
  signal: Signal,
  layout: FilesystemLayout,
  subject: DiskSubject,
): Reclaimable | string {
  const filesystem = filesystemOf(signal, layout)
  const kinds = nodeReclaimKinds[layout][filesystem]
  const imageBytes = kinds.includes('images') ? imagesAtMost(subject) : 0
  if (imageBytes === null) return whyUnobserved(subject, 'what images take')
  // On a split disk, the writable layers of dead containers are not on the images' disk.
  const layerBytes =
    layout === 'split' && filesystem === 'nodefs' ? usedOf(subject.summary, 'containerFs') : 0
  if (layerBytes === null) return whyUnobserved(subject, 'what the layers of containers take')
  const pods = evictableBy(signal, subject)
  if (pods === null) return 'pods, or their statistics, were not read'
  const unmeasured = pods.filter(({ usage }) => usage === null)
  if (unmeasured.length > 0)
    return `what ${unmeasured.length} pods without statistics hold is not known`
  const deadLogBytes = filesystem === 'nodefs' || layout === 'shared' ? deadLogsAtMost(subject) : 0
  if (deadLogBytes === null) return 'what dead containers hold in logs is not known'
  const podBytes = pods.reduce((sum, { usage }) => sum + (usage ?? 0), 0)
  return {
    imageBytes: imageBytes + layerBytes,
    podBytes,
    pods,
    deadLogBytes,
    bytes: imageBytes + layerBytes + podBytes + deadLogBytes,
  }
}

function filesystemOf(signal: Signal, layout: FilesystemLayout): 'nodefs' | 'imagefs' {
  if (signal.startsWith('containerfs.')) return layout === 'split' ? 'nodefs' : 'imagefs'
  return signal.startsWith('nodefs.') ? 'nodefs' : 'imagefs'
}

function usedOf(summary: Summary | null, filesystem: 'imageFs' | 'containerFs') {
  const usedBytes = summary?.node?.runtime?.[filesystem]?.usedBytes
  return usedBytes !== undefined && usedBytes >= 0 ? usedBytes : null
}

/**
 * The runtime's used bytes are unpacked images and writable layers. Packed content comes on top: the sum of the runtime's listed image sizes,
 * and less than the unpacked bytes. Use does not matter: without their pods, all images can be deleted.
 */
function imagesAtMost(subject: DiskSubject) {
  const used = usedOf(subject.summary, 'imageFs')
  return used === null ? null : used + Math.min(used, packedBytes(subject))
}

/** Bytes of packed images. Infinite if images may be unlisted or their size is unknown. */
function packedBytes({ runtime, node, configuration }: DiskSubject) {
  const ofRuntime = runtime?.images?.map(({ size = Number.NaN }) => Number(size)) ?? null
  const ofStatus = (node.status?.images ?? []).map(({ sizeBytes }) => sizeBytes ?? Number.NaN)
  const isUnlisted = ofRuntime === null && ofStatus.length === 0
  if (isUnlisted || isImageListCut({ runtime, node, configuration }))
    return Number.POSITIVE_INFINITY
  const sum = (ofRuntime ?? ofStatus).reduce((total, size) => total + size, 0)
  return sum >= 0 ? sum : Number.POSITIVE_INFINITY
}

function evictableBy(signal: Signal, { eviction }: DiskSubject) {
  const ranking = eviction.rankings?.find(ranking => ranking.signal === signal)
  return ranking && eviction.protected !== null ? evictable(ranking.pods, eviction) : null
}

function deadLogsAtMost({ pods, configuration }: DiskSubject) {
  if (pods === null) return null
  const dead = pods
    .flatMap(({ status }) => [
      ...(status?.containerStatuses ?? []),
      ...(status?.initContainerStatuses ?? []),
    ])
    .filter(({ state }) => state?.terminated !== undefined && state.terminated !== null).length
  if (dead === 0) return 0
  const rotation = logRotationOf(configuration)
  return rotation === null ? null : dead * rotation.perContainerBytes
}
