/** Pods, statistics and passes, each test naming only what matters to it. */

import { type EvictionState, type Pass, startEviction } from '#replay/eviction/synchronize.ts'
import {
  diskLayoutOf,
  type EvictionConfiguration,
  type Observations,
  parseEvictionConfig,
} from '#replay/eviction/thresholds.ts'
import type { Pod, PodStatsIndex } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf, podStatsOf } from '#test/at-the-door.ts'

export const MiB = 1024 ** 2
export const GiB = 1024 ** 3

export const newest = kubeletOf('v1.37.0')
export const shared = diskLayoutOf('shared')
export const dedicated = diskLayoutOf('imagefs')
export const split = diskLayoutOf('split')

export function pod(
  name: string,
  spec: object = {},
  { metadata = {}, status = {} }: { metadata?: object; status?: object } = {},
): Pod {
  const parsed = podOf({
    metadata: { name, uid: `uid-${name}`, ...metadata },
    spec: { containers: [{ name: 'c' }], ...spec },
    status,
  })
  if (!parsed) throw new Error('it is no pod')
  return parsed
}

/** One container `c` with these requests. */
export const requesting = (requests: object) => ({
  containers: [{ name: 'c', resources: { requests } }],
})
export const limitedTo = (limits: object) => ({
  containers: [{ name: 'c', resources: { limits } }],
})

/** By pod name. */
export const statsOf = (pods: Record<string, object>): PodStatsIndex =>
  podStatsOf({
    pods: Object.entries(pods).map(([name, stats]) => ({
      podRef: { name, namespace: 'default', uid: `uid-${name}` },
      ...stats,
    })),
  })

export const memoryStats = (workingSetBytes: number) => ({
  memory: { workingSetBytes },
  containers: [],
})

/** Of container `c`. */
export const diskStats = (rootfsBytes: number, logsBytes = 0, rest: object = {}) => ({
  containers: [{ name: 'c', rootfs: { usedBytes: rootfsBytes }, logs: { usedBytes: logsBytes } }],
  ...rest,
})

export const second = (index: number): string =>
  new Date(Date.UTC(2026, 10, 21) + index * 1000).toISOString()

/** `available` of a memory of 16 GiB, seen at that second. */
export const memoryAt = (available: number, index: number): Observations => ({
  'memory.available': { available, capacity: 16 * GiB, time: second(index) },
})

/** Shares of 100 GiB that are free, seen at that second. */
export const disksAt = (nodefs: number, imagefs: number, index: number): Observations => ({
  'nodefs.available': { available: nodefs * GiB, capacity: 100 * GiB, time: second(index) },
  'imagefs.available': { available: imagefs * GiB, capacity: 100 * GiB, time: second(index) },
})

export function manager(
  configuration: EvictionConfiguration,
  version = 'v1.37.0',
): { state: EvictionState; pass: Pass } {
  const kubelet = kubeletOf(version)
  const config = parseEvictionConfig(configuration)
  const pass: Pass = {
    nowMs: 0,
    observations: {},
    pods: [],
    podStats: statsOf({}),
    layout: shared,
    config,
    kubelet,
    reclaim: () => {
      throw new Error('nothing was to be reclaimed')
    },
  }
  return { state: startEviction(config), pass }
}
