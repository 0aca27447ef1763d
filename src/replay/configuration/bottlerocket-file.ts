/**
 * The kubelet's configuration file as Bottlerocket generates it from its settings. No agent reads the host's files on Bottlerocket.
 *
 * Replays       bottlerocket-core-kit packages/kubernetes-1.NN, kubelet-config; schnauzer helpers kube_reserve_cpu, kube_reserve_memory
 * Read at       1.29 to 1.35
 * Kept exactly  a set map replaces all of the kubelet's defaults; empty values count as not set, and so does 0 except in some settings; numbers may be
 *               texts; memory is reserved by max-pods only if it is set; no cgroup is named beside reserved CPUs; the memory manager's policy
 *               is written only beside memory reserved for it
 * Left out      fields that no replay reads: addresses, certificates, cipher suites
 */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import {
  bottlerocketEphemeralReservation,
  bottlerocketSystemCgroup,
  bottlerocketTemplate,
  bottlerocketZeros,
} from '#facts/eks/bottlerocket-template.ts'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { kubeletConfigurationKind } from './configuration-kind.ts'

/** @param settings `settings.kubernetes` as apiclient prints it. @param cores CPU cores of the node, for the default reservation */
export function bottlerocketFileOf(
  settings: Readonly<RawObject>,
  kubeletVersion: string | null,
  cores: number,
): RawObject {
  const file: RawObject = { ...kubeletConfigurationKind, ...bottlerocketTemplate(kubeletVersion) }
  for (const [setting, [field, kind]] of Object.entries(bottlerocketSettings)) {
    const value = settings[setting]
    if (isWritten(setting, value)) file[field] = written(value, kind)
  }
  file.kubeReserved = kubeReserved(settings, cores)
  if (isSet(settings['system-reserved'])) file.systemReservedCgroup = bottlerocketSystemCgroup
  if (isSet(settings['reserved-cpus'])) {
    delete file.kubeReservedCgroup
    delete file.systemReservedCgroup
  }
  const reservedMemory = memoryOfManager(settings)
  if (reservedMemory.length > 0) file.reservedMemory = reservedMemory
  else delete file.memoryManagerPolicy
  return file
}

/** Whether the template's `if` takes the value as true. */
const isSet = (value: unknown) => {
  if (Array.isArray(value)) return value.length > 0
  if (isRawObject(value)) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== false
}

const isWritten = (setting: string, value: unknown) =>
  isSet(value) || (value === 0 && bottlerocketZeros.has(setting)) || value === false

function written(value: unknown, kind: 'number' | 'text' | 'boolean' | 'map' | 'list') {
  if (kind === 'number')
    return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (kind === 'map' && isRawObject(value)) return texts(value)
  return kind === 'text' && typeof value === 'number' ? String(value) : value
}

const texts = (map: RawObject): RawObject =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]))

function kubeReserved(settings: RawObject, cores: number): RawObject {
  const set = Object.entries(settings?.['kube-reserved'] ?? {}).filter(([, value]) => isSet(value))
  const maxPods = Number(settings['max-pods'])
  return {
    cpu: `${eksReservedCpuMillis(cores)}m`,
    ...(maxPods > 0 && { memory: `${eksReservedMemoryMiB(maxPods)}Mi` }),
    'ephemeral-storage': bottlerocketEphemeralReservation,
    ...texts(Object.fromEntries(set)),
  }
}

function memoryOfManager(settings: RawObject): RawObject[] {
  return Object.entries(settings?.['memory-manager-reserved-memory'] ?? {}).flatMap(
    ([numaNode, limits]) => {
      if (!isRawObject(limits) || limits.enabled !== true) return []
      const { enabled: _, ...amounts } = limits
      return [{ numaNode: Number(numaNode), limits: texts(amounts) }]
    },
  )
}
