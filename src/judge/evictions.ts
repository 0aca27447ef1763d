/** Evictions of one node's last hour, from its pods and from events, each with the pod's owner. */
import type { KubernetesPod } from '#model/kubernetes.ts'
import type { Signal } from '#model/prediction.ts'
import type { NodeEvent } from './cluster-facts.ts'
import { isWithin, recentEvents } from './events.ts'
import { bounded, byText, nameLength } from './text.ts'

/** Upstream: pkg/kubelet/eviction/helpers.go signalToResource. */
export const signalsOf: Readonly<Record<string, readonly Signal[]>> = {
  memory: ['memory.available', 'allocatableMemory.available'],
  'ephemeral-storage': ['nodefs.available', 'imagefs.available', 'containerfs.available'],
  inodes: ['nodefs.inodesFree', 'imagefs.inodesFree', 'containerfs.inodesFree'],
  pids: ['pid.available'],
}

/** The taint under which a pod comes to a node where this resource is low. Upstream: pkg/controller/nodelifecycle nodeConditionToTaintKeyStatusMap. */
export function taintOf(resource: string | null): string | null {
  const condition = resource === 'ephemeral-storage' || resource === 'inodes' ? 'disk' : resource === 'pids' ? 'pid' : resource
  return condition === 'disk' || condition === 'pid' || condition === 'memory' ? `node.kubernetes.io/${condition}-pressure` : null
}
const pressureTaints = ['memory', 'inodes', 'pids'].flatMap(resource => taintOf(resource) ?? [])

type Toleration = NonNullable<NonNullable<KubernetesPod['spec']>['tolerations']>[number]

/** Upstream: k8s.io/api/core/v1/toleration.go ToleratesTaint, of a taint without value and effect NoSchedule. */
const tolerates = (taint: string, { key = '', operator = '', value = '', effect = '' }: Toleration): boolean =>
  (effect === '' || effect === 'NoSchedule') &&
  (key === taint || (key === '' && operator === 'Exists')) &&
  (operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === ''))

export const toleratedTaints = ({ spec }: KubernetesPod): string[] =>
  pressureTaints.filter(taint => spec?.tolerations?.some(toleration => tolerates(taint, toleration)))

/** `namespace/DaemonSet/name`. Null: no controller makes another. A static pod's owner is its node, whose kubelet never evicts it. */
export function ownerOf({ metadata }: KubernetesPod): string | null {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  return owner?.name === undefined || owner.kind === 'Node' ? null : `${metadata?.namespace ?? ''}/${owner.kind ?? ''}/${owner.name}`
}

export interface Eviction {
  /** Its UID where it is told: a StatefulSet gives names again. */
  pod: string
  namespace: string
  name: string
  /** Null: not known, or the pod's record is gone. */
  owner: string | null
  time: string | null
  message: string
}

/** Upstream: pkg/kubelet/eviction/eviction_manager.go Reason, of evicted and of refused pods alike. */
const reason = 'Evicted'
/** Of more a loop is as plain. */
const mostRecorded = 500

/** Failed pods stay until pod GC, for weeks: only those whose time of failing is told and recent. */
export function recordedEvictions(pods: readonly KubernetesPod[], at: string): Eviction[] {
  const evicted = pods.flatMap(pod => {
    const { metadata, status } = pod
    const time = status?.phase === 'Failed' && status.reason === reason ? failedAt(pod) : null
    if (time === null || !isWithin(time, at)) return []
    const [namespace, name] = [metadata?.namespace ?? '', metadata?.name ?? '']
    const message = bounded(String(status?.message ?? ''), 1024)
    return [{ pod: metadata?.uid ?? `${namespace}/${name}`, namespace, name, owner: ownerOf(pod), time, message }]
  })
  return evicted.slice(0, mostRecorded)
}

/** Its condition DisruptionTarget, or the last that turned False; a pod that was refused has only its start. */
function failedAt({ status }: KubernetesPod): string | null {
  const conditions = Array.isArray(status?.conditions) ? status.conditions : []
  const disrupted = conditions.find(({ type }) => type === 'DisruptionTarget')?.lastTransitionTime
  const ended = conditions.filter(condition => condition.status === 'False').map(({ lastTransitionTime }) => lastTransitionTime ?? '')
  return disrupted ?? (ended.toSorted(byText).at(-1) || (status?.startTime ?? null))
}

/** Each pod once: one that dies slowly is evicted by several passes, and each tells an event. */
export function allEvictions(recorded: readonly Eviction[], events: readonly NodeEvent[] | null, at: string): Eviction[] {
  const all = new Map(recorded.map(eviction => [eviction.pod, eviction]))
  for (const { pod, lastTime, message } of recentEvents(events, at, [reason])) {
    if (pod === null) continue
    const { namespace, name, uid = `${namespace}/${name}` } = pod
    const known =
      all.get(uid) ?? recorded.find(eviction => pod.uid === undefined && eviction.namespace === namespace && eviction.name === name)
    if (known) all.set(known.pod, { ...known, message: known.message === '' ? message : known.message })
    else all.set(uid, { pod: uid, namespace, name, owner: null, time: lastTime, message })
  }
  return [...all.values()].toSorted((a, b) => byText(a.time ?? '', b.time ?? '') || byText(a.pod, b.pod))
}

export interface LikelyOwner {
  /** `DaemonSet logging/shipper`; of pods whose owner is not known `pods logging/shipper-…`. */
  name: string
  key: string | null
  isKnown: boolean
}

/** Upstream: apiserver storage/names/generate.go SimpleNameGenerator; apimachinery util/rand rand.go alphanums. */
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/
const longestPrefix = 58

/** By the record; else by the pod's name, where a pod of an owner of that name is known; else by what the name begins with. */
export function likelyOwner({ owner, namespace, name }: Eviction, owners: readonly string[]): LikelyOwner {
  const key = owner ?? owners.find(known => isNameOf(known, namespace, name)) ?? null
  if (key !== null) {
    const [inNamespace = '', kind = '', ...rest] = key.split('/')
    return { name: bounded(`${kind} ${inNamespace}/${rest.join('/')}`, nameLength), key, isKnown: true }
  }
  const parts = name.split('-')
  const last = parts.at(-1) ?? ''
  const stem = parts.length > 1 && (generated.test(last) || /^\d{1,9}$/.test(last)) ? `${parts.slice(0, -1).join('-')}-...` : name
  return { name: bounded(`pods ${namespace}/${stem}`, nameLength), key: null, isKnown: false }
}

function isNameOf(owner: string, namespace: string, pod: string): boolean {
  const [inNamespace, kind, name = ''] = owner.split('/')
  if (inNamespace !== namespace) return false
  const prefix = kind === 'StatefulSet' ? `${name}-` : `${name}-`.slice(0, longestPrefix)
  if (!pod.startsWith(prefix)) return false
  const rest = pod.slice(prefix.length)
  return kind === 'StatefulSet' ? /^\d{1,9}$/.test(rest) : generated.test(rest)
}

export interface ToldEviction {
  /** What was low; null: the pod was over a limit of its own, or the message is another. */
  resource: string | null
  /** The pod had not begun to run. */
  isRefused: boolean
  threshold: { quantity: string; available: string } | null
  containers: { name: string; used: string; request: string }[]
}

/** Upstream: pkg/kubelet/eviction/helpers.go evictionMessage; eviction_manager.go Admit. */
export function readEvictionMessage(message: string): ToldEviction {
  const [, low] = /The node was low on resource: ([a-z-]{1,40})\./.exec(message) ?? []
  const [, condition] = /The node had condition: \[(Memory|Disk|PID)Pressure[^\]]{0,60}\]/.exec(message) ?? []
  const [, quantity, available] = /Threshold quantity: ([^\s,]{1,40}), available: ([^\s,]{1,40})\. /.exec(message) ?? []
  const using = /Container (\S{1,63}) was using ([^\s,]{1,40}), (?:request is|which exceeds its request of) ([^\s,]{1,40}?)(?:,|\. )/g
  const resource = low ?? (condition === 'Disk' ? 'ephemeral-storage' : condition === 'PID' ? 'pids' : condition?.toLowerCase())
  return {
    resource: resource !== undefined && Object.hasOwn(signalsOf, resource) ? resource : null,
    isRefused: condition !== undefined,
    threshold: quantity === undefined || available === undefined ? null : { quantity, available },
    containers: [...message.matchAll(using)].map(([, name = '', used = '', request = '']) => ({ name, used, request })),
  }
}
