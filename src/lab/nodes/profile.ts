/** What a node of the lab is, in the few words from which all of its bodies are made. */

import type { NodeFault } from '#lab/scenarios/scenario.ts'
import type { StringMap } from '#model/kubelet-configuration.ts'
import type { RawObject } from '#model/record.ts'
import type { InstanceTypeName } from './instance-types.ts'
import type { KubeletVersion } from './minors.ts'
import type { PodProfile } from './pod-profile.ts'

export type Family = 'AL2' | 'AL2023' | 'Bottlerocket' | 'Ubuntu' | 'Windows' | 'Fargate' | 'Auto Mode'

export interface Disk {
  capacityBytes: number
  /** Of the capacity; the rest is available. */
  usedPercent: number
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
  /** A machine of its own size, not the instance type's. */
  memoryBytes?: number
  /** Memory that its daemons use; default: what they take on a quiet node. */
  daemonsMiB?: { kubelet: number; runtime: number }
  pods: readonly PodProfile[]
  diskPressure?: boolean
  /** The kubelet stopped posting its status. */
  silent?: boolean
  fault?: NodeFault
}

export const GiB = 2 ** 30
export const MiB = 2 ** 20

export const availableBytes = ({ capacityBytes, usedPercent }: Disk) => Math.trunc((capacityBytes * (100 - usedPercent)) / 100)
