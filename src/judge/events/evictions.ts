import { amountOrNull } from '#base/go/quantity.ts'
import { by } from '#base/text.ts'
import { weekMs } from '#base/units.ts'
import {
  type EvictionCause,
  evictionCause,
  signalsOfResource,
} from '#facts/kubelet/event-messages.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { isEvictable } from '#judge/help/thresholds.ts'
import {
  bytes,
  counted,
  type Failing,
  type NodeContext,
  type NodeSubject,
  placedPod,
  settingIn,
  shorten,
  shortName,
} from '#judge/rule.ts'
import { isGeneratedSuffix, ownerOf, type PodOwner } from '#judge/subject/pod-owners.ts'
import type { StepAction } from '#model/finding.ts'
import { type KubernetesPod, type PodSpec, placedWorkload } from '#model/input/record.ts'
import {
  conditionOf,
  type EvaluatedThreshold,
  type RankedPod,
  type Signal,
} from '#model/prediction.ts'
import { isWithinWindow, recentEvents } from './events.ts'

/** Evictions of one owner that are no chance. */
export const manyEvictions = 3

/* Evictions on one node in the last hour, from pods and from events, each with the pod's owner. */

/** The signal whose pod ranking history keeps for a resource. */
export const rankedSignal = (resource: string): Signal | undefined =>
  Object.hasOwn(signalsOfResource, resource) ? signalsOfResource[resource]?.[0] : undefined

/** Empty: of no resource. */
export function conditionOfResource(resource: string | null): string {
  const signal = rankedSignal(resource ?? '')
  return signal ? conditionOf(signal) : ''
}

export interface Eviction {
  /** Pod UID if known, because a StatefulSet reuses names. */
  pod: string
  namespace: string
  name: string
  /** Null: it has none, or the pod's record is deleted. */
  owner: PodOwner | null
  time: string | null
  message: string
}

/** The reason of evicted pods and of refused pods. Upstream: pkg/kubelet/eviction/eviction_manager.go Reason */
const reason = 'Evicted'
const mostRecorded = 500

/** Evicted pods of the window, by default the last hour. Failed pods stay for weeks until pod GC deletes them, so older ones are left out. */
export function recordedEvictions(
  pods: readonly KubernetesPod[],
  at: string,
  windowMs?: number,
): Eviction[] {
  const evicted = pods.flatMap(pod => {
    const { metadata, status } = pod
    const time = status?.phase === 'Failed' && status.reason === reason ? failedAt(pod) : null
    if (time === null || !isWithinWindow(time, at, windowMs)) return []
    const [namespace, name] = [metadata?.namespace ?? '', metadata?.name ?? '']
    const message = shorten(String(status?.message ?? ''), 1024)
    const uid = metadata?.uid ?? `${namespace}/${name}`
    return [{ pod: uid, namespace, name, owner: ownerOf(pod), time, message }]
  })
  return evicted.slice(0, mostRecorded)
}

/** Those for space or inodes of a disk. */
export const diskEvictions = (...args: Parameters<typeof recordedEvictions>): Eviction[] =>
  recordedEvictions(...args).filter(({ message }) => isOfDisk(evictionCause(message).resource))

export const isOfDisk = (resource: string | null): boolean =>
  resource === 'ephemeral-storage' || resource === 'inodes'

/** Share of a disk from which on an evicted container helped to fill it. */
const leastWritten = 0.05
/** Share of the disk. A pod that held this much was evicted: the next pod of its owner may not fit either. */
export const leastTry = 0.25

/** The container that used most of the resource when its pod was evicted, as the kubelet's messages say. Null: none used that much. */
export function largestEvicted(
  scarce: 'ephemeral-storage' | 'memory',
  pods: readonly KubernetesPod[],
  at: string,
  leastBytes: number,
  windowMs = weekMs,
) {
  const largest = largestContainer(scarce, recordedEvictions(pods, at, windowMs))
  return largest && largest.bytes >= leastBytes ? largest : null
}

/** By the kubelet's messages. Null: they name none. */
function largestContainer(scarce: 'ephemeral-storage' | 'memory', evictions: readonly Eviction[]) {
  const users = evictions.flatMap(eviction => {
    const { resource, containers } = evictionCause(eviction.message)
    return (resource === scarce ? containers : []).map(({ name: container, used, request }) => ({
      owner: { kind: 'container' as const, container, ...placeOf(eviction) },
      bytes: amountOrNull(used) ?? 0,
      request,
    }))
  })
  return users.toSorted((a, b) => b.bytes - a.bytes)[0] ?? null
}

/** Why they were evicted, and what ends it. `user` null: their messages name no container. */
export function evictionReason(
  evictions: readonly Eviction[],
  { diskBytes, memoryBytes }: Record<'diskBytes' | 'memoryBytes', number | null>,
): Pick<Failing, 'cause' | 'steps'> & { user: string | null } {
  const latest = evictions.findLast(({ message }) => evictionCause(message).resource !== null)
  if (!latest) return { user: null }
  const { resource } = evictionCause(latest.message)
  if (resource === 'inodes') return { user: null, steps: [{ id: 'look-on-node', unit: 'inodes' }] }
  if (resource === 'pids') return { user: null, steps: [{ id: 'list-processes' }] }
  const isMemory = resource === 'memory'
  const scarce = isMemory ? resource : 'ephemeral-storage'
  const largest = largestContainer(scarce, evictions)
  if (!largest)
    return { user: null, steps: [isMemory ? { id: 'list-memory' } : ephemeralStorageStep(latest)] }
  const { owner, bytes: used, request } = largest
  const whole = isMemory ? memoryBytes : diskBytes
  const { workload } = placeOf(latest)
  const isOfOther =
    owner.workload === null ? owner.pod !== latest.name : owner.workload !== workload
  const whose = isOfOther ? ` of ${placedPod(owner)}, evicted too,` : ''
  const user = `container ${shortName(owner.container)}${whose} used ${bytes(used)} of ${isMemory ? `memory (request ${shorten(request, 40)})` : 'the disk'}`
  if (whole !== null && used < leastWritten * whole)
    // The message counts the layer and the logs of a container (kubernetes#130439).
    return isMemory
      ? { user, steps: [{ id: 'list-memory' }] }
      : { user: `${user} without its volumes`, steps: [{ id: 'look-on-node' }] }
  const cause = settingIn('workload', `resources.requests.${scarce}`)
  if (isMemory) return { user, cause, steps: [{ id: 'set-memory', owner, bytes: used }] }
  const tries = evictions.filter(
    one =>
      one.namespace === owner.namespace &&
      placeOf(one).workload === owner.workload &&
      (largestContainer(scarce, [one])?.bytes ?? 0) >= leastTry * (whole ?? used),
  ).length
  const isTriedAgain = tries > 1 && owner.workload !== null
  return {
    user: isTriedAgain ? `${user}, ${tries} pods of its owner about as much` : user,
    cause,
    steps: [{ id: 'move-to-volume', owner, variant: 'needed' }],
  }
}

const ephemeralStorageStep = (eviction: Eviction): StepAction => ({
  id: 'set-ephemeral-storage',
  owner: { kind: 'pod', ...placeOf(eviction), volume: null },
})

export const placeOf = ({ namespace, name, owner }: Eviction) => ({
  namespace,
  pod: name,
  workload: owner?.workload ?? null,
})

/** A threshold with the amount that an eviction names. */
type NamedThreshold = Pick<EvaluatedThreshold, 'signal' | 'value' | 'resolved'>

/** What a rule needs of the evictions of a node. */
export type EvictionFact = ReturnType<typeof evictionFact>

export function evictionFact(
  { pods, eviction, node: { status }, at }: Pick<NodeSubject, 'pods' | 'eviction' | 'node' | 'at'>,
  windowMs?: number,
) {
  return {
    recorded: recordedEvictions(pods ?? [], at, windowMs),
    thresholds: (eviction?.thresholds ?? []).map(
      ({ signal, value, resolved }): NamedThreshold => ({ signal, value, resolved }),
    ),
    /** Of the disk of pods, and of the node's memory. Null: unknown. */
    diskBytes: amountOrNull(status?.capacity?.['ephemeral-storage']),
    memoryBytes: amountOrNull(status?.capacity?.memory),
  }
}

export const noEvictions: EvictionFact = {
  recorded: [],
  thresholds: [],
  diskBytes: null,
  memoryBytes: null,
}

/** The Node object and the statistics round the size of a disk. */
const sameAmount = 0.002

/** `nodefs.available 10%`, whose bytes are the amount. Null: no threshold of the configuration. */
export function thresholdOf(text: string, thresholds: readonly NamedThreshold[]): string | null {
  const amount = amountOrNull(text) ?? NaN
  const found = thresholds.find(
    ({ resolved }) => resolved !== null && Math.abs(resolved - amount) <= sameAmount * resolved,
  )
  return found ? `${found.signal} ${found.value}` : null
}

/** What the last of them names: `1.7 GiB available, below nodefs.available 10% (2.0 GiB)`. Null: none names a threshold. */
export function namedThreshold(
  evictions: readonly Eviction[],
  { thresholds, diskBytes }: Pick<EvictionFact, 'thresholds' | 'diskBytes'>,
): string | null {
  const causes = evictions.map(({ message }) => evictionCause(message))
  const { threshold = null, resource } = causes.findLast(one => one.threshold !== null) ?? {}
  if (!threshold) return null
  const [quantity, available] = [threshold.quantity, threshold.available].map(text =>
    resourceText(text, resource ?? null),
  )
  const signal = thresholdOf(threshold.quantity, thresholds)
  const share =
    resource === 'ephemeral-storage' && diskBytes !== null
      ? (100 * (amountOrNull(threshold.quantity) ?? 0)) / diskBytes
      : 0
  const isShare = share >= 1 && Math.abs(share - Math.round(share)) <= sameAmount * share
  const ofDisk = isShare ? `, ${Math.round(share)} % of its disk` : ''
  return `${available} available, below ${signal === null ? `${quantity}${ofDisk}` : `${signal} (${quantity})`}`
}

/** Whether the threshold of a disk that evicted was lowered since: what was available meets none of the present ones. */
export function isThresholdLowered(
  evictions: readonly EvictionCause[],
  { thresholds }: Pick<EvictionFact, 'thresholds'>,
): boolean {
  const last = evictions.findLast(({ threshold }) => threshold !== null)
  const available = amountOrNull(last?.threshold?.available ?? '')
  if (!last?.threshold || available === null || !isOfDisk(last.resource)) return false
  const signals: readonly string[] = signalsOfResource[last.resource ?? ''] ?? []
  const present = thresholds.filter(({ signal }) => signals.includes(signal))
  return (
    present.length > 0 &&
    thresholdOf(last.threshold.quantity, present) === null &&
    present.every(({ resolved }) => resolved !== null && available >= resolved)
  )
}

/** `29.0 GiB` of `31189488855`, `3276 process ids` of `3276`. */
export function resourceText(text: string, resource: string | null = null): string {
  const amount = amountOrNull(text)
  if (amount === null) return shorten(text, 40)
  if (resource === 'pids') return `${counted(amount)} process ids`
  return resource === 'inodes' ? `${counted(amount)} inodes` : bytes(amount)
}

/** Time of the pod's condition DisruptionTarget, else of the last condition that turned False. A refused pod has only its start time. */
export function failedAt({ status }: KubernetesPod) {
  const conditions = status?.conditions ?? []
  const timeOf = ({ lastTransitionTime }: { lastTransitionTime?: unknown }) =>
    typeof lastTransitionTime === 'string' ? lastTransitionTime : null
  const disrupted = conditions.find(({ type }) => type === 'DisruptionTarget')
  const ended = conditions
    .filter(condition => condition.status === 'False')
    .flatMap(condition => timeOf(condition) ?? [])
  const started = typeof status?.startTime === 'string' ? status.startTime : null
  return (disrupted && timeOf(disrupted)) ?? ended.toSorted().at(-1) ?? started
}

/** Each pod once. Several eviction passes may hit a slowly terminating pod, with one event each. */
export function allEvictions(
  recorded: readonly Eviction[],
  { events, at, ownerOfName }: Pick<NodeContext, 'events' | 'at' | 'ownerOfName'>,
): Eviction[] {
  const all = new Map(recorded.map(eviction => [eviction.pod, eviction]))
  for (const { pod, lastTime, message } of recentEvents(events, at, [reason])) {
    if (!pod) continue
    const { namespace, name, uid = `${namespace}/${name}` } = pod
    const known =
      all.get(uid) ??
      (pod.uid === undefined
        ? recorded.find(one => one.namespace === namespace && one.name === name)
        : undefined)
    const owner = ownerOfName(namespace, name)
    // An old kubelet sets no condition: the pod has only the time of its start.
    const isLater = known && lastTime !== null && lastTime > (known.time ?? '')
    if (!known) all.set(uid, { pod: uid, namespace, name, owner, time: lastTime, message })
    else if (isLater) all.set(known.pod, { ...known, time: lastTime })
  }
  return [...all.values()].toSorted(
    by(
      ({ time }) => time ?? '',
      ({ pod }) => pod,
    ),
  )
}

/** By resource: the owners of the pods that the replay evicts first. */
export function nextVictims(
  eviction: NodeSubject['eviction'],
  pods: readonly KubernetesPod[],
): Record<string, readonly (string | null)[]> {
  if (!eviction) return {}
  const podOf = ({ namespace, name }: RankedPod) =>
    pods.findLast(
      ({ metadata }) =>
        (metadata?.name ?? '') === name && (metadata?.namespace ?? '') === namespace,
    )
  const firstVictimOwners = (signals: readonly Signal[]) =>
    (eviction.rankings ?? [])
      .filter(({ signal }) => signals.includes(signal))
      .flatMap(({ pods: order }) => {
        const first = order.find(pod => isEvictable(pod, eviction))
        if (!first) return []
        const pod = podOf(first)
        return [(pod && ownerOf(pod)?.key) ?? null]
      })
  const byResource = Object.entries(signalsOfResource).map(
    ([resource, signals]) => [resource, [...new Set(firstVictimOwners(signals))]] as const,
  )
  return Object.fromEntries(byResource.filter(([, owners]) => owners.length > 0))
}

/** `DaemonSet logging/shipper`; of an unknown owner the beginning of the pod's name: `pods logging/shipper-*`. */
export function ownerName({ owner, namespace, name }: Eviction): string {
  if (owner) return shortName(placedWorkload(namespace, owner.workload))
  const parts = name.split('-')
  const last = parts.at(-1) ?? ''
  const isPrefixed = parts.length > 1 && (isGeneratedSuffix(last) || /^\d{1,9}$/.test(last))
  const stem = isPrefixed ? `${parts.slice(0, -1).join('-')}-*` : name
  return shortName(`pods ${namespace}/${stem}`)
}

const pressures = new Map([
  ['ephemeral-storage', 'disk'],
  ['inodes', 'disk'],
  ['pids', 'pid'],
  ['memory', 'memory'],
])

/**
 * Taint of a node that is low on this resource. Null: no taint exists for the resource.
 * Upstream: pkg/controller/nodelifecycle nodeConditionToTaintKeyStatusMap.
 */
export function taintOf(resource: string | null): string | null {
  const pressure = resource === null ? undefined : pressures.get(resource)
  return pressure === undefined ? null : `node.kubernetes.io/${pressure}-pressure`
}
const pressureTaints = ['memory', 'inodes', 'pids'].flatMap(resource => taintOf(resource) ?? [])

type NoExecuteToleration = NonNullable<PodSpec['tolerations']>[number]

/** For a taint with effect NoSchedule and no value. Upstream: k8s.io/api/core/v1/toleration.go ToleratesTaint */
const tolerates = (taint: string, { key, operator, value, effect }: NoExecuteToleration) =>
  (!effect || effect === 'NoSchedule') &&
  (key === taint || ((key === undefined || key === '') && operator === 'Exists')) &&
  (operator === 'Exists' || ((!operator || operator === 'Equal') && !value))

function toleratedTaints({ spec }: KubernetesPod) {
  const tolerations = spec?.tolerations ?? []
  return pressureTaints.filter(taint =>
    tolerations.some(toleration => tolerates(taint, toleration)),
  )
}

export function toleratedByOwner(pods: readonly KubernetesPod[]): Record<string, string[]> {
  const tolerated: Record<string, string[]> = {}
  for (const pod of pods) {
    if (isTerminalPhase(pod.status?.phase)) continue
    const taints = toleratedTaints(pod)
    const owner = taints.length === 0 ? null : ownerOf(pod)
    if (owner) tolerated[owner.key] = taints
  }
  return tolerated
}
