/**
 * What the stats summary tells of each pod. An absent statistic is null, never 0.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  cachedStatsFunc;  staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go PodStats
 * Read at       1.24 to 1.37, alike
 * Kept exactly  pods are found by UID, and of several with one UID the last counts; usage goes through an int64, so that a wrapped one is below zero
 * Left out      statistics that no decision reads
 */
import type { RawObject } from '#model/record.ts'
import { availableOf, countOf, objectOf, objectsOf, textOf } from '#replay/untrusted.ts'
import type { Pod } from './pod.ts'

export interface FsUsage {
  usedBytes: number | null
  inodesUsed: number | null
}

export interface ContainerStats {
  name: string
  memoryWorkingSetBytes: number | null
  rootfs: FsUsage
  logs: FsUsage
}

export interface VolumeStats extends FsUsage {
  name: string
}

export interface PodStats {
  /** Null where there are no statistics of memory at all, which is not the same as none of the working set. */
  memory: { workingSetBytes: number | null } | null
  containers: readonly ContainerStats[]
  volumes: readonly VolumeStats[]
  ephemeralStorageUsedBytes: number | null
  processCount: number | null
}

export interface PodStatsIndex {
  byUid: ReadonlyMap<string, PodStats>
  /** By `namespace/name`, made when it is first asked for: only mirror pods are found so, and pods without a UID. */
  byName(): ReadonlyMap<string, PodStats>
}

/** @param summary the body of /stats/summary */
export function parsePodStats(summary: unknown): PodStatsIndex {
  const byUid = new Map<string, PodStats>()
  const named: { reference: RawObject | null; stats: PodStats }[] = []
  for (const raw of objectsOf(objectOf(summary)?.pods)) {
    const reference = objectOf(raw.podRef)
    const stats = podStats(raw)
    byUid.set(textOf(reference?.uid) ?? '', stats)
    named.push({ reference, stats })
  }
  let byName: ReadonlyMap<string, PodStats> | null = null
  return {
    byUid,
    byName() {
      byName ??= new Map(named.map(({ reference, stats }) => [nameOf(reference), stats]))
      return byName
    },
  }
}

const nameOf = (reference: RawObject | null): string =>
  `${textOf(reference?.namespace) ?? ''}/${textOf(reference?.name) ?? ''}`

/**
 * Null where the kubelet has none: no container of the pod runs. The API server shows a static pod as a mirror of another UID than the
 * kubelet's own, so a mirror pod is found by its name.
 */
export function podStatsOf(
  { byUid, byName }: PodStatsIndex,
  { uid, namespace, name, isMirror }: Pod,
): PodStats | null {
  const isNamed = isMirror || uid === ''
  return (
    (uid === '' ? null : byUid.get(uid)) ??
    (isNamed ? byName().get(`${namespace}/${name}`) : null) ??
    null
  )
}

function podStats(raw: RawObject): PodStats {
  const memory = objectOf(raw.memory)
  return {
    memory: memory && { workingSetBytes: availableOf(memory.workingSetBytes) },
    containers: objectsOf(raw.containers).map(containerStats),
    volumes: objectsOf(raw.volume).map(volumeStats),
    ephemeralStorageUsedBytes: availableOf(objectOf(raw['ephemeral-storage'])?.usedBytes),
    processCount: countOf(objectOf(raw.process_stats)?.process_count),
  }
}

const containerStats = (raw: RawObject): ContainerStats => ({
  name: textOf(raw.name) ?? '',
  memoryWorkingSetBytes: availableOf(objectOf(raw.memory)?.workingSetBytes),
  rootfs: fsUsage(objectOf(raw.rootfs)),
  logs: fsUsage(objectOf(raw.logs)),
})

const volumeStats = (raw: RawObject): VolumeStats => ({
  name: textOf(raw.name) ?? '',
  usedBytes: availableOf(raw.usedBytes),
  inodesUsed: availableOf(raw.inodesUsed),
})

const fsUsage = (raw: RawObject | null): FsUsage => ({
  usedBytes: availableOf(raw?.usedBytes),
  inodesUsed: availableOf(raw?.inodesUsed),
})
