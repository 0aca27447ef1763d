/**
 * Each pod's statistics in the stats summary. An absent statistic is null, never 0.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  cachedStatsFunc;  staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go PodStats
 * Read at       1.29 to 1.37, alike
 * Kept exactly  pods are found by UID; if several have one UID, the last counts; usage goes through an int64, so a wrapped one is below zero
 * Left out      statistics that no decision reads
 */

import { once } from '#base/once.ts'
import type { ContainerSummary, FilesystemStats, PodSummary, Summary } from '#model/input/record.ts'
import { availableOf, countOf } from '#replay/counters.ts'
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
  /** Null: no memory statistics at all. That differs from a missing working set. */
  memory: { workingSetBytes: number | null } | null
  containers: readonly ContainerStats[]
  volumes: readonly VolumeStats[]
  ephemeralStorageUsedBytes: number | null
  processCount: number | null
  /** Resources with a statistic that is no count: how much the kubelet sees is unknown. */
  malformed: readonly MeasuredResource[]
}

export type MeasuredResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

export interface PodStatsIndex {
  byUid: ReadonlyMap<string, PodStats>
  /** By `namespace/name`, built on first use: needed only for mirror pods and pods without a UID. */
  byName(): ReadonlyMap<string, PodStats>
  /** Keeps answers about the node of these statistics for later passes and settings. @param question parts that decide the answer; each is the same object in each pass */
  once<Answer>(question: readonly unknown[], compute: () => Answer): Answer
}

export function podStatsIn(summary: Summary | null): PodStatsIndex {
  const byUid = new Map<string, PodStats>()
  const named: { reference: PodSummary['podRef']; stats: PodStats }[] = []
  for (const raw of summary?.pods ?? []) {
    const reference = raw.podRef
    const stats = podStats(raw)
    byUid.set(reference?.uid ?? '', stats)
    named.push({ reference, stats })
  }
  const answers: Answers = { after: new Map() }
  return {
    byUid,
    byName: once(() => new Map(named.map(({ reference, stats }) => [nameOf(reference), stats]))),
    once<Answer>(question: readonly unknown[], compute: () => Answer) {
      let place = answers
      for (const part of question) {
        const next = place.after.get(part) ?? { after: new Map() }
        place.after.set(part, next)
        place = next
      }
      place.known ??= { answer: compute() }
      return place.known.answer as Answer
    },
  }
}

/** By the parts of a question, one after another. */
interface Answers {
  after: Map<unknown, Answers>
  known?: { answer: unknown }
}

const nameOf = (reference: PodSummary['podRef']) =>
  `${reference?.namespace ?? ''}/${reference?.name ?? ''}`

/**
 * Null: the kubelet has no statistics, because no container of the pod runs. The API server shows a static pod as a mirror pod with
 * another UID than the kubelet's own, so a mirror pod is found by its name.
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

/** The first statistic of a name counts. A map, because a node decides how many volumes it names. */
export const firstVolumes = ({ volumes }: PodStats): ReadonlyMap<string, VolumeStats> =>
  new Map(volumes.toReversed().map(volume => [volume.name, volume]))

function podStats(raw: PodSummary): PodStats {
  const { memory } = raw
  return {
    memory: memory ? { workingSetBytes: availableOf(memory.workingSetBytes) } : null,
    containers: (raw.containers ?? []).map(containerStats),
    volumes: (raw.volume ?? []).map(volumeStats),
    ephemeralStorageUsedBytes: availableOf(raw['ephemeral-storage']?.usedBytes),
    processCount: countOf(raw.process_stats?.process_count),
    malformed: malformedResources(raw),
  }
}

function malformedResources(raw: PodSummary): readonly MeasuredResource[] {
  const isAnyMalformed = (field: 'usedBytes' | 'inodesUsed') =>
    isMalformed(raw['ephemeral-storage']?.[field]) ||
    raw.containers?.some(
      ({ rootfs, logs }) => isMalformed(rootfs?.[field]) || isMalformed(logs?.[field]),
    ) === true ||
    raw.volume?.some(volume => isMalformed(volume[field])) === true
  const malformed: MeasuredResource[] = []
  if (isMalformed(raw.memory?.workingSetBytes)) malformed.push('memory')
  if (isAnyMalformed('usedBytes')) malformed.push('ephemeral-storage')
  if (isAnyMalformed('inodesUsed')) malformed.push('inodes')
  if (isMalformed(raw.process_stats?.process_count)) malformed.push('pids')
  return malformed
}

const isMalformed = (given: number | undefined) =>
  given !== undefined && availableOf(given) === null

const containerStats = (raw: ContainerSummary): ContainerStats => ({
  name: raw.name ?? '',
  memoryWorkingSetBytes: availableOf(raw.memory?.workingSetBytes),
  rootfs: fsUsage(raw.rootfs),
  logs: fsUsage(raw.logs),
})

const volumeStats = (raw: NonNullable<PodSummary['volume']>[number]): VolumeStats => ({
  name: raw.name ?? '',
  usedBytes: availableOf(raw.usedBytes),
  inodesUsed: availableOf(raw.inodesUsed),
})

const fsUsage = (raw: FilesystemStats | undefined): FsUsage => ({
  usedBytes: availableOf(raw?.usedBytes),
  inodesUsed: availableOf(raw?.inodesUsed),
})
