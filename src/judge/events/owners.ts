import { sharedText, sharedValue } from '#base/once.ts'
import { byText } from '#base/text/text-order.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type { KubernetesPod, PodSpec } from '#model/input/kubernetes.ts'

/** `namespace/DaemonSet/name`. Null: no controller replaces the pod. A static pod's owner is its node, and the kubelet never evicts static pods. */
export function ownerOf({ metadata }: KubernetesPod): string | null {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  return typeof owner?.name !== 'string' || owner.kind === 'Node'
    ? null
    : sharedText(`${metadata?.namespace ?? ''}/${owner.kind ?? ''}/${owner.name}`)
}

/** These two controllers delete an evicted pod at once. Other evicted pods stay, with their owner, until GC. Upstream: pkg/controller/daemon, statefulset. */
const deletingKinds: readonly unknown[] = ['DaemonSet', 'StatefulSet']

/** Owners to remember for a node, sorted: owners whose evicted pods are deleted, and owners of pods that `isWanted`. The list stays short on every node. */
export function lastingOwners(
  pods: readonly KubernetesPod[],
  isWanted: (pod: KubernetesPod) => boolean,
): string[] {
  const isDeleting = ({ metadata }: KubernetesPod) =>
    metadata?.ownerReferences?.some(({ kind }) => deletingKinds.includes(kind)) === true
  return [
    ...new Set(
      pods.filter(pod => isDeleting(pod) || isWanted(pod)).flatMap(pod => ownerOf(pod) ?? []),
    ),
  ].toSorted(byText)
}

interface OwnedPod {
  namespace: string
  name: string
  owner: string | null
}

export interface LikelyOwner {
  /** `DaemonSet logging/shipper`; without a known owner `pods logging/shipper-…`. */
  name: string
  key: string | null
  isKnown: boolean
}

/** Upstream: apiserver storage/names/generate.go SimpleNameGenerator; apimachinery util/rand rand.go alphanums. */
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/
const longestPrefix = 58

/** Owner from the pod's record, else a known owner whose name matches, else the pod name's prefix. */
export function likelyOwner(
  { owner, namespace, name }: OwnedPod,
  owners: readonly string[],
): LikelyOwner {
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
    if (owner !== null) tolerated[owner] = sharedValue(taints)
  }
  return tolerated
}
