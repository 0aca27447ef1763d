/**
 * The eviction manager's observations: the signals of one stats summary.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  makeSignalObservations, thresholdsUpdatedStats;  helpers_windows.go  makeMemoryAvailableSignalObservation
 * Read at       1.29 to 1.37; 1.29 brought containerfs, and imagefs.inodesFree even if the bytes of imagefs are missing; Windows (from 1.31 on): 1.34, 1.35
 * Kept exactly  a signal exists only if all its fields do; memory capacity is available + working set. On Windows memory means the global
 *               commit, page file included: available + usage; the available amount
 *               goes through an int64, so a wrapped amount is below zero
 * Left out      hugepages, which the summary of a kubelet from 1.37 on already excludes; pod statistics
 */
import type { FilesystemStats, MemoryStats, Summary } from '#model/input/record.ts'
import type {
  FilesystemLayout,
  FilesystemState,
  Filesystems,
  Observation,
  Signal,
} from '#model/prediction.ts'
import { availableOf, countOf } from '#replay/counters.ts'
import type { Kubelet } from '#replay/kubelet.ts'

export type Observations = Partial<Record<Signal, Observation>>

/** A signal with absent or malformed statistics is omitted. */
export function makeSignalObservations(summary: Summary): Observations {
  const { node } = summary
  const { imageFs, containerFs } = node?.runtime ?? {}
  return withoutNulls({
    'memory.available': nodeMemory(node),
    'allocatableMemory.available': memory(podsMemory(node)),
    ...diskSignals([node?.fs, imageFs, containerFs], bytes, inodes),
    'pid.available': pids(node?.rlimit),
  })
}

/** Observations from the node's own measurements, if there is no summary. The filesystems are the same; memory and processes stay unobserved. */
export function diskObservations({ nodefs, imagefs, containerfs }: Filesystems): Observations {
  const observationOf = (capacity: number | null, available: number | null): Observation | null =>
    capacity === null || available === null ? null : { available, capacity, time: null }
  const bytes = (state: FilesystemState | null) =>
    observationOf(state?.capacityBytes ?? null, state?.availableBytes ?? null)
  const inodes = (state: FilesystemState | null) =>
    observationOf(state?.inodes ?? null, state?.inodesFree ?? null)
  return withoutNulls(diskSignals([nodefs, imagefs, containerfs], bytes, inodes))
}

const diskSignals = <Disk>(
  [nodefs, imagefs, containerfs]: readonly [Disk, Disk, Disk],
  bytes: (disk: Disk) => Observation | null,
  inodes: (disk: Disk) => Observation | null,
) => ({
  'nodefs.available': bytes(nodefs),
  'nodefs.inodesFree': inodes(nodefs),
  'imagefs.available': bytes(imagefs),
  'imagefs.inodesFree': inodes(imagefs),
  'containerfs.available': bytes(containerfs),
  'containerfs.inodesFree': inodes(containerfs),
})

function withoutNulls(all: Partial<Record<Signal, Observation | null>>) {
  const observed: Observations = {}
  for (const [signal, observation] of Object.entries(all))
    if (observation) observed[signal as Signal] = observation
  return observed
}

type NodeStats = Summary['node']

function nodeMemory(node: NodeStats): Observation | null {
  const ofWindows = commitMemory(node)
  return ofWindows ? memory(ofWindows.memory, 'usageBytes') : memory(node?.memory)
}

function memory(
  stats: MemoryStats | undefined,
  usedKey: 'workingSetBytes' | 'usageBytes' = 'workingSetBytes',
): Observation | null {
  const available = availableOf(stats?.availableBytes)
  const used = countOf(stats?.[usedKey])
  if (available === null || used === null) return null
  // No machine has less than 0 memory. A sum below 0 is a wrapped small counter that was rounded.
  return { available, capacity: Math.max(0, available + used), time: timeOf(stats) }
}

/**
 * Whether the kubelet itself cannot observe the signal, so never meets its threshold. A kubepods cgroup without a memory limit has no
 * available memory; a runtime might not report containerfs. The related statistics must be present; otherwise only this summary lacks the signal.
 */
export function isUnobservedUpstream(signal: Signal, summary: Summary): boolean {
  const { node } = summary
  if (signal === 'allocatableMemory.available') {
    const pods = podsMemory(node)
    return countOf(pods?.workingSetBytes) !== null && pods?.availableBytes === undefined
  }
  const runtime = node?.runtime
  return (
    signal.startsWith('containerfs.') &&
    runtime?.imageFs !== undefined &&
    runtime.containerFs === undefined
  )
}

/** Memory of the kubepods cgroup, which is listed among the system containers. */
const podsMemory = (node: NodeStats) => systemContainer(node, 'pods')?.memory

/** Reported only by Windows kubelets that use it: kubelet/pkg/apis/stats/v1alpha1 SystemContainerWindowsGlobalCommitMemory. */
const commitMemory = (node: NodeStats) => systemContainer(node, 'windows-global-commit-memory')

const systemContainer = (node: NodeStats, name: string) =>
  node?.systemContainers?.find(container => container.name === name)

const bytes = (stats: FilesystemStats | undefined) => pair(stats, 'availableBytes', 'capacityBytes')
const inodes = (stats: FilesystemStats | undefined) => pair(stats, 'inodesFree', 'inodes')

function pair(
  stats: FilesystemStats | undefined,
  availableKey: 'availableBytes' | 'inodesFree',
  capacityKey: 'capacityBytes' | 'inodes',
): Observation | null {
  const available = availableOf(stats?.[availableKey])
  const capacity = countOf(stats?.[capacityKey])
  return available === null || capacity === null
    ? null
    : { available, capacity, time: timeOf(stats) }
}

function pids(rlimit: NonNullable<NodeStats>['rlimit']): Observation | null {
  const capacity = countOf(rlimit?.maxpid)
  const running = countOf(rlimit?.curproc)
  return capacity === null || running === null
    ? null
    : { available: capacity - running, capacity, time: timeOf(rlimit) }
}

const timeForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

function timeOf(stats: { time?: string } | undefined) {
  const time = stats?.time
  if (time === undefined) return null
  return timeForm.test(time) && !Number.isNaN(Date.parse(time)) ? time : null
}

/** Whether statistics are newer than in the previous pass. Upstream takes statistics without a time as new. */
export function isUpdated(observed: Observation, last: Observation | undefined): boolean {
  if (!last || observed.time === null || observed.time === zeroTime) return true
  if (observed.time === last.time) return false
  const time = momentOf(observed.time)
  const before = momentOf(last.time ?? zeroTime)
  return time.ms > before.ms || (time.ms === before.ms && time.nanoseconds > before.nanoseconds)
}

/** Go's zero time: a time that was never set. */
const zeroTime = '0001-01-01T00:00:00Z'

/** The time up to its second in ms, and the nanoseconds beyond. */
function momentOf(time: string) {
  const [, second = '', fraction = '', zone = ''] = timeForm.exec(time) ?? []
  return { ms: Date.parse(second + zone), nanoseconds: Number(fraction.padEnd(9, '0')) }
}

/*
 * The layout of the kubelet's filesystems. The eviction manager determines it once.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize (the part that runs while dedicatedImageFs is nil)
 * Read at       1.29 to 1.37; split filesystems since 1.29
 * Left out      how the kubelet determines the layout: devices, CRI statistics, cAdvisor's labels
 */

export interface DiskLayout {
  dedicatedImageFs: boolean
  /** Writable layers are on another filesystem than images. */
  splitContainerImageFs: boolean
}

export const diskLayoutOf = (layout: FilesystemLayout): DiskLayout => ({
  dedicatedImageFs: layout !== 'shared',
  splitContainerImageFs: layout === 'split',
})

/** A kubelet that detects a split but has the feature off reports one error. From then on it neither collects nor evicts under pressure. */
export const isRefusedLayout = ({ splitContainerImageFs }: DiskLayout, kubelet: Kubelet): boolean =>
  splitContainerImageFs && !kubelet.isGateOn('KubeletSeparateDiskGC')

/** Whether images and containers share nodefs, share a disk of their own, or only images have a disk of their own. */
export function placementOf({
  dedicatedImageFs,
  splitContainerImageFs,
}: DiskLayout): FilesystemLayout {
  // Only the containers have a disk of their own: upstream treats that as one filesystem.
  if (!dedicatedImageFs) return 'shared'
  return splitContainerImageFs ? 'split' : 'imagefs'
}
