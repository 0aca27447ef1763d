/**
 * The resource of each eviction signal.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  signalToResource
 * Read at       1.29 to 1.37; alike except for the signals of containerfs
 */
import type { Signal } from '#model/prediction/prediction.ts'

export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

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
