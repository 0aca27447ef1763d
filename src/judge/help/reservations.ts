import { amountOrNull, type Quantity, quantityNumber, quantityOrNull } from '#base/go/quantity.ts'
import { mebibyte } from '#base/units.ts'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { meaningOf } from '#facts/kubelet/fields.ts'
import { bytesLine, type Failing, line, type NodeSubject, type Satisfied } from '#judge/rule.ts'
import type { Summary } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { EvictionPrediction } from '#model/prediction.ts'
import { scarceProcessIds } from './processes.ts'

/** Null if a quantity does not parse; a kubelet would not start with it. */
export function reservedOf(
  { kubeReserved, systemReserved }: KubeletConfiguration,
  resource: 'memory' | 'cpu' | 'ephemeral-storage',
  amount: (quantity: Quantity) => number = quantityNumber,
) {
  const [kube, system] = [kubeReserved, systemReserved].map(map => {
    const quantity = quantityOrNull(map?.[resource] ?? '0')
    return quantity && amount(quantity)
  })
  if (typeof kube !== 'number' || typeof system !== 'number') return null
  return { kube, system, total: kube + system }
}

/**
 * Whether `written` is the kubeReserved value that an EKS image computes. The memory formula needs the instance's maximum number of pods,
 * which is unknown here, so any positive whole number of pods matches. Null: the instance's cores are unknown.
 */
export function isEksReservation(
  resource: 'cpu' | 'memory',
  written: string | undefined,
  cores: number | null,
): boolean | null {
  const path = `kubeReserved.${resource}`
  if (resource === 'cpu') {
    return cores === null
      ? null
      : meaningOf(path, written, null) === meaningOf(path, `${eksReservedCpuMillis(cores)}m`, null)
  }
  const bytes = amountOrNull(written) ?? NaN
  const ofOnePod = eksReservedMemoryMiB(1) - eksReservedMemoryMiB(0)
  const pods = (bytes / mebibyte - eksReservedMemoryMiB(0)) / ofOnePod
  return Number.isInteger(pods) && pods > 0
}

export const unreadableReservation = { unknown: 'configz: a reservation of it is no quantity' }

export function daemonsOf(summary: Summary | null) {
  const containers = summary?.node?.systemContainers ?? []
  const used = ['kubelet', 'runtime', 'misc'].flatMap(name => {
    const bytes = containers.find(container => container.name === name)?.memory?.workingSetBytes
    return bytes !== undefined && Number.isSafeInteger(bytes) && bytes >= 0 ? [{ name, bytes }] : []
  })
  return {
    /** Working sets: `kubelet`, `runtime`, and `misc` if a cgroup for the rest of the system is configured. */
    used,
    bytes: used.reduce((sum, { bytes }) => sum + bytes, 0),
    /** Those of kubelet and runtime without statistics. If any, the daemons use more than `bytes`. */
    missing: ['kubelet', 'runtime'].filter(name => !used.some(daemon => daemon.name === name)),
  }
}

/** What daemons have with nearly all process ids is no measure of a reservation: the kubelet's cgroup counts its stuck children too. Null: it can be one. */
export function swollenDaemons({ eviction }: Pick<NodeSubject, 'eviction'>) {
  const scarce = scarceProcessIds(eviction)
  return scarce && { unknown: `what the daemons use with enough process ids: ${scarce.left}` }
}

export const unmeasuredMemory = (missing: string[]) => ({
  unknown: `stats/summary does not tell what ${missing.join(' and ')} use of memory`,
})

/**
 * Memory of the daemons beside what is reserved, with the evidence and the fixes that rules make of it.
 * Null: a reservation is no quantity.
 */
export function reservedMemory(subject: Satisfied<'configuration'>) {
  const { configuration, summary, eviction } = subject
  const reserved = reservedOf(configuration, 'memory')
  if (!reserved) return null
  const threshold = memoryThreshold(eviction)
  const daemons = daemonsOf(summary)
  return {
    reserved,
    threshold,
    daemons,
    evidence: () => [
      line('configz', 'kubeReserved.memory', configuration.kubeReserved?.memory ?? 'none'),
      line('configz', 'systemReserved.memory', configuration.systemReserved?.memory ?? 'none'),
      ...daemonEvidence(daemons),
    ],
    /** systemReserved: the daemons' use plus the threshold, less kubeReserved, as the Kubernetes documentation sizes it. */
    sizedFix() {
      const bytes = Math.max(0, daemons.bytes + (threshold ?? 0) - reserved.kube)
      const memory = `${Math.ceil(bytes / mebibyte)}Mi`
      const systemReserved = { ...configuration.systemReserved, memory }
      return feasibleFix({ systemReserved }, subject, threshold ?? 0)
    },
  }
}

export const daemonEvidence = ({ used }: ReturnType<typeof daemonsOf>) =>
  used.map(({ name, bytes }) =>
    bytesLine('summary', `summary systemContainers ${name} workingSetBytes`, bytes),
  )

/** The highest `memory.available` threshold in bytes; 0: none is set. Null: one cannot be resolved. */
export function memoryThreshold(
  eviction: EvictionPrediction | null,
  only: 'hard' | 'any' = 'any',
): number | null {
  const watching = (eviction?.thresholds ?? []).filter(
    ({ signal }) => signal === 'memory.available',
  )
  const resolved = watching
    .filter(({ hard }) => hard || only === 'any')
    .map(threshold => threshold.resolved)
  return resolved.includes(null) ? null : Math.max(0, ...resolved.map(Number))
}

/**
 * The fix, if pods then keep at least half of the node's memory; otherwise undefined. A kubelet does not start if nothing is left for pods. On such
 * small nodes, the number of pods or the instance type is wrong. Upstream: pkg/kubelet/cm/node_container_manager_linux.go validateNodeAllocatable.
 */
export function feasibleFix(
  config: KubeletConfiguration,
  { configuration, node }: Satisfied<'configuration'>,
  thresholdBytes: number,
): Failing['fix'] {
  const capacity = amountOrNull(node.status?.capacity?.memory)
  const reserved = reservedOf({ ...configuration, ...config }, 'memory')
  const isTooMuch =
    reserved === null || (capacity !== null && reserved.total + thresholdBytes > capacity / 2)
  return isTooMuch ? undefined : { config: { ...config } }
}
