import { amountOrNull } from '#base/go/quantity.ts'
import { by } from '#base/text/text-order.ts'
import { weekMs } from '#base/units.ts'
import { evictionCause, signalsOfResource } from '#facts/kubelet/event-messages.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { isEvictable } from '#judge/help/thresholds.ts'
import type { NodeEvent, NodeSubject } from '#judge/subject/node-subject.ts'
import { nameLength, shorten } from '#judge/text.ts'
import {
  controllerOf,
  controllerReferenceOf,
  type KubernetesPod,
  type PodSpec,
} from '#model/input/kubernetes.ts'
import type { HolderOwner } from '#model/prediction/disk-ledger.ts'
import type { RankedPod, Signal } from '#model/prediction/prediction.ts'
import { isWithinWindow, recentEvents } from './events.ts'

/** Evictions of one owner that are no chance. */
export const manyEvictions = 3

/* Evictions on one node in the last hour, from pods and from events, each with the pod's owner. */

/** The signal whose pod ranking history keeps for a resource. */
export const rankedSignal = (resource: string): Signal | undefined =>
  Object.hasOwn(signalsOfResource, resource) ? signalsOfResource[resource]?.[0] : undefined

export interface Eviction {
  /** Pod UID if known, because a StatefulSet reuses names. */
  pod: string
  namespace: string
  name: string
  /** Null: unknown, or the pod's record is deleted. */
  owner: string | null
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
    return [
      {
        pod: metadata?.uid ?? `${namespace}/${name}`,
        namespace,
        name,
        owner: ownerOf(pod),
        time,
        message,
      },
    ]
  })
  return evicted.slice(0, mostRecorded)
}

/** Those for space or inodes of a disk. */
export const diskEvictions = (...of: Parameters<typeof recordedEvictions>): Eviction[] =>
  recordedEvictions(...of).filter(
    ({ message }) => taintOf(evictionCause(message).resource) === diskTaint,
  )

/** Share of a disk from which on an evicted container helped to fill it. */
export const leastWritten = 0.05

/** The container that used most of the resource when its pod was evicted, as the kubelet's messages say. Null: none used that much. */
export function largestEvicted(
  scarce: 'ephemeral-storage' | 'memory',
  pods: readonly KubernetesPod[],
  at: string,
  leastBytes: number,
  windowMs = weekMs,
): { owner: HolderOwner & { kind: 'container' }; bytes: number } | null {
  const writers = recordedEvictions(pods, at, windowMs).flatMap(
    ({ pod, namespace, name, message }) => {
      const { resource, containers } = evictionCause(message)
      const object = pods.find(({ metadata }) => metadata?.uid === pod)
      if (resource !== scarce || object === undefined) return []
      const place = { namespace, pod: name, workload: controllerOf(object) }
      return containers.map(({ name: container, used }) => ({
        owner: { kind: 'container' as const, container, ...place },
        bytes: amountOrNull(used) ?? 0,
      }))
    },
  )
  const [largest] = writers.toSorted((a, b) => b.bytes - a.bytes)
  return largest !== undefined && largest.bytes >= leastBytes ? largest : null
}

/** Time of the pod's condition DisruptionTarget, else of the last condition that turned False. A refused pod has only its start time. */
function failedAt({ status }: KubernetesPod) {
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
  events: readonly NodeEvent[] | null,
  at: string,
): Eviction[] {
  const all = new Map(recorded.map(eviction => [eviction.pod, eviction]))
  for (const { pod, lastTime, message } of recentEvents(events, at, [reason])) {
    if (pod === null) continue
    const { namespace, name, uid = `${namespace}/${name}` } = pod
    const known =
      all.get(uid) ??
      recorded.find(
        eviction =>
          pod.uid === undefined && eviction.namespace === namespace && eviction.name === name,
      )
    if (!known) all.set(uid, { pod: uid, namespace, name, owner: null, time: lastTime, message })
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
  if (eviction === null) return {}
  const podOf = ({ namespace, name }: RankedPod) =>
    pods.findLast(
      ({ metadata }) =>
        (metadata?.name ?? '') === name && (metadata?.namespace ?? '') === namespace,
    )
  const firstOf = (signals: readonly Signal[]) =>
    (eviction.rankings ?? [])
      .filter(({ signal }) => signals.includes(signal))
      .flatMap(({ pods: order }) => {
        const first = order.find(pod => isEvictable(pod, eviction))
        if (first === undefined) return []
        const pod = podOf(first)
        return [pod ? ownerOf(pod) : null]
      })
  const byResource = Object.entries(signalsOfResource).map(
    ([resource, signals]) => [resource, [...new Set(firstOf(signals))]] as const,
  )
  return Object.fromEntries(byResource.filter(([, owners]) => owners.length > 0))
}

/** `namespace/DaemonSet/name`. Null: no controller replaces the pod. A static pod's owner is its node, and the kubelet never evicts static pods. */
function ownerOf(pod: KubernetesPod) {
  const owner = controllerReferenceOf(pod)
  return typeof owner?.name !== 'string' || owner.kind === 'Node'
    ? null
    : `${pod.metadata?.namespace ?? ''}/${owner.kind ?? ''}/${owner.name}`
}

/** These two controllers delete an evicted pod at once. Other evicted pods stay, with their owner, until GC. Upstream: pkg/controller/daemon, statefulset. */
const deletingKinds: readonly unknown[] = ['DaemonSet', 'StatefulSet']

/** Owners to remember for a node, sorted: owners whose evicted pods are deleted, and owners of pods that `isWanted`. The list stays short on every node. */
export function lastingOwners(
  pods: readonly KubernetesPod[],
  isWanted: (pod: KubernetesPod) => boolean,
) {
  const isDeleting = (pod: KubernetesPod) =>
    deletingKinds.includes(controllerReferenceOf(pod)?.kind)
  return [
    ...new Set(
      pods.filter(pod => isDeleting(pod) || isWanted(pod)).flatMap(pod => ownerOf(pod) ?? []),
    ),
  ].toSorted()
}

/** Upstream: apiserver storage/names/generate.go SimpleNameGenerator; apimachinery util/rand rand.go alphanums. */
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/
const longestPrefix = 58

/**
 * Owner from the pod's record, else a known owner whose name matches, else the pod name's prefix: `DaemonSet logging/shipper`; without a
 * known owner `pods logging/shipper-…`.
 */
export function likelyOwner(
  { owner, namespace, name }: Pick<Eviction, 'owner' | 'namespace' | 'name'>,
  owners: readonly string[],
) {
  const key = owner ?? owners.find(known => isNameOf(known, namespace, name)) ?? null
  if (key !== null) {
    const [inNamespace = '', kind = '', ...rest] = key.split('/')
    return {
      name: shorten(`${kind} ${inNamespace}/${rest.join('/')}`, nameLength),
      key,
      isKnown: true,
    }
  }
  const parts = name.split('-')
  const last = parts.at(-1) ?? ''
  const stem =
    parts.length > 1 && (generated.test(last) || /^\d{1,9}$/.test(last))
      ? `${parts.slice(0, -1).join('-')}-*`
      : name
  return { name: shorten(`pods ${namespace}/${stem}`, nameLength), key: null, isKnown: false }
}

function isNameOf(owner: string, namespace: string, pod: string) {
  const [inNamespace, kind, name = ''] = owner.split('/')
  if (inNamespace !== namespace) return false
  const prefix = kind === 'StatefulSet' ? `${name}-` : `${name}-`.slice(0, longestPrefix)
  if (!pod.startsWith(prefix)) return false
  const rest = pod.slice(prefix.length)
  return kind === 'StatefulSet' ? /^\d{1,9}$/.test(rest) : generated.test(rest)
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
const diskTaint = taintOf('inodes')
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
    if (owner !== null) tolerated[owner] = taints
  }
  return tolerated
}
