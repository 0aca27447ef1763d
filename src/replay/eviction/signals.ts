/**
 * The meaning of each eviction signal.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  signalToNodeCondition, signalToResource
 * Read at       1.29 to 1.37; alike except for the signals of containerfs
 */
import type { Signal } from '#model/prediction/prediction.ts'

export type NodeCondition = 'DiskPressure' | 'MemoryPressure' | 'PIDPressure'
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

const byResource: Record<StarvedResource, NodeCondition> = {
  memory: 'MemoryPressure',
  'ephemeral-storage': 'DiskPressure',
  inodes: 'DiskPressure',
  pids: 'PIDPressure',
}

const resources: Record<Signal, StarvedResource> = {
  'memory.available': 'memory',
  'allocatableMemory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'containerfs.available': 'ephemeral-storage',
  'containerfs.inodesFree': 'inodes',
  'pid.available': 'pids',
}

export const resourceOf = (signal: Signal): StarvedResource => resources[signal]

export const conditionOf = (signal: Signal): NodeCondition => byResource[resources[signal]]
