/**
 * What a node should offer to pods by its capacity and its running configuration, compared with what it reports, and with what its pods request.
 *
 * Replays       only node-allocatable.ts, with the capacity of the node's status as the machine's, and pod-requests.ts
 * Left out      resources of device plugins, volume drivers and others
 */

import {
  addQuantities,
  binaryQuantity,
  canonicalText,
  compareQuantities,
  type Quantity,
  quantityNumber,
  quantityOrNull,
} from '#base/go/quantity.ts'
import { gibibyte } from '#base/units.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { KubernetesNode, NodeInput } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { type Refusal, refusal } from '#model/kubelet/refusal.ts'
import type { AllocatablePrediction, OverRequest, Unknown } from '#model/prediction.ts'
import {
  type Machine,
  type NodeAllocatable,
  nodeAllocatable,
  overReservationError,
  type ReservationRefusal,
} from './node-allocatable.ts'
import { getResourceRequestQuantity, type ResourceList } from './pods.ts'
import type { PreparedNode } from './prepare.ts'

export interface PredictedAllocatable {
  /** Null: not known, or the configuration is refused. */
  allocatable: AllocatablePrediction | null
  /** Resources for which the node reports another amount, or no amount. */
  differing: string[]
  /** If a kubelet would not start with this configuration. Messages have readable amounts. */
  refusals: Refusal[]
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
  if (!machine || !pods) {
    const what = machine ? 'configz.maxPods' : 'node.status.capacity'
    return {
      ...nothing,
      unknowns: [{ what, effect: 'what the node should offer to pods is not known' }],
    }
  }
  const answer = nodeAllocatable(machine, { ...configuration, ...pods }, features)
  if ('field' in answer) {
    const { field, message } = answer
    return { ...nothing, refusals: [refusal(field, prefixes[field] + message)] }
  }
  const overReserved = overReservationError(answer, features)
  const differing = differences(answer.allocatable, status?.allocatable)
  return {
    allocatable: {
      ...Object.fromEntries(
        [...answer.allocatable].map(([name, amount]) => [name, canonicalText(amount)]),
      ),
      matchesNode: differing && differing.length === 0,
    },
    differing: differing ?? [],
    refusals:
      overReserved === null
        ? []
        : [refusal(reservingFields, `${overReserved} (${amountsText(answer)})`)],
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
  if (!amount) return '0'
  return name === 'cpu' || name === 'pid'
    ? canonicalText(amount)
    : `${(quantityNumber(amount) / gibibyte).toFixed(1)} GiB`
}

const reservingFields = ['kubeReserved', 'systemReserved', 'evictionHard'] as const

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
  if (!machine || !pods) return null
  const features = featuresOf(status?.nodeInfo?.kubeletVersion ?? null)
  const answer = nodeAllocatable(machine, { ...configuration, ...pods }, features)
  const amount = 'field' in answer ? undefined : answer.podsCgroupLimit.get('memory')
  return amount ? quantityNumber(amount) : null
}

/** The input after a start with its configuration: the memory of all pods has another limit than with the earlier one. */
export function withPodsLimit(input: NodeInput, earlier: KubeletConfiguration | null): NodeInput {
  const { node, configuration, summary } = input
  const fields = configuration?.fields
  if (!summary?.node || !fields || !earlier || fields === earlier) return input
  const [limit, before] = [podsMemoryBytes(node, fields), podsMemoryBytes(node, earlier)]
  if (limit === null || before === null || limit === before) return input
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
  { activePods: pods, podStats, kubelet }: PreparedNode,
  allocatable: AllocatablePrediction,
): OverRequest[] {
  const requested = (resource: string) =>
    podStats.once(['requested', pods, kubelet, resource], () =>
      pods.reduce(
        (sum, pod) => addQuantities(sum, getResourceRequestQuantity(pod, resource, kubelet)),
        binaryQuantity(0),
      ),
    )
  return Object.entries(allocatable).flatMap(([resource, text]) => {
    const amount = typeof text === 'string' ? quantityOrNull(text) : null
    if (!amount || resource.startsWith('hugepages-')) return []
    const sum = resource === 'pods' ? binaryQuantity(pods.length) : requested(resource)
    return compareQuantities(sum, amount) > 0
      ? [{ resource, requested: canonicalText(sum), allocatable: canonicalText(amount) }]
      : []
  })
}

const prefixes: Record<ReservationRefusal['field'], string> = {
  reservedSystemCPUs: 'unable to parse reserved-cpus list: ',
  kubeReserved: '--kube-reserved value failed to parse: ',
  systemReserved: '--system-reserved value failed to parse: ',
  evictionHard: '',
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
  if (!reported) return null
  const differing: string[] = []
  for (const [name, amount] of predicted) {
    const text = reported[name]
    const actual = quantityOrNull(text)
    if (text !== undefined && !actual) return null
    if (!actual || compareQuantities(actual, amount) !== 0) differing.push(name)
  }
  return differing.sort()
}
