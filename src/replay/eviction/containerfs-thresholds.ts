/**
 * Thresholds of containerfs. The kubelet does not use configured ones: it copies those of the filesystem that holds containerfs.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  UpdateContainerFsThresholds
 * Read at       1.29 to 1.37, alike; not there before
 * Kept exactly  a configured threshold of containerfs is overwritten in place, so it acts at once; an added one acts from the next pass on;
 *               of several such thresholds only the last is overwritten
 * Left out      the empty thresholds for which nothing is configured: they have no operator and are never met
 */
import type { Signal, Threshold } from '#model/prediction/prediction.ts'
import type { DiskLayout } from './layout.ts'
import { isHardThreshold } from './thresholds.ts'

export interface ContainerFsThresholds {
  /** All configured thresholds, with containerfs replaced. The pass that determines the layout uses these. */
  configured: readonly Threshold[]
  /** Thresholds that every later pass uses in addition. */
  added: readonly Threshold[]
}

export function updateContainerFsThresholds(
  thresholds: readonly Threshold[],
  layout: DiskLayout,
): ContainerFsThresholds {
  const filesystem = sourceOf(layout)
  if (filesystem === null) return { configured: thresholds, added: [] }
  const configured: (Threshold | null)[] = [...thresholds]
  const added: Threshold[] = []
  for (const measure of ['available', 'inodesFree'] as const) {
    for (const isHard of [true, false]) {
      const signal: Signal = `containerfs.${measure}`
      const source = thresholds.findLast(isOf(`${filesystem}.${measure}`, isHard))
      const copy = source ? { ...source, signal } : null
      const index = thresholds.findLastIndex(isOf(signal, isHard))
      if (index >= 0) configured[index] = copy
      else if (copy) added.push(copy)
    }
  }
  return { configured: configured.filter(threshold => threshold !== null), added }
}

/** Null: upstream has no rule if only the containers, not the images, have a disk of their own. */
function sourceOf({
  dedicatedImageFs,
  splitContainerImageFs,
}: DiskLayout): 'nodefs' | 'imagefs' | null {
  if (dedicatedImageFs === splitContainerImageFs) return 'nodefs'
  return dedicatedImageFs ? 'imagefs' : null
}

const isOf = (signal: Signal, isHard: boolean) => (threshold: Threshold) =>
  threshold.signal === signal && isHardThreshold(threshold) === isHard
