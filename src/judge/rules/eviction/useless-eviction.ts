import { nodeReclaimKinds } from '#facts/kubelet/node-reclaim.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import { diskOf, lineOf, openFilesUnread } from '#judge/help/holder-cause.ts'
import {
  amountOf,
  evictablePods,
  thresholdEvidence,
  unobserved,
  whyUnobserved,
} from '#judge/help/thresholds.ts'
import { logRotationOf } from '#judge/logs/logs.ts'
import {
  bytes,
  bytesLine,
  type Failing,
  isImageListCut,
  isLinux,
  line,
  nodeRule,
  plural,
  type Satisfied,
  shortPodName,
  worldCause,
} from '#judge/rule.ts'
import { type Summary, statusesOf } from '#model/input/record.ts'
import type { EvaluatedThreshold, FilesystemLayout, RankedPod, Signal } from '#model/prediction.ts'

const signals: readonly Signal[] = [
  'nodefs.available',
  'imagefs.available',
  'containerfs.available',
]
const shown = 3

export const uselessEviction = nodeRule({
  id: 'useless-eviction',
  family: 'eviction',
  severity: 'high',
  cause: worldCause('growth'),
  steps: ['look-on-node'],
  needs: ['configuration', 'eviction'],
  title: 'Evicting every pod would not make enough room',
  why: 'The kubelet can delete images, dead containers, and pods with their logs, writable layers and emptyDir volumes, and nothing else. Where files of the host, hostPath volumes or what runs beside Kubernetes hold the disk, it evicts pod after pod, the node stays under DiskPressure, and no pod comes back.',
  fix: 'Log in to the node and find what fills the disk (du on its mount points: journals, core dumps, hostPath folders, package caches). Delete it, or replace the node with one that has a larger disk. No threshold helps; cordon the node so that no new pod is scheduled to it.',
  sources: [
    'pkg/kubelet/eviction/helpers.go buildSignalToNodeReclaimFuncs, podDiskUsage',
    'pkg/kubelet/eviction/eviction_manager.go reclaimNodeLevelResources, evictPod',
    'kubernetes/kubernetes#115201',
    'kubernetes/kubernetes#66961',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { eviction, filesystems } = subject
    const { layout } = filesystems
    const found = new Map<string, Short>()
    for (const threshold of eviction.thresholds.filter(({ signal }) => signals.includes(signal))) {
      const room = roomOf(threshold, subject)
      if (!room) {
        if (threshold.met !== false)
          yield unobserved(subject, `how far ${threshold.signal} is from its threshold`)
        continue
      }
      // Enough is available: eviction would only have to free what is written from now on.
      if (room.missingBytes <= 0) continue
      const most =
        layout === null
          ? 'the layout of the filesystems is not known'
          : maxReclaimable(threshold.signal, layout, subject)
      if (typeof most === 'string') {
        if (threshold.met)
          yield { unknown: `whether eviction can bring ${threshold.signal} back: ${most}` }
        continue
      }
      const shortBytes = room.missingBytes - most.bytes
      if (shortBytes <= 0 || layout === null) continue
      // Each disk is reported once, by the threshold that is short of the most bytes.
      const disk = layout === 'shared' ? 'nodefs' : filesystemOf(threshold.signal, layout)
      if ((found.get(disk)?.shortBytes ?? 0) < shortBytes)
        found.set(disk, { threshold, ...room, most, shortBytes })
    }
    for (const short of found.values()) {
      const reason = diskReason(subject, short.threshold.signal)
      const isUnknown = short.threshold.met === true && reason?.cause.kind === 'unread'
      yield {
        ...reason,
        ...(isUnknown && reason.seen === undefined && { seen: uselessText(short, subject) }),
        ...failing(short, subject),
      }
    }
  },
})

interface Short extends NonNullable<ReturnType<typeof roomOf>> {
  threshold: EvaluatedThreshold
  most: Exclude<ReturnType<typeof maxReclaimable>, string>
  shortBytes: number
}

/** Null: the capacity or the available bytes were not observed. */
function roomOf(
  { signal, resolved, margin, minReclaim }: EvaluatedThreshold,
  { eviction }: DiskSubject,
) {
  const capacityBytes = eviction.signals[signal]?.capacityBytes
  if (!capacityBytes || resolved === null || margin === null) return null
  const reclaim = amountOf(minReclaim, capacityBytes) ?? 0
  const availableBytes = resolved + margin
  // The threshold is no longer met when this many bytes are available. The rule unreachable-min-reclaim reports one beyond the whole disk.
  const neededBytes = resolved + reclaim < capacityBytes ? resolved + reclaim : resolved
  return { capacityBytes, availableBytes, neededBytes, missingBytes: neededBytes - availableBytes }
}

/** Why evictions end nothing, where nothing shows what holds the disk. */
function uselessText({ threshold, missingBytes, most }: Short, { filesystems }: DiskSubject) {
  const { layout, imagefs } = filesystems
  const ofImages =
    layout === 'imagefs' && threshold.signal.startsWith('nodefs.') && imagefs?.capacityBytes
      ? `; images are on another disk, of ${bytes(imagefs.capacityBytes)}`
      : ''
  const images = ofImages === '' ? ' and all images' : ''
  const beside = most.openBytes === null ? `; ${openFilesUnread}` : ''
  return `evicting every pod would not make enough room: ${bytes(missingBytes)} are missing, and at most ${bytes(most.bytes)} come from ${plural(most.pods.length, 'pod')}${images}${ofImages}${beside}.`
}

function failing(short: Short, { configuration, filesystems, host }: DiskSubject): Failing {
  const { threshold, capacityBytes, availableBytes, neededBytes, missingBytes, most } = short
  const { signal, met } = threshold
  const otherBytes = capacityBytes - availableBytes - most.bytes
  const largest = most.pods.toSorted((a, b) => (b.usage ?? 0) - (a.usage ?? 0)).slice(0, shown)
  const beside = most.openBytes === null ? ` (${openFilesUnread})` : ''
  const gives = `all images and ${plural(most.pods.length, 'pod')} that may be evicted give back ${bytes(most.bytes)} at most${beside}`
  return {
    severity: met ? 'high' : 'medium',
    // Without a measurement on the node, pods could hold deleted files open.
    confidence: filesystems.layoutCertainty === 'certain' && host?.diskUse ? 'certain' : 'likely',
    consequence: met
      ? `${signal} needs ${bytes(missingBytes)} more, and ${gives}: the kubelet evicts one pod after the other, and the node stays under DiskPressure. ${bytes(otherBytes)} or more are held by something else.`
      : `Once ${signal} is met, it stays met until ${bytes(neededBytes)} are available; ${gives}, so it never ends. ${bytes(otherBytes)} or more are held by something else.`,
    evidence: [
      thresholdEvidence(threshold, configuration),
      line('configz', `evictionMinimumReclaim.${signal}`, threshold.minReclaim),
      bytesLine('summary', `${signal} now`, availableBytes),
      bytesLine('computed', `${signal} needed to end it`, neededBytes),
      bytesLine('computed', 'images and layers, at most', most.imageBytes),
      line(
        'computed',
        'pods that may be evicted',
        `${bytes(most.podBytes)} in ${plural(most.pods.length, 'pod')}`,
      ),
      line(
        'computed',
        'deleted files that these pods hold open, at most',
        most.openBytes === null ? 'unknown' : bytes(most.openBytes),
      ),
      bytesLine('computed', 'logs of dead containers, at most', most.deadLogBytes),
      bytesLine('computed', 'held by something else, at least', otherBytes),
      bytesLine('summary', 'capacity', capacityBytes),
      ...largest.map(pod =>
        line('computed', `pod ${shortPodName(pod)}`, `holds ${bytes(pod.usage ?? 0)}`),
      ),
    ],
  }
}

/* Maximum bytes that evicting all pods frees on one filesystem. */

type DiskSubject = Satisfied<'eviction' | 'configuration'>

/** Never less than the true bytes; double counting and undeletable data make it larger. A text is the reason why no bound exists. */
function maxReclaimable(signal: Signal, layout: FilesystemLayout, subject: DiskSubject) {
  const filesystem = filesystemOf(signal, layout)
  const kinds = nodeReclaimKinds[layout][filesystem]
  const imageBytes = kinds.includes('images') ? maxImageBytes(subject) : 0
  if (imageBytes === null) return whyUnobserved(subject, 'what images take')
  // On a split disk, the writable layers of dead containers are not on the images' disk.
  const layerBytes =
    layout === 'split' && filesystem === 'nodefs'
      ? runtimeUsedBytes(subject.summary, 'containerFs')
      : 0
  if (layerBytes === null) return whyUnobserved(subject, 'what the layers of containers take')
  const pods = evictableBy(signal, subject)
  if (!pods) return 'pods, or their statistics, were not read'
  const unmeasured = pods.filter(({ usage }) => usage === null)
  if (unmeasured.length > 0)
    return `what ${unmeasured.length} pods without statistics hold is not known`
  const deadLogBytes = filesystem === 'nodefs' || layout === 'shared' ? maxDeadLogBytes(subject) : 0
  if (deadLogBytes === null) return 'what dead containers hold in logs is not known'
  const openBytes = maxOpenFileBytes(filesystem, pods, subject)
  const podBytes = pods.reduce((sum, { usage }) => sum + (usage ?? 0), 0)
  return {
    /** Images with their content store, and the writable layers of containers on the same disk. */
    imageBytes: imageBytes + layerBytes,
    podBytes,
    pods,
    /** Deleted files that processes of these pods hold open. Null: no measurement on the node. */
    openBytes,
    deadLogBytes,
    bytes: imageBytes + layerBytes + podBytes + (openBytes ?? 0) + deadLogBytes,
  }
}

function filesystemOf(signal: Signal, layout: FilesystemLayout): 'nodefs' | 'imagefs' {
  if (signal.startsWith('containerfs.')) return layout === 'split' ? 'nodefs' : 'imagefs'
  return signal.startsWith('nodefs.') ? 'nodefs' : 'imagefs'
}

function runtimeUsedBytes(summary: Summary | null, filesystem: 'imageFs' | 'containerFs') {
  const usedBytes = summary?.node?.runtime?.[filesystem]?.usedBytes
  return usedBytes !== undefined && usedBytes >= 0 ? usedBytes : null
}

/**
 * The runtime's used bytes are unpacked images and writable layers. Packed content comes on top: the sum of the runtime's listed image sizes,
 * and less than the unpacked bytes. Use does not matter: without their pods, all images can be deleted.
 */
function maxImageBytes(subject: DiskSubject) {
  const used = runtimeUsedBytes(subject.summary, 'imageFs')
  return used === null ? null : used + Math.min(used, packedBytes(subject))
}

/** Bytes of packed images. Infinite if images may be unlisted or their size is unknown. */
function packedBytes({ runtime, node, configuration }: DiskSubject) {
  const ofRuntime = runtime?.images?.map(({ size = NaN }) => Number(size)) ?? null
  const ofStatus = (node.status?.images ?? []).map(({ sizeBytes }) => sizeBytes ?? NaN)
  const isUnlisted = ofRuntime === null && ofStatus.length === 0
  if (isUnlisted || isImageListCut({ runtime, node, configuration })) return Infinity
  const sum = (ofRuntime ?? ofStatus).reduce((total, size) => total + size, 0)
  return sum >= 0 ? sum : Infinity
}

function evictableBy(signal: Signal, { eviction }: DiskSubject) {
  const ranking = eviction.rankings?.find(ranking => ranking.signal === signal)
  return ranking && eviction.protected ? evictablePods(ranking.pods, eviction) : null
}

/** All deleted open files of the disk, without those of processes that no eviction ends: the host's, and those of protected pods. Null: unread. */
function maxOpenFileBytes(
  filesystem: 'nodefs' | 'imagefs',
  pods: readonly RankedPod[],
  { ledger, host }: DiskSubject,
) {
  if (!host?.diskUse) return null
  const own = ledger?.isShared ? 'nodefs' : filesystem

  const disk = ledger && diskOf(ledger, own)
  const all = disk && lineOf(disk, 'deleted-open-files')
  const staying = (ledger?.parts ?? []).filter(
    ({ holder, owner, ...part }) =>
      holder === 'deleted-open-files' &&
      part.filesystem === own &&
      !(
        owner?.kind === 'process' &&
        pods.some(({ namespace, name }) => namespace === owner.namespace && name === owner.pod)
      ),
  )
  return staying.reduce((rest, { lowBytes }) => rest - lowBytes, all?.highBytes ?? 0)
}

function maxDeadLogBytes({ pods, configuration }: DiskSubject) {
  if (!pods) return null
  const dead = pods.flatMap(statusesOf).filter(({ state }) => state?.terminated != null).length
  if (dead === 0) return 0
  const rotation = logRotationOf(configuration)
  return rotation ? dead * rotation.perContainerBytes : null
}
