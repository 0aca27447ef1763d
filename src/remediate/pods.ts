/** Pods of nodes: which are ready, and what a restart of their kubelet does to them and to their budgets. */
import * as z from 'zod'
import type { RawObject } from '#base/raw-object.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import {
  type ClusterRecord,
  controllerReferenceOf,
  type KubernetesPod,
  type NodeInput,
  type ObjectsRecord,
} from '#model/input/record.ts'

/** `namespace/name` */
export const podName = ({ metadata }: KubernetesPod) =>
  `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`

export const isActive = ({ status }: KubernetesPod) => !isTerminalPhase(status?.phase)

export const readyConditionOf = ({ status }: KubernetesPod) =>
  (status?.conditions ?? []).find(({ type }) => type === 'Ready')

export const isReady = (pod: KubernetesPod) => readyConditionOf(pod)?.status === 'True'

/** `namespace/name` of the node's ready pods, sorted; null: its pods were not read. */
export const readyPodsOf = ({ pods }: NodeInput): string[] | null =>
  Array.isArray(pods)
    ? pods
        .filter(pod => isActive(pod) && isReady(pod))
        .map(podName)
        .sort()
    : null

/** Effect on the pods of one node. */
export interface NodeBlast {
  /** Null: the pods were not read, and the next four fields have no meaning. */
  pods: number | null
  notReadyPods: number
  singletons: string[]
  budgetsAtLimit: string[] | null
  startupProbes: number
  imagesForgotten: number
}

export const budgetResource = 'poddisruptionbudgets.policy'

/** Pods of one node under one PodDisruptionBudget. */
export interface Disruption {
  /** Number of pods on this node that turn NotReady. */
  pods: number
  /** Number of pods that may be disrupted, on all nodes together. */
  allowed: number
}

/** Owners and budgets of a fleet, gathered before any node is planned. */
export class FleetPods {
  readonly #replicas = new Map<string, number>()
  /** By one label that they demand, so that few are compared with each pod. */
  readonly #budgets = new Map<string, BudgetList>()
  readonly #withBudgets = new Set<string>()
  readonly #withCutBudgets = new Set<string>()

  takeNode({ cluster, pods }: NodeInput) {
    for (const pod of pods ?? []) {
      const owner = ownerOf(cluster, pod)
      if (owner !== null && isActive(pod))
        this.#replicas.set(owner, (this.#replicas.get(owner) ?? 0) + 1)
    }
  }

  /** Notes that the list of budgets is incomplete: some budgets may be missing. */
  takeCluster({ cluster, errors }: ClusterRecord) {
    if (errors?.some(({ what }) => what === budgetResource)) this.#withCutBudgets.add(cluster)
  }

  takeObjects({ cluster, resource: kind, items, errors }: ObjectsRecord) {
    if (kind !== budgetResource) return
    if (errors) this.#withCutBudgets.add(cluster)
    this.#withBudgets.add(cluster)
    for (const item of items) {
      const budget = budgetOf(item)
      if (budget) this.#addBudget(cluster, budget)
    }
  }

  #addBudget(cluster: string, budget: Budget) {
    const lists = (budget.labels.length === 0 ? [anyLabel] : budget.labels).map(label => {
      const key = budgetKey(cluster, budget.namespace, label)
      const list = this.#budgets.get(key) ?? { budgets: [], requirements: 0 }
      this.#budgets.set(key, list)
      return list
    })
    const shortest = lists.reduce((a, b) => (b.requirements < a.requirements ? b : a))
    if (shortest.requirements > mostRequirements) return
    shortest.requirements += 1 + budget.requirements
    // Its pods count as covered by a budget that allows nothing.
    const isFull = shortest.requirements > mostRequirements
    shortest.budgets.push(isFull ? uncomparedBudgets(budget.namespace) : budget)
  }

  /** @param isStatusKept whether ready and started containers stay ready and started */
  blastOf(record: NodeInput, isStatusKept: boolean): NodeBlast {
    const { cluster, pods, node, runtime } = record
    const images = Array.isArray(runtime?.images) ? runtime.images : (node.status?.images ?? [])
    const hasBudgets = this.#withBudgets.has(cluster) && !this.#withCutBudgets.has(cluster)
    const nothing = {
      notReadyPods: 0,
      singletons: [],
      startupProbes: 0,
      imagesForgotten: images.length,
    }
    if (!Array.isArray(pods))
      return { pods: null, ...nothing, budgetsAtLimit: hasBudgets ? [] : null }
    const active = pods.filter(isActive)
    const flipping = isStatusKept ? [] : active.filter(isFlipping)
    const restarting = isStatusKept ? [] : active.flatMap(startedWithProbe)
    return {
      ...nothing,
      pods: active.length,
      notReadyPods: flipping.length,
      singletons: flipping
        .filter(pod => this.#replicas.get(ownerOf(cluster, pod) ?? '') === 1)
        .map(podName),
      budgetsAtLimit: hasBudgets
        ? [...new Set(flipping.flatMap(pod => this.#budgetsAtLimit(cluster, pod)))]
        : null,
      startupProbes: restarting.length,
    }
  }

  /** Effect of a restart of this node's kubelet, by budget (`namespace/name`). */
  disruptionsOf({ cluster, pods }: NodeInput) {
    const found = new Map<string, Disruption>()
    for (const pod of (pods ?? []).filter(isFlipping))
      for (const { name, allowed } of this.#budgetsOf(cluster, pod))
        found.set(name, { pods: (found.get(name)?.pods ?? 0) + 1, allowed })
    return found
  }

  #budgetsAtLimit(cluster: string, pod: KubernetesPod) {
    return this.#budgetsOf(cluster, pod).flatMap(({ name, allowed }) =>
      allowed <= 0 ? [name] : [],
    )
  }

  #budgetsOf(cluster: string, { metadata }: KubernetesPod) {
    const labels = metadata?.labels ?? {}
    return [anyLabel, ...Object.entries(labels)]
      .flatMap(
        label =>
          this.#budgets.get(budgetKey(cluster, metadata?.namespace ?? '', label))?.budgets ?? [],
      )
      .filter(({ matches }) => matches(labels))
  }
}

const isFlipping = (pod: KubernetesPod) =>
  isActive(pod) &&
  isReady(pod) &&
  (pod.spec?.containers ?? []).some(({ readinessProbe, startupProbe }) =>
    Boolean(readinessProbe ?? startupProbe),
  )

function startedWithProbe({ spec, status }: KubernetesPod) {
  const started = new Set(
    (status?.containerStatuses ?? []).flatMap(({ name, started: isStarted }) =>
      isStarted && name ? [name] : [],
    ),
  )
  return (spec?.containers ?? []).flatMap(({ name, startupProbe }) =>
    startupProbe && name && started.has(name) ? [name] : [],
  )
}

/** Null for DaemonSet pods, which nothing replaces, and static pods, whose owner is the Node. */
function ownerOf(cluster: string, pod: KubernetesPod) {
  const owner = controllerReferenceOf(pod)
  if (owner?.uid === undefined || owner.kind === 'DaemonSet' || owner.kind === 'Node') return null
  return `${cluster}/${owner.uid}`
}

/** PodDisruptionBudgets: which pods a budget covers, and how many of these may be disrupted. */
const requirement = z.object({
  key: z.string().optional().catch(undefined),
  operator: z.string().optional().catch(undefined),
  values: z
    .array(z.unknown())
    .catch([])
    .transform(values => new Set(values)),
})
const selector = z.object({
  matchLabels: z.record(z.string(), z.unknown()).catch({}),
  matchExpressions: z
    .array(requirement.nullable().catch(null))
    .catch([])
    .transform(items => items.filter(item => item !== null)),
})
const schema = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string().catch('') }),
  spec: z.object({ selector: selector.nullable().catch(null) }),
  // A budget that no controller has processed yet allows no disruption.
  status: z.object({ disruptionsAllowed: z.number().catch(0) }).catch({ disruptionsAllowed: 0 }),
})

interface Budget {
  namespace: string
  /** `namespace/name` */
  name: string
  /** Pods that may be disrupted now. */
  allowed: number
  labels: [key: string, value: unknown][]
  /** Labels and expressions that are compared. */
  requirements: number
  matches(labels: Readonly<Record<string, unknown>>): boolean
}

/** Budgets that demand one label. */
interface BudgetList {
  budgets: Budget[]
  requirements: number
}
/** Of a list: a pod has one budget, and each label has a list of its own. */
const mostRequirements = 500
const anyLabel: [string, unknown] = ['', null]
const budgetKey = (cluster: string, namespace: string, label: [string, unknown]) =>
  JSON.stringify([cluster, namespace, label])

const uncomparedBudgets = (namespace: string): Budget => ({
  namespace,
  name: `${namespace}/more than are compared`,
  allowed: 0,
  labels: [],
  requirements: 0,
  matches: () => true,
})

/** Null: it covers no pod. Upstream: api/policy/v1 PodDisruptionBudget; an empty selector matches every pod of the namespace. */
function budgetOf(item: RawObject): Budget | null {
  const { data } = schema.safeParse(item)
  const selected = data?.spec.selector
  if (!data || !selected) return null
  const { namespace, name } = data.metadata
  const labels = Object.entries(selected.matchLabels)
  return {
    namespace,
    name: `${namespace}/${name}`,
    allowed: data.status.disruptionsAllowed,
    labels,
    requirements: labels.length + selected.matchExpressions.length,
    matches: found =>
      labels.every(([key, value]) => found[key] === value) &&
      selected.matchExpressions.every(expression => isRequirementMet(expression, found)),
  }
}

function isRequirementMet(
  { key, operator, values }: z.infer<typeof requirement>,
  labels: Readonly<Record<string, unknown>>,
) {
  const value = labels[String(key)]
  const isAmong = values.has(value)
  if (operator === 'Exists') return value !== undefined
  if (operator === 'DoesNotExist') return value === undefined
  return operator === 'In' ? value !== undefined && isAmong : !isAmong
}
