/** Steps that end pods: of those that hold most of a disk or of memory. */

import { amountOrNull } from '#base/go/quantity.ts'
import { evictionCause } from '#facts/kubelet/event-messages.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { agoMs } from '#judge/events/events.ts'
import { failedAt } from '#judge/events/evictions.ts'
import { type NodeSubject, podName, shortPodName } from '#judge/rule.ts'
import type { Cause, HolderCause, StepAction, StepActionId } from '#model/finding.ts'
import {
  controllerOf,
  controllerReferenceOf,
  isOfCustomKind,
  type KubernetesPod,
  type PodSummary,
  parseWorkload,
  type Summary,
  statusesOf,
} from '#model/input/record.ts'
import { type HolderOwner, type HolderPart, podOwner } from '#model/prediction.ts'
import { leastOwned, type Reason } from './holder-cause.ts'

/* What a drain of a node costs. */

/** Pods that a step names at most. */
export const mostLosses = 20

/** A drain leaves its pods where they are. */
export const isOfDaemonSet = (owner: HolderOwner | null) =>
  parseWorkload(workloadOf(owner) ?? '').kind === 'DaemonSet'

/** `Deployment api`. Null: it has no controller, or is no pod. */
export const workloadOf = (owner: HolderOwner | null | undefined) =>
  owner && 'workload' in owner ? (owner.workload ?? null) : null

/** It is no work that ends. Absent: Kubernetes sets Always. */
export const runsForever = (pod: KubernetesPod | undefined) =>
  (pod?.spec?.restartPolicy ?? 'Always') === 'Always'

/** Whether each pod has data of its own: of a StatefulSet, or of an operator's set (Kafka, databases). */
export function keepsData(owner: HolderOwner | null, pods: NodeSubject['pods'] | undefined) {
  const workload = workloadOf(owner)
  return (
    owner !== null &&
    'pod' in owner &&
    workload !== null &&
    (workload.startsWith('StatefulSet ') || isOfCustomKind(workload)) &&
    runsForever(podOf(pods, owner))
  )
}

const staying: ReadonlySet<string | undefined> = new Set(['DaemonSet', 'Node'])

/** kubectl leaves the pods of DaemonSets and mirror pods where they are. */
export function drainStep({ pods }: { pods: readonly KubernetesPod[] | null }): StepAction {
  if (!pods) return { id: 'drain' }
  const moved = pods.filter(
    pod =>
      !staying.has(controllerReferenceOf(pod)?.kind) &&
      pod.status?.phase !== 'Succeeded' &&
      pod.status?.phase !== 'Failed',
  )
  const hasData = ({ spec }: KubernetesPod) =>
    spec?.volumes?.some(({ emptyDir }) => emptyDir && emptyDir.medium !== 'Memory') === true
  const podNames = (some: KubernetesPod[]) =>
    onePerNamespaceFirst(some)
      .map(({ metadata }) => shortPodName(metadata))
      .slice(0, mostLosses)
  return {
    id: 'drain',
    lost: {
      pods: podNames(moved.filter(pod => controllerOf(pod) === null)),
      data: podNames(moved.filter(hasData)),
    },
  }
}

/** A text names a few of them: many pods of one namespace hide no pod of another. */
function onePerNamespaceFirst(pods: KubernetesPod[]): KubernetesPod[] {
  const groups = [...Map.groupBy(pods, ({ metadata }) => metadata?.namespace).values()]
  return [...groups.flatMap(([first]) => first ?? []), ...groups.flatMap(group => group.slice(1))]
}

/* What uses most of something that the kubelet's statistics count. */

export type LargestUser = ReturnType<typeof largestUsers>[number]

interface MeasuredPods {
  summary: Summary | null
  pods: readonly KubernetesPod[] | null
}

/** Null: no pod that the API lists for the node uses any, or statistics were not read. */
export const largestPod = (measured: MeasuredPods, amountOf: (pod: PodSummary) => number) =>
  largestUsers(measured, amountOf)[0] ?? null

/** All pods of a workload together. Null: as for one pod. */
export const largestOwner = (measured: MeasuredPods, amountOf: (pod: PodSummary) => number) =>
  [
    ...Map.groupBy(largestUsers(measured, amountOf), ({ owner }) =>
      podName({ namespace: owner.namespace, name: owner.workload ?? owner.pod }),
    ).values(),
  ]
    .map(own => ({
      ...own[0]!,
      amount: own.reduce((sum, { amount }) => sum + amount, 0),
      pods: own.length,
    }))
    .toSorted((a, b) => b.amount - a.amount)[0] ?? null

/** The largest first. */
function largestUsers({ summary, pods }: MeasuredPods, amountOf: (pod: PodSummary) => number) {
  const listed = new Map(pods?.map(pod => [podName(pod.metadata), pod]))
  return (summary?.pods ?? [])
    .flatMap(stats => {
      const pod = listed.get(podName(stats.podRef))
      const amount = amountOf(stats)
      // `owner`: the pod, or the largest of the owner's pods.
      return pod && amount > 0 ? [{ owner: podOwner(pod, null), amount, pods: 1 }] : []
    })
    .toSorted((a, b) => b.amount - a.amount)
}

/** Whether all pods that run have statistics. */
export function areMeasured({ summary, pods }: MeasuredPods) {
  const measured = new Set(summary?.pods?.map(({ podRef }) => podName(podRef)))
  return (
    pods?.every(pod => pod.status?.phase !== 'Running' || measured.has(podName(pod.metadata))) ===
    true
  )
}

const mostPods = 5

/** The pods of the owner that hold a tenth of the holder or more, the largest first. */
export function podsOf(
  { owner, holder, filesystem, amount }: HolderCause,
  parts: readonly HolderPart[],
) {
  const workload = workloadOf(owner)
  if (workload === null) return []
  const sums = new Map<string, number>()
  for (const part of parts) {
    const own = part.holder === holder && part.filesystem === filesystem ? part.owner : null
    if (!own || !('pod' in own) || own.pod === null || workloadOf(own) !== workload) continue
    if (!owner || !('namespace' in owner) || own.namespace !== owner.namespace) continue
    const size = amount.unit === 'inodes' ? (part.inodes ?? 0) : part.lowBytes
    sums.set(own.pod, (sums.get(own.pod) ?? 0) + size)
  }
  return [...sums]
    .filter(([, size]) => size >= leastOwned * amount.low)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, mostPods)
    .map(([pod]) => pod)
}

const inPods: ReadonlySet<HolderCause['holder']> = new Set([
  'writable-layers',
  'pod-volumes',
  'memory-volumes',
  'image-volumes',
])
/** Share from which on the end of one pod makes room. */
export const leastShareOfPod = 0.5

/** The deletion of the pods that hold most of the cause's bytes. Null: another holder, or no deletion of few pods frees them. */
export function podDeletion(
  cause: Cause,
  { ledger, pods = null }: Pick<NodeSubject, 'ledger'> & Partial<Pick<NodeSubject, 'pods'>>,
): StepAction | null {
  if (cause.kind !== 'holder' || !inPods.has(cause.holder)) return null
  const { owner, amount, largestBytes = amount.low } = cause
  const deletion = deletionOf(owner, pods)
  if (deletion?.id === 'end-pod' && largestBytes < leastShareOfPod * amount.low) return null
  const own = podsOf(cause, ledger?.parts ?? [])
  const inside = isLost(owner, pods) ? writingContainer(owner, pods, cause.place) : undefined
  return (
    deletion && { ...deletion, ...(own.length > 0 && { pods: own }), ...(inside && { inside }) }
  )
}

/** Whether the deletion ends work or data for good, of a Job, of an operator's object or of no controller: what is inside is looked at before. */
function isLost(owner: HolderOwner | null, pods: NodeSubject['pods']): boolean {
  if (!owner || !('workload' in owner) || isOfDaemonSet(owner)) return false
  const { workload } = owner
  return workload === null || isOfCustomKind(workload) || !runsForever(podOf(pods, owner))
}

/** Null: it is no pod, or a deletion ends none of its processes, or ends the mounts of others. */
export function deletionOf(
  owner: HolderOwner | null,
  pods: NodeSubject['pods'],
): StepAction | null {
  if (!owner || !('workload' in owner) || owner.pod === null) return null
  if (isOfDaemonSet(owner))
    return usesKubeletFolder(pods, owner) ? null : { id: 'restart-pod', owner }
  if (owner.workload !== null) return { id: 'delete-pod', owner }
  return startsAgain(pods, owner) === 'nothing' ? endPod(owner, pods) : null
}

/** Labels of programs outside of Kubernetes that start pods without an owner. Upstream: kubernetes-sigs/prow pkg/kube/prowjob.go, jenkinsci/kubernetes-plugin */
const jobLabels = ['prow.k8s.io/job', 'jenkins/label']

export const jobOf = (pod: KubernetesPod | undefined) =>
  jobLabels.map(label => pod?.metadata?.labels?.[label]).find(job => job !== undefined)

/** The job of a pod without a controller, which may start it again. */
export function endPod(owner: PodName & HolderOwner, pods: NodeSubject['pods']): StepAction {
  const job = jobOf(podOf(pods, owner))
  return { id: 'end-pod', owner, ...(job !== undefined && { message: job }) }
}

/**
 * Evicted here for local storage: pods of the same job or with the same labels, and pods that are alike in image and in the fixed part of their
 * names, such as those of two Workflows of one template. Of a workload that starts its own pods again, those that had written much. `bytes`: the
 * most that one had written by its message. `since`: the first, of those whose time is known.
 */
export function evictedBefore(owner: PodName, pods: NodeSubject['pods'], muchBytes: number) {
  const own = podOf(pods, owner)
  if (!own) return null
  const ownerOf = (pod: KubernetesPod) => controllerReferenceOf(pod)?.name ?? ''
  const evicted = (pods ?? []).filter(
    pod => isEvictedForStorage(pod) && pod.metadata?.namespace === owner.namespace,
  )
  const others = evicted.filter(pod => ownerOf(own) === '' || ownerOf(pod) !== ownerOf(own))
  const ways = [
    ['owner', evicted.filter(pod => writtenBytes(pod) >= muchBytes), ownerOf],
    ['job or labels', ownerOf(own) === '' ? others : [], pod => jobOf(pod) ?? labelsOf(pod)],
    ['name and image', others, nameAndImage],
  ] as const satisfies [string, KubernetesPod[], (pod: KubernetesPod) => string][]
  for (const [by, tries, of] of ways) {
    const alike = tries.filter(pod => of(own) !== '' && of(pod) === of(own))
    if (alike.length > 0)
      return {
        count: alike.length,
        by,
        bytes: Math.max(...alike.map(writtenBytes)),
        since: alike.flatMap(pod => failedAt(pod) ?? []).toSorted()[0] ?? null,
      }
  }
  return null
}

const writtenBytes = ({ status }: KubernetesPod) =>
  evictionCause(status?.message ?? '').containers.reduce(
    (sum, { used }) => sum + (amountOrNull(used) ?? 0),
    0,
  )

const labelsOf = ({ metadata }: KubernetesPod) =>
  String(Object.entries(metadata?.labels ?? {}).toSorted())

/** Parts of names that are new for each pod. Upstream: k8s.io/apiserver pkg/storage/names/generate.go, apimachinery util/rand alphanums */
const randomPart = /^(?:\d+|[bcdfghjklmnpqrstvwxz2456789]{5}|(?=.*\d)[\da-z]{4,})$/

/** Empty: the name has no fixed part. */
function nameAndImage({ metadata, spec }: KubernetesPod): string {
  const fixed = (metadata?.name ?? '').split('-').filter(part => !randomPart.test(part))
  const images = (spec?.containers ?? []).map(({ image }) => image)
  return fixed.length === 0 ? '' : [...fixed, ...images].join(' ')
}

const isEvictedForStorage = ({ status }: KubernetesPod) =>
  status?.reason === 'Evicted' && /ephemeral[- ]storage|inodes/.test(status.message ?? '')

/** With the deletion of the pods first, if no step ends them yet. */
export function withDeletion(reason: Reason, subject: NodeSubject): Reason {
  const isEnded = reason.steps.some(({ id }) => endings.has(id))
  const deletion = isEnded ? null : podDeletion(reason.cause, subject)
  return deletion ? { ...reason, steps: [deletion, ...reason.steps] } : reason
}

const endings: ReadonlySet<StepActionId> = new Set(['end-pod', 'reboot', 'restart-pod'])

interface PodName {
  namespace: string | null
  pod: string | null
}

export const podOf = (pods: NodeSubject['pods'] | undefined, { namespace, pod }: PodName) =>
  pods?.find(({ metadata }) => metadata?.name === pod && metadata?.namespace === namespace)

/** The kubelet's statistics of the pod. */
export const statsOf = (
  summary: Summary | null | undefined,
  { namespace, pod }: PodName,
): PodSummary | undefined =>
  summary?.pods?.find(({ podRef }) => podRef?.name === pod && podRef?.namespace === namespace)

/** How long after its grace period a pod still ends by itself. */
const mostEndingMs = 600_000

/** Since when the pod should have ended. Null: it was not deleted, may still end by itself, or only a finalizer keeps its object. */
export function endingMs(pod: KubernetesPod | undefined, at = ''): number | null {
  const ms = agoMs(pod?.metadata?.deletionTimestamp ?? null, at)
  const hasEnded = isTerminalPhase(pod?.status?.phase)
  return ms !== null && ms > mostEndingMs && !hasEnded ? ms : null
}

/** What starts the pod again after its deletion. Undefined: unknown. */
export function startsAgain(
  pods: NodeSubject['pods'],
  owner: PodName,
): 'controller' | 'kubelet' | 'nothing' | undefined {
  const pod = podOf(pods, owner)
  if (!pod) return undefined
  const { kind = null } = controllerReferenceOf(pod) ?? {}
  if (kind === null) return 'nothing'
  return kind === 'Node' ? 'kubelet' : 'controller'
}

export const usesKubeletFolder = (pods: NodeSubject['pods'], owner: PodName) =>
  podOf(pods, owner)?.spec?.volumes?.some(({ hostPath }) =>
    hostPath?.path?.startsWith('/var/lib/kubelet'),
  ) === true

/**
 * The container that writes it, and where: in its layer, or where it mounts the volume. Undefined: none runs.
 * @param place of the data on the node. Null: of a layer
 */
export function writingContainer(
  owner: HolderOwner | null,
  pods: NodeSubject['pods'],
  place: string | null,
): StepAction['inside'] {
  if (!owner || owner.kind === 'image' || owner.kind === 'process') return undefined
  const pod = podOf(pods, owner)
  if (pod?.status?.phase !== 'Running') return undefined
  // No command runs in a container that waits, and its root is not mounted.
  const waits = new Set(
    statusesOf(pod).flatMap(({ name, state }) => (state?.waiting ? (name ?? []) : [])),
  )
  if (owner.kind === 'container') {
    const { container } = owner
    // Logs, and volumes that its image declares, are not in its root.
    if (place !== null) return { container, place }
    return waits.has(container)
      ? undefined
      : { container, path: '/', place: rootOf(pod, container) }
  }
  for (const { name: container = '', volumeMounts = [] } of pod.spec?.containers ?? []) {
    const path = volumeMounts.find(({ name }) => name === owner.volume)?.mountPath
    if (path !== undefined && !waits.has(container)) return { container, path, place }
  }
  return undefined
}

const containerdScheme = 'containerd://'

/** Where containerd mounts the root of a container. Source: containerd/containerd core/runtime/v2/bundle.go NewBundle */
function rootOf({ status }: KubernetesPod, container: string) {
  const { containerID = '' } =
    status?.containerStatuses?.find(({ name }) => name === container) ?? {}
  return containerID.startsWith(containerdScheme)
    ? `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${containerID.slice(containerdScheme.length)}/rootfs`
    : null
}
