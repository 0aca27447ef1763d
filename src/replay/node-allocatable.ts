/**
 * Node allocatable: the resources for pods, and the resources that the kubelet reserves.
 *
 * Replays       pkg/kubelet/cm/node_container_manager_linux.go  GetNodeAllocatableReservation, getNodeAllocatableAbsolute, validateNodeAllocatable
 *               pkg/kubelet/cm/helpers.go            hardEvictionReservation
 *               pkg/kubelet/nodestatus/setters.go    MachineInfo
 *               pkg/kubelet/cadvisor/util.go         CapacityFromMachineInfo, EphemeralStorageCapacityFromFsInfo
 * Read at       1.29 to 1.37; the format of ephemeral-storage changes in 1.37, the over-reservation text in 1.30
 * Kept exactly  only hard memory.available and nodefs.available are reserved, percentages of capacity in float32; the cgroup of all pods is not
 *               limited by the eviction reservation; huge pages reduce memory; no amount is below 0; the printed format of a difference
 * Left out      pid; what device plugins offer; --experimental-allocatable-ignore-eviction
 */

import { atoi, goQuote } from '#base/go/go-text.ts'
import {
  addQuantities,
  binaryQuantity,
  canonicalText,
  milliValue,
  parseQuantity,
  type Quantity,
  quantityNumber,
  signOf,
} from '#base/go/quantity.ts'
import { messageOf } from '#base/operator-error.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { KubeletConfiguration, StringMap } from '#model/kubelet/configuration.ts'
import type { Signal, Threshold } from '#model/prediction.ts'
import { getThresholdQuantity, parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import type { ResourceList } from './pods.ts'

export interface Machine {
  cpuCores: number
  memoryBytes: number
  /** Capacity of nodefs when the kubelet started; null: the kubelet does not isolate local storage. */
  ephemeralStorageBytes: number | null
  /** Bytes of huge pages, by resource name: `hugepages-2Mi`. */
  hugePages: ReadonlyMap<string, number | bigint>
}

type ReservingFields = 'kubeReserved' | 'systemReserved' | 'reservedSystemCPUs' | 'evictionHard'

export type AllocatableConfiguration = Pick<KubeletConfiguration, ReservingFields> &
  Required<Pick<KubeletConfiguration, 'maxPods' | 'podsPerCore'>>

export interface NodeAllocatable {
  /** Resources withheld from scheduling; only amounts other than 0. */
  reservation: ResourceList
  /** Limits of the cgroup of all pods. */
  podsCgroupLimit: ResourceList
  /** `capacity` and `allocatable` as in the node's status. */
  capacity: ResourceList
  allocatable: ResourceList
  /** Resources whose reservation exceeds the capacity: the kubelet would not start. */
  overReserved: string[]
}

/** Why the kubelet would not start, in upstream's words. */
export interface ReservationRefusal {
  field: 'reservedSystemCPUs' | 'kubeReserved' | 'systemReserved' | 'evictionHard'
  message: string
}

/** @returns a refusal if the kubelet cannot parse a reservation */
export function nodeAllocatable(
  machine: Machine,
  configuration: AllocatableConfiguration,
  features: KubeletFeatures,
): NodeAllocatable | ReservationRefusal {
  const reserved = reservedBy(configuration, features)
  if ('field' in reserved) return reserved
  const { kubeReserved, systemReserved, evictionHard } = reserved
  const resources = machineCapacity(machine, features)
  const evictionReserved = hardEvictionReservation(evictionHard, resources)

  const reservation = new Map<string, Quantity>()
  const podsCgroupLimit = new Map<string, Quantity>()
  for (const [name, amount] of resources) {
    podsCgroupLimit.set(
      name,
      atLeastZero(subtract(subtract(amount, systemReserved.get(name)), kubeReserved.get(name))),
    )
    const total = [systemReserved, kubeReserved, evictionReserved].reduce(
      (sum, list) => add(sum, list.get(name)),
      zero,
    )
    if (signOf(total) !== 0) reservation.set(name, total)
  }
  const capacity = new Map(resources).set('pods', podCapacity(machine, configuration))
  const overReserved = [...reservation].filter(
    ([name, amount]) => signOf(subtract(resources.get(name) ?? zero, amount)) < 0,
  )
  return {
    reservation,
    podsCgroupLimit,
    capacity,
    allocatable: allocatableOf(capacity, reservation),
    overReserved: overReserved.map(([name]) => name).sort(),
  }
}

type ReservedAmounts = Reservations & { evictionHard: readonly Threshold[] }

/** Parsed in upstream's order, so the first malformed reservation is named. */
function reservedBy(
  configuration: AllocatableConfiguration,
  features: KubeletFeatures,
): ReservedAmounts | ReservationRefusal {
  let field: ReservationRefusal['field'] = 'reservedSystemCPUs'
  try {
    const written = reservationsAsWritten(configuration)
    field = 'kubeReserved'
    const kubeReserved = parseResourceList(written.kubeReserved, features)
    field = 'systemReserved'
    const systemReserved = parseResourceList(written.systemReserved, features)
    field = 'evictionHard'
    return {
      kubeReserved,
      systemReserved,
      evictionHard: parseThresholdConfig({ evictionHard: configuration.evictionHard }),
    }
  } catch (error) {
    return { field, message: messageOf(error) }
  }
}

function machineCapacity(machine: Machine, features: KubeletFeatures) {
  const { cpuCores, memoryBytes, ephemeralStorageBytes, hugePages } = machine
  const capacity = new Map([
    ['cpu', { ...parseQuantity(`${cpuCores * 1000}m`), written: null }],
    ['memory', binaryQuantity(memoryBytes)],
  ])
  if (ephemeralStorageBytes !== null) {
    const isDecimal = features.has('decimalEphemeralStorage')
    capacity.set(
      'ephemeral-storage',
      isDecimal ? decimalQuantity(ephemeralStorageBytes) : binaryQuantity(ephemeralStorageBytes),
    )
  }
  for (const [name, bytes] of hugePages) capacity.set(name, binaryQuantity(bytes))
  return capacity
}

const decimalQuantity = (value: number): Quantity => ({
  ...binaryQuantity(value),
  format: 'DecimalSI',
})

const podCapacity = (
  { cpuCores }: Machine,
  { maxPods, podsPerCore }: AllocatableConfiguration,
): Quantity =>
  decimalQuantity(podsPerCore > 0 ? Math.min(cpuCores * podsPerCore, maxPods) : maxPods)

const reservedFor: Partial<Record<Signal, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
}

function hardEvictionReservation(
  thresholds: readonly Threshold[],
  capacity: ResourceList,
): ResourceList {
  const reserved = new Map<string, Quantity>()
  for (const { signal, value } of thresholds) {
    const resource = reservedFor[signal]
    const amount = resource === undefined ? undefined : capacity.get(resource)
    if (resource !== undefined && amount)
      reserved.set(resource, getThresholdQuantity(value, quantityNumber(amount)))
  }
  return reserved
}

function allocatableOf(capacity: ResourceList, reservation: ResourceList): ResourceList {
  const allocatable = new Map(
    [...capacity].map(([name, amount]) => [
      name,
      atLeastZero(subtract(amount, reservation.get(name))),
    ]),
  )
  for (const [name, amount] of capacity) {
    if (name.startsWith('hugepages-'))
      allocatable.set('memory', atLeastZero(subtract(allocatable.get('memory') ?? zero, amount)))
  }
  return allocatable
}

const zero = binaryQuantity(0)

const add = (sum: Quantity, added: Quantity | undefined) =>
  added ? addQuantities(sum, added) : sum

const subtract = (amount: Quantity, taken: Quantity | undefined) =>
  taken ? addQuantities(amount, negate(taken)) : amount

/** Only for additions: `safeInteger` is dropped, not negated. */
const negate = (amount: Quantity): Quantity => ({
  ...amount,
  unscaled: -amount.unscaled,
  safeInteger: null,
  written: null,
})

const atLeastZero = (amount: Quantity) => (signOf(amount) < 0 ? zero : amount)

/**
 * The kubelet's error if it does not start because the reservation exceeds the capacity; null: it starts.
 *
 * Upstream prints quantities as Go structs. A quantity that is no int64 would show a memory address; this text shows the quantity.
 */
export function overReservationError(
  { overReserved, reservation, capacity }: NodeAllocatable,
  features: KubeletFeatures,
): string | null {
  if (overReserved.length === 0) return null
  const errors = overReserved.map(name => {
    const [reserved, present] = [reservation.get(name) ?? zero, capacity.get(name) ?? zero]
    return features.has('overReservationNamesReservation')
      ? `Resource ${goQuote(name)} has a reservation of ${goStruct(reserved)} but capacity of ${goStruct(present)}. Expected capacity >= reservation.`
      : `Resource ${goQuote(name)} has an allocatable of ${goStruct(reserved)}, capacity of ${goStruct(subtract(present, reserved))}`
  })
  return `invalid Node Allocatable configuration. ${errors.join(' ')}`
}

const goStruct = (amount: Quantity) =>
  amount.held === 'fast'
    ? `{{${amount.unscaled} ${amount.exponent}} {<nil>}  ${amount.format}}`
    : canonicalText(amount)

/*
 * Reservations for the system and for Kubernetes, parsed as the kubelet parses them at its start.
 *
 * Replays       cmd/kubelet/app/server.go  parseResourceList, getReservedCPUs, run;  k8s.io/utils/cpuset Parse
 * Read at       1.29 to 1.37; whole milli-cores since 1.37
 * Kept exactly  the texts; the number of reserved CPUs replaces both reservations of cpu
 * Left out      whether the reserved CPUs are online; of several errors in one map this returns the first by key, upstream any
 */

const reservableResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pid']

/** @throws upstream's text, without the prefix of the caller */
export function parseResourceList(map: StringMap, features: KubeletFeatures): ResourceList {
  const list = new Map<string, Quantity>()
  for (const [resource, text] of Object.entries(map).sort()) {
    if (!reservableResources.includes(resource))
      throw new Error(`cannot reserve ${goQuote(resource)} resource`)
    const quantity = parseReservation(resource, text)
    if (signOf(quantity) < 0)
      throw new Error(`resource quantity for ${goQuote(resource)} cannot be negative: ${text}`)
    list.set(
      resource,
      resource === 'cpu' && features.has('reservedCpuInMilliCores')
        ? inMilliCores(quantity)
        : quantity,
    )
  }
  return list
}

function parseReservation(resource: string, text: string) {
  try {
    return parseQuantity(text)
  } catch (error) {
    const why = messageOf(error)
    throw new Error(
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

interface Reservations {
  kubeReserved: ResourceList
  systemReserved: ResourceList
}

type ReservationConfiguration = Pick<
  KubeletConfiguration,
  'kubeReserved' | 'systemReserved' | 'reservedSystemCPUs'
>

/** Both maps with reserved CPUs applied, not yet parsed. @throws upstream's text */
function reservationsAsWritten(configuration: ReservationConfiguration): {
  kubeReserved: StringMap
  systemReserved: StringMap
} {
  const { kubeReserved = {}, systemReserved = {}, reservedSystemCPUs = '' } = configuration
  const reservedCpus = reservedSystemCPUs === '' ? 0n : cpuSetSize(reservedSystemCPUs)
  if (reservedCpus === 0n) return { kubeReserved, systemReserved }
  const { cpu: _overwritten, ...others } = kubeReserved
  return { kubeReserved: others, systemReserved: { ...systemReserved, cpu: String(reservedCpus) } }
}

/** The number of distinct CPUs in a list like `0-3,8`. Upstream: cpuset Parse. @throws upstream's text */
export function cpuSetSize(list: string): bigint {
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
  if (start > end) throw new Error(`invalid range ${goQuote(range)} (${start} > ${end})`)
  return { start, end }
}
