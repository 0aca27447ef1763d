import { canonicalText, formatBytes, milliValue, type Quantity } from '#base/go/quantity.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { nodeAllocatable } from '#replay/node-allocatable.ts'
import { kubeletOf } from '#replay/times.ts'
import type { Family } from './family.ts'

interface Input
  extends Pick<KubeletConfiguration, 'kubeReserved' | 'systemReserved' | 'evictionHard'> {
  cpuCores: number
  memoryBytes: number
  ephemeralStorageBytes: number
  /** By the page's size in KiB how many there are. */
  hugePages?: Record<string, number>
  maxPods: number
  podsPerCore: number
}

export const allocatable: Family<Input> = {
  name: 'allocatable',
  answer({ cpuCores, memoryBytes, ephemeralStorageBytes, hugePages, ...given }, version) {
    // Null is what Go reads for a map that is not there.
    const configuration = {
      ...given,
      kubeReserved: given.kubeReserved ?? {},
      systemReserved: given.systemReserved ?? {},
      evictionHard: given.evictionHard ?? {},
    }
    const machine = {
      cpuCores,
      memoryBytes,
      ephemeralStorageBytes,
      hugePages: hugePagesOf(hugePages ?? {}),
    }
    const answer = nodeAllocatable(machine, configuration, kubeletOf(version).features)
    if ('field' in answer) return { ok: false, error: `${answer.field}: ${answer.message}` }
    return {
      ok: true,
      reservation: shown(answer.reservation),
      podsCgroupLimit: shown(answer.podsCgroupLimit),
      capacity: shown(answer.capacity),
      allocatable: shown(answer.allocatable),
      overReserved: answer.overReserved,
    }
  },
}

const hugePagesOf = (counts: Record<string, number>): Map<string, bigint> =>
  new Map(
    Object.entries(counts).map(([pageKiB, count]) => {
      const pageBytes = BigInt(pageKiB) * 1024n
      return [`hugepages-${formatBytes(pageBytes)}`, pageBytes * BigInt(count)]
    }),
  )

const shown = (list: ReadonlyMap<string, Quantity>) =>
  Object.fromEntries(
    [...list].map(([name, amount]) => [
      name,
      { canonical: canonicalText(amount), milliValue: String(milliValue(amount)) },
    ]),
  )
