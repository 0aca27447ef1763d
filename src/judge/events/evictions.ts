import { amountOrNull } from '#base/go/quantity.ts'
import { byText } from '#base/text/text-order.ts'
import { evictionCause, signalsOfResource } from '#facts/kubelet/event-messages.ts'
import { isEvictable } from '#judge/help/thresholds.ts'
import type { NodeEvent } from '#judge/subject/cluster-facts.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { shorten } from '#judge/text.ts'
import { controllerOf, type KubernetesPod } from '#model/input/kubernetes.ts'
import type { HolderOwner } from '#model/prediction/disk-ledger.ts'
import type { RankedPod, Signal } from '#model/prediction/prediction.ts'
import { isWithin, recentEvents } from './events.ts'
import { ownerOf } from './owners.ts'

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
/** Evicted pods stay until pod GC deletes them. */
export const weekMs = 7 * 24 * 3_600_000

/** Evicted pods of the window, by default the last hour. Failed pods stay for weeks until pod GC deletes them, so older ones are left out. */
export function recordedEvictions(
  pods: readonly KubernetesPod[],
  at: string,
  windowMs?: number,
): Eviction[] {
  const evicted = pods.flatMap(pod => {
    const { metadata, status } = pod
    const time = status?.phase === 'Failed' && status.reason === reason ? failedAt(pod) : null
    if (time === null || !isWithin(time, at, windowMs)) return []
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

/** The container that used most of the disk when its pod was evicted, as the kubelet's messages say. Null: none used that much. */
export function evictedWriter(
  pods: readonly KubernetesPod[],
  at: string,
  leastBytes: number,
): { owner: HolderOwner & { kind: 'container' }; bytes: number } | null {
  const writers = recordedEvictions(pods, at, weekMs).flatMap(
    ({ pod, namespace, name, message }) => {
      const { resource, containers } = evictionCause(message)
      const object = pods.find(({ metadata }) => metadata?.uid === pod)
      if (resource !== 'ephemeral-storage' || object === undefined) return []
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
  return (disrupted && timeOf(disrupted)) ?? ended.toSorted(byText).at(-1) ?? started
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
    (a, b) => byText(a.time ?? '', b.time ?? '') || byText(a.pod, b.pod),
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
