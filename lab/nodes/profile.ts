/** What a node of the lab is, in the few words from which all of its bodies are made. */

import type { RawObject } from '#base/raw-object.ts'
import type { ChangeFault, KubeletStart } from '#lab/machines/start.ts'
import type { AgentScenario, NodeFault } from '#lab/scenarios/scenario.ts'
import type { StringMap } from '#model/kubelet/configuration.ts'
import { type InstanceTypeName, instanceTypes } from './instance-types.ts'
import type { KubeletVersion } from './minors.ts'
import type { PodProfile } from './pod-profile.ts'

export type Family =
  | 'AL2'
  | 'AL2023'
  | 'Bottlerocket'
  | 'Ubuntu'
  | 'Hybrid'
  | 'Windows'
  | 'Fargate'
  | 'Auto Mode'

export interface Disk {
  capacityBytes: number
  /** Of the capacity; the rest is available. */
  usedPercent: number
  /** What images take of the used part at most, if the disk has them. Default: 80. */
  imagesPercent?: number
}

export interface NodeProfile {
  name: string
  family: Family
  version: KubeletVersion
  instanceType: InstanceTypeName
  zone: string
  ip: string
  /** Empty where no cloud provider set it. */
  providerId: string
  /** Beside those that every node has. */
  labels: StringMap
  nodefs: Disk
  /** The runtime's own disk; absent where it shares the node's. */
  imagefs?: Disk
  /** KubeletConfiguration fields that differ from the family's. */
  configuration?: RawObject
  /** Flags of the kubelet beside its image's, by name: what they set wins over every file. */
  flags?: StringMap
  /** Where its disk is not what its image and `configuration` made of it. */
  disk?: OnDisk
  /** Release of another kernel than its image's. */
  kernel?: string
  /** A machine of its own size, not the instance type's. */
  memoryBytes?: number
  /** Memory that its daemons use; default: what they take on a quiet node. */
  daemonsMiB?: { kubelet: number; runtime: number }
  pods: readonly PodProfile[]
  diskPressure?: boolean
  /** Since when. Default: 3. */
  diskPressureMinutes?: number
  /** Rounds of image GC that its journal has, the oldest first. `evicted`: the pod of the next pass of eviction. */
  imageGcRounds?: readonly {
    minutesAgo: number
    wantedBytes: number
    removed?: string
    evicted?: string
  }[]
  /** The kubelet stopped posting its status. */
  silent?: boolean
  /** Since when. Default: a while. */
  silentHours?: number
  fault?: NodeFault
  /** Its SSM agent; absent: SSM does not know the instance. */
  agent?: AgentScenario
  /** The release of its image, where that is not the lab's newest: `Amazon Linux 2023.8.20250915`. */
  osImage?: string
  /** How a change of it goes wrong. */
  changeFault?: ChangeFault
  /** Its kubelet was started anew: what came of it, and what time it is now by the node's clock. */
  started?: { start: KubeletStart; nowMs: number }
}

/** What happened on a disk since its node was made. */
export interface OnDisk {
  /** Fields written into the kubelet's main file after it had started. */
  editedConfiguration?: RawObject
  /** Drop-ins by name, written after the kubelet had started; where no folder of them was named to it, it will never read them. */
  dropIns?: Readonly<Record<string, RawObject>>
  /** Other files by path, in place of those that the image has there; null: not there. */
  files?: Readonly<Record<string, string | null>>
  /** The runtime does not hold the sandbox image fast. */
  isSandboxImageUnpinned?: boolean
  /** Images that no container uses: compressed bytes by name. */
  unusedImages?: Readonly<Record<string, number>>
  /** Folders of the host, beside those that every node has. */
  foldersMiB?: Readonly<Record<string, number>>
  /** A snapshot that no image and no container has. */
  leftBehindMiB?: number
  /** Memory cgroups that are deleted and not gone. */
  dyingCgroups?: number
}

export const GiB = 2 ** 30
export const MiB = 2 ** 20

/** Firmware and kernel keep some of the instance's memory. */
const usableMemory = 0.965

export const memoryCapacityBytes = ({ instanceType, memoryBytes }: NodeProfile) =>
  memoryBytes ?? Math.trunc(instanceTypes[instanceType].memoryMiB * usableMemory) * MiB

export const availableBytes = ({ capacityBytes, usedPercent }: Disk) =>
  Math.trunc((capacityBytes * (100 - usedPercent)) / 100)
