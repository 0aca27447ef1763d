/**
 * A node's resources: what it has, what is reserved, what pods may use.
 * Upstream: pkg/kubelet/cm/node_container_manager_linux.go GetNodeAllocatableReservation
 */
import type { StringMap } from '#model/kubelet/configuration.ts'
import { configurationOf } from './configz.ts'
import { instanceTypes } from './instance-types.ts'
import { MiB, memoryCapacityBytes, type NodeProfile } from './profile.ts'

export function capacityOf(profile: NodeProfile): StringMap {
  return {
    cpu: String(instanceTypes[profile.instanceType].vcpus),
    'ephemeral-storage': `${Math.trunc(profile.nodefs.capacityBytes / 1024)}Ki`,
    ...(profile.family !== 'Windows' && { 'hugepages-1Gi': '0', 'hugepages-2Mi': '0' }),
    memory: `${memoryCapacityBytes(profile) / 1024}Ki`,
    pods: String(configurationOf(profile).maxPods),
  }
}

export function allocatableOf(profile: NodeProfile): StringMap {
  const { evictionHard = {} } = configurationOf(profile) as { evictionHard?: StringMap }
  const memoryBytes = memoryCapacityBytes(profile)
  const storageBytes = profile.nodefs.capacityBytes
  const memory =
    memoryBytes -
    reservedBytes(profile, 'memory') -
    thresholdBytes(evictionHard['memory.available'], memoryBytes)
  const storage =
    storageBytes -
    reservedBytes(profile, 'ephemeral-storage') -
    thresholdBytes(evictionHard['nodefs.available'], storageBytes)
  return {
    ...capacityOf(profile),
    cpu: `${instanceTypes[profile.instanceType].vcpus * 1000 - reserved(profile, 'cpu', cpuMillis)}m`,
    'ephemeral-storage': String(storage),
    memory: `${Math.trunc(memory / 1024)}Ki`,
  }
}

/** Bytes that pods may use: without what is reserved, with what eviction keeps. */
export const podsMemoryLimitBytes = (profile: NodeProfile) =>
  memoryCapacityBytes(profile) - reservedBytes(profile, 'memory')

const reservedBytes = (profile: NodeProfile, resource: string) =>
  reserved(profile, resource, quantityBytes)

function reserved(profile: NodeProfile, resource: string, parse: (text: string) => number): number {
  const { kubeReserved = {}, systemReserved = {} } = configurationOf(profile) as {
    kubeReserved?: StringMap
    systemReserved?: StringMap
  }
  return [kubeReserved[resource], systemReserved[resource]].reduce(
    (sum, text) => sum + (text === undefined ? 0 : parse(text)),
    0,
  )
}

function thresholdBytes(text: string | undefined, capacityBytes: number): number {
  if (text === undefined) return 0
  // Upstream: eviction/helpers.go parsePercentage: a percentage is a float32.
  return text.endsWith('%')
    ? Math.trunc(capacityBytes * Math.fround(Math.fround(parseFloat(text)) / 100))
    : quantityBytes(text)
}

const cpuMillis = (text: string) =>
  text.endsWith('m') ? Number(text.slice(0, -1)) : Number(text) * 1000

/** The forms that the lab itself writes: `574Mi`, `1Gi`, plain bytes. @throws Error for any other. */
function quantityBytes(text: string): number {
  const [, number = '', unit = ''] = /^(\d+)(Ki|Mi|Gi|)$/.exec(text) ?? []
  if (number === '') throw new Error(`the lab does not write quantities like ${text}`)
  return (
    Number(number) * { Ki: 1024, Mi: MiB, Gi: 1024 * MiB, '': 1 }[unit as 'Ki' | 'Mi' | 'Gi' | '']
  )
}
