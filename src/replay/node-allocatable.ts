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
  canonical,
  compareQuantities,
  milliValue,
  parseQuantity,
  type Quantity,
  quantityNumber,
  quantityOrNull,
  signOf,
} from '#base/go/quantity.ts'
import { messageOf } from '#base/operator-error.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { KubeletConfiguration, StringMap } from '#model/kubelet/configuration.ts'
import type {
  AllocatablePrediction,
  OverRequest,
  Signal,
  Threshold,
  Unknown,
} from '#model/prediction/prediction.ts'
import { getThresholdQuantity, parseThresholdConfig } from './eviction/thresholds.ts'
import type { Kubelet } from './kubelet.ts'
import type { Pod, ResourceList } from './pods/pod.ts'
import { getResourceRequestQuantity } from './pods/pod.ts'

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
export interface Refusal {
  field: 'reservedSystemCPUs' | 'kubeReserved' | 'systemReserved' | 'evictionHard'
  message: string
}

/** @returns a refusal if the kubelet cannot parse a reservation */
export function nodeAllocatable(
  machine: Machine,
  configuration: AllocatableConfiguration,
  features: KubeletFeatures,
): NodeAllocatable | Refusal {
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
      notBelowZero(subtract(subtract(amount, systemReserved.get(name)), kubeReserved.get(name))),
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
): ReservedAmounts | Refusal {
  let field: Refusal['field'] = 'reservedSystemCPUs'
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

function machineCapacity(machine: Machine, features: KubeletFeatures): Map<string, Quantity> {
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
      notBelowZero(subtract(amount, reservation.get(name))),
    ]),
  )
  for (const [name, amount] of capacity) {
    if (name.startsWith('hugepages-'))
      allocatable.set('memory', notBelowZero(subtract(allocatable.get('memory') ?? zero, amount)))
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

const notBelowZero = (amount: Quantity) => (signOf(amount) < 0 ? zero : amount)

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
    : canonical(amount)

/*
 * Reservations for the system and for Kubernetes, parsed as the kubelet parses them at its start.
 *
 * Replays       cmd/kubelet/app/server.go  parseResourceList, getReservedCPUs, run;  k8s.io/utils/cpuset Parse
 * Read at       1.29 to 1.37; whole milli-cores since 1.37
 * Kept exactly  the texts; the number of reserved CPUs replaces both reservations of cpu
 * Left out      whether the reserved CPUs are online; of several errors in one map this returns the first by key, upstream any
 */

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

interface Reservations {
  kubeReserved: ResourceList
  systemReserved: ResourceList
}

type ReservationConfiguration = Pick<
  KubeletConfiguration,
  'kubeReserved' | 'systemReserved' | 'reservedSystemCPUs'
>

/** Both maps with reserved CPUs applied, not yet parsed. @throws ReservationError, NumberError: upstream's text */
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

/** The number of distinct CPUs in a list like `0-3,8`. Upstream: cpuset Parse. @throws ReservationError, NumberError: upstream's text */
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
  if (start > end) throw new ReservationError(`invalid range ${goQuote(range)} (${start} > ${end})`)
  return { start, end }
}

/*
 * What a node should offer to pods by its capacity and its running configuration, compared with what it reports, and with what its pods request.
 *
 * Replays       only node-allocatable.ts, with the capacity of the node's status as the machine's, and pod-requests.ts
 * Left out      resources of device plugins, volume drivers and others
 */

export interface PredictedAllocatable {
  /** Null: not known, or the configuration is refused. */
  allocatable: AllocatablePrediction | null
  /** Resources for which the node reports another amount, or no amount. */
  differing: string[]
  /** Upstream's errors if a kubelet would not start with this configuration, with readable amounts. */
  refusals: string[]
  unknowns: Unknown[]
}

/** @param node the Node object; @param configuration the running or a proposed configuration */
export function predictAllocatable(
  { status }: KubernetesNode,
  configuration: KubeletConfiguration,
  features: KubeletFeatures,
): PredictedAllocatable {
  const machine = machineOf(status?.capacity)
  const pods = podLimits(configuration)
  if (machine === null || pods === null) {
    const what = machine === null ? 'node.status.capacity' : 'configz.maxPods'
    return {
      ...nothing,
      unknowns: [{ what, effect: 'what the node should offer to pods is not known' }],
    }
  }
  const answer = nodeAllocatable(machine, { ...configuration, ...pods }, features)
  if ('field' in answer) return { ...nothing, refusals: [refusalText(answer)] }
  const overReserved = overReservationError(answer, features)
  const differing = differences(answer.allocatable, status?.allocatable)
  return {
    allocatable: {
      ...Object.fromEntries(
        [...answer.allocatable].map(([name, amount]) => [name, canonical(amount)]),
      ),
      matchesNode: differing && differing.length === 0,
    },
    differing: differing ?? [],
    refusals: overReserved === null ? [] : [`${overReserved} (${amountsText(answer)})`],
    unknowns: differing
      ? []
      : [
          {
            what: 'node.status.allocatable',
            effect: 'whether the node offers what it should is not known',
          },
        ],
  }
}

/** `memory: 3.1 GiB of 2.0 GiB reserved`: upstream prints quantities as Go structs. */
const amountsText = ({ overReserved, reservation, capacity }: NodeAllocatable) =>
  overReserved
    .map(name => {
      const [reserved, present] = [reservation, capacity].map(list =>
        amountText(name, list.get(name)),
      )
      return `${name}: ${reserved} of ${present} reserved, the eviction threshold included`
    })
    .join('; ')

function amountText(name: string, amount: Quantity | undefined) {
  if (amount === undefined) return '0'
  return name === 'cpu' || name === 'pid'
    ? canonical(amount)
    : `${(quantityNumber(amount) / 2 ** 30).toFixed(1)} GiB`
}

const nothing: PredictedAllocatable = {
  allocatable: null,
  differing: [],
  refusals: [],
  unknowns: [],
}

/** Limit of the cgroup of all pods. Null: unknown, or the configuration is refused. */
function podsMemoryBytes({ status }: KubernetesNode, configuration: KubeletConfiguration) {
  const machine = machineOf(status?.capacity)
  const pods = podLimits(configuration)
  if (machine === null || pods === null) return null
  const features = featuresOf(status?.nodeInfo?.kubeletVersion ?? null)
  const answer = nodeAllocatable(machine, { ...configuration, ...pods }, features)
  const amount = 'field' in answer ? undefined : answer.podsCgroupLimit.get('memory')
  return amount === undefined ? null : quantityNumber(amount)
}

/** The input after a start with its configuration: the memory of all pods has another limit than with the earlier one. */
export function withPodsLimit(input: NodeInput, earlier: KubeletConfiguration | null): NodeInput {
  const { node, configuration, summary } = input
  const [limit = null, before = null] = [configuration?.fields, earlier].map(
    fields => fields && podsMemoryBytes(node, fields),
  )
  if (summary?.node === undefined || limit === null || before === null || limit === before)
    return input
  const systemContainers = summary.node.systemContainers?.map(container => {
    const { name, memory } = container
    if (name !== 'pods' || typeof memory?.availableBytes !== 'number') return container
    const availableBytes = Math.max(0, memory.availableBytes + limit - before)
    return { ...container, memory: { ...memory, availableBytes } }
  })
  return {
    ...input,
    summary: {
      ...summary,
      node: { ...summary.node, ...(systemContainers && { systemContainers }) },
    },
  }
}

/** Upstream: pkg/kubelet/lifecycle/predicate.go generalFilter admits each pod again when the kubelet starts. */
export function overRequested(
  pods: readonly Pod[],
  allocatable: AllocatablePrediction,
  kubelet: Kubelet,
): OverRequest[] {
  const requested = (resource: string) =>
    pods.reduce(
      (sum, pod) => addQuantities(sum, getResourceRequestQuantity(pod, resource, kubelet)),
      binaryQuantity(0),
    )
  return Object.entries(allocatable).flatMap(([resource, text]) => {
    const amount = typeof text === 'string' ? quantityOrNull(text) : null
    if (amount === null || resource.startsWith('hugepages-')) return []
    const sum = resource === 'pods' ? binaryQuantity(pods.length) : requested(resource)
    return compareQuantities(sum, amount) > 0
      ? [{ resource, requested: canonical(sum), allocatable: canonical(amount) }]
      : []
  })
}

const flags: Partial<Record<Refusal['field'], string>> = {
  kubeReserved: '--kube-reserved',
  systemReserved: '--system-reserved',
}

function refusalText({ field, message }: Refusal): string {
  if (field === 'reservedSystemCPUs') return `unable to parse reserved-cpus list: ${message}`
  const flag = flags[field]
  return flag === undefined ? message : `${flag} value failed to parse: ${message}`
}

/** configz always shows both limits; a hand-written record may omit them to use the defaults. Null: one is not a whole number. */
function podLimits(configuration: KubeletConfiguration) {
  const {
    maxPods = configurationDefaults.maxPods,
    podsPerCore = configurationDefaults.podsPerCore,
  } = configuration
  return isWhole(maxPods) && isWhole(podsPerCore) ? { maxPods, podsPerCore } : null
}

const isWhole = (value: number | undefined): value is number => Number.isSafeInteger(value)

type AllocatableAmounts = Readonly<Record<string, string | undefined>>

/** Null: cpu, memory or another capacity cannot be parsed. */
function machineOf(capacity: AllocatableAmounts | undefined): Machine | null {
  const cpuCores = countOf(capacity?.cpu)
  const memoryBytes = countOf(capacity?.memory)
  const hasStorage = capacity !== undefined && Object.hasOwn(capacity, 'ephemeral-storage')
  const ephemeralStorageBytes = hasStorage ? countOf(capacity['ephemeral-storage']) : null
  const hugePages = new Map<string, number>()
  for (const [name, text] of Object.entries(capacity ?? {})) {
    if (!name.startsWith('hugepages-')) continue
    const bytes = countOf(text)
    if (bytes === null) return null
    hugePages.set(name, bytes)
  }
  if (cpuCores === null || memoryBytes === null || (hasStorage && ephemeralStorageBytes === null))
    return null
  return { cpuCores, memoryBytes, ephemeralStorageBytes, hugePages }
}

/** Null: not a whole number, or negative. */
function countOf(text: string | undefined) {
  const count = quantityOrNull(text)?.safeInteger ?? null
  return count !== null && count >= 0 ? count : null
}

/** Null: the amounts that the node reports cannot be parsed. */
function differences(predicted: ResourceList, reported: AllocatableAmounts | undefined) {
  if (reported === undefined) return null
  const differing: string[] = []
  for (const [name, amount] of predicted) {
    const text = reported[name]
    const actual = quantityOrNull(text)
    if (text !== undefined && actual === null) return null
    if (actual === null || compareQuantities(actual, amount) !== 0) differing.push(name)
  }
  return differing.sort()
}
