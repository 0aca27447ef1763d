/**
 * Reservations for the system and for Kubernetes, parsed as the kubelet parses them at its start.
 *
 * Replays       cmd/kubelet/app/server.go  parseResourceList, getReservedCPUs, run;  k8s.io/utils/cpuset Parse
 * Read at       1.29 to 1.37; whole milli-cores since 1.37
 * Kept exactly  the texts; the number of reserved CPUs replaces both reservations of cpu
 * Left out      whether the reserved CPUs are online; of several errors in one map this returns the first by key, upstream any
 */

import { atoi, goQuote } from '#base/go/go-text.ts'
import { milliValue, parseQuantity, type Quantity, signOf } from '#base/go/quantity.ts'
import { messageOf } from '#base/text/error-message.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { KubeletConfiguration, StringMap } from '#model/kubelet/configuration.ts'
import type { ResourceList } from './pods/pod.ts'

const reservableResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pid']

/** The kubelet would not start. `message` is upstream's text. */
class ReservationError extends Error {}

/** @throws ReservationError, QuantityError: upstream's text, without the prefix of the caller */
export function parseResourceList(map: StringMap, features: KubeletFeatures): ResourceList {
  const list = new Map<string, Quantity>()
  for (const [resource, text] of Object.entries(map).sort()) {
    if (!reservableResources.includes(resource))
      throw new ReservationError(`cannot reserve ${goQuote(resource)} resource`)
    const quantity = parseReservation(resource, text)
    if (signOf(quantity) < 0)
      throw new ReservationError(
        `resource quantity for ${goQuote(resource)} cannot be negative: ${text}`,
      )
    list.set(
      resource,
      resource === 'cpu' && features.has('reservedCpuInMilliCores')
        ? inMilliCores(quantity)
        : quantity,
    )
  }
  return list
}

function parseReservation(resource: string, text: string): Quantity {
  try {
    return parseQuantity(text)
  } catch (error) {
    const why = messageOf(error)
    throw new ReservationError(
      `failed to parse quantity ${goQuote(text)} for ${goQuote(resource)} resource: ${why}`,
    )
  }
}

/** Rounds up to micro-cores, then half a milli-core up. Upstream: SetMilli of ScaledValue(Micro), int64 that wraps. */
function inMilliCores(cpu: Quantity): Quantity {
  const microCores = milliValue({
    ...cpu,
    exponent: cpu.exponent + 3,
    held: cpu.held === 'fast' ? 'fast' : 'decimal',
  })
  const milliCores = BigInt.asIntN(64, microCores + 500n) / 1000n
  return { ...parseQuantity(`${milliCores}m`), format: cpu.format, written: null }
}

export interface Reservations {
  kubeReserved: ResourceList
  systemReserved: ResourceList
}

type ReservationConfiguration = Pick<
  KubeletConfiguration,
  'kubeReserved' | 'systemReserved' | 'reservedSystemCPUs'
>

/** Both maps with reserved CPUs applied, not yet parsed. @throws ReservationError, NumberError: upstream's text */
export function reservationsAsWritten(configuration: ReservationConfiguration): {
  kubeReserved: StringMap
  systemReserved: StringMap
} {
  const { kubeReserved = {}, systemReserved = {}, reservedSystemCPUs = '' } = configuration
  const reservedCpus = reservedSystemCPUs === '' ? 0n : cpuSetSize(reservedSystemCPUs)
  if (reservedCpus === 0n) return { kubeReserved, systemReserved }
  const { cpu: _overwritten, ...others } = kubeReserved
  return { kubeReserved: others, systemReserved: { ...systemReserved, cpu: String(reservedCpus) } }
}

/** The number of distinct CPUs in a list like `0-3,8`. */
function cpuSetSize(list: string) {
  const ranges = list.split(',').map(parseRange)
  let size = 0n
  let last = -1n
  for (const { start, end } of ranges.toSorted((a, b) => Number(a.start - b.start))) {
    const first = start > last ? start : last + 1n
    if (end < first) continue
    size += end - first + 1n
    last = end
  }
  return size
}

function parseRange(range: string) {
  const dash = range.indexOf('-')
  const start = atoi(dash < 0 ? range : range.slice(0, dash))
  const end = dash < 0 ? start : atoi(range.slice(dash + 1))
  if (start > end) throw new ReservationError(`invalid range ${goQuote(range)} (${start} > ${end})`)
  return { start, end }
}
