/** What a drain of a node costs. */

import { podName, shortPodName } from '#judge/text.ts'
import type { StepAction } from '#model/finding.ts'
import {
  controllerOf,
  controllerReferenceOf,
  type KubernetesPod,
  type PodSummary,
  parseWorkload,
  type Summary,
} from '#model/input/record.ts'
import { type HolderOwner, type PodHolder, podOwner } from '#model/prediction.ts'

/** Pods that a step names at most. */
export const mostLosses = 20

/** A drain leaves its pods where they are. */
export const isOfDaemonSet = (owner: HolderOwner | null) =>
  owner !== null &&
  'workload' in owner &&
  owner.workload !== null &&
  parseWorkload(owner.workload).kind === 'DaemonSet'

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

export interface LargestUser {
  /** The pod, or the largest of the owner's pods. */
  owner: PodHolder
  amount: number
  pods: number
}

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
function largestUsers(
  { summary, pods }: MeasuredPods,
  amountOf: (pod: PodSummary) => number,
): LargestUser[] {
  const listed = new Map(pods?.map(pod => [podName(pod.metadata), pod]))
  return (summary?.pods ?? [])
    .flatMap((stats): LargestUser[] => {
      const pod = listed.get(podName(stats.podRef))
      const amount = amountOf(stats)
      if (!pod || !(amount > 0)) return []
      return [{ owner: podOwner(pod, null), amount, pods: 1 }]
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
