/** What a drain of a node costs. */

import { podName, shortPodName } from '#judge/text.ts'
import type { StepAction } from '#model/finding/cause.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'
import type { PodSummary, Summary } from '#model/input/node-input.ts'
import { controllerOf } from '#model/input/pod-controller.ts'
import type { HolderOwner } from '#model/prediction/disk-ledger.ts'

/** Pods that a step names at most. */
export const mostLosses = 20

/** A drain leaves its pods where they are. */
export const isOfDaemonSet = (owner: HolderOwner | null): boolean =>
  owner !== null && 'workload' in owner && owner.workload?.startsWith('DaemonSet ') === true

/** kubectl leaves the pods of DaemonSets and mirror pods where they are. */
export function drainStep({ pods }: { pods: readonly KubernetesPod[] | null }): StepAction {
  if (pods === null) return { id: 'drain' }
  const moved = pods.filter(
    ({ metadata, status }) =>
      !metadata?.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node') &&
      status?.phase !== 'Succeeded' &&
      status?.phase !== 'Failed',
  )
  const hasData = ({ spec }: KubernetesPod) =>
    spec?.volumes?.some(({ emptyDir }) => emptyDir && emptyDir.medium !== 'Memory') === true
  const names = (some: KubernetesPod[]) => some.map(({ metadata }) => shortPodName(metadata))
  return {
    id: 'drain',
    lost: {
      pods: names(moved.filter(pod => controllerOf(pod) === null)).slice(0, mostLosses),
      data: names(moved.filter(hasData)).slice(0, mostLosses),
    },
  }
}

/* The pod that uses most of something that the kubelet's statistics count. */

export interface LargestPod {
  owner: Extract<HolderOwner, { kind: 'pod' }>
  amount: number
}

interface MeasuredPods {
  summary: Summary | null
  pods: readonly KubernetesPod[] | null
}

/** Null: no pod that the API lists for the node uses any, or statistics were not read. */
export function largestPod(
  { summary, pods }: MeasuredPods,
  amountOf: (pod: PodSummary) => number,
): LargestPod | null {
  const listed = new Map(pods?.map(pod => [podName(pod.metadata), pod]))
  const [first] = (summary?.pods ?? [])
    .flatMap(stats => {
      const pod = listed.get(podName(stats.podRef))
      return pod === undefined ? [] : [{ pod, amount: amountOf(stats) }]
    })
    .toSorted((a, b) => b.amount - a.amount)
  if (first === undefined || !(first.amount > 0)) return null
  const { namespace = '', name = '' } = first.pod.metadata ?? {}
  return {
    owner: { kind: 'pod', namespace, pod: name, workload: controllerOf(first.pod), volume: null },
    amount: first.amount,
  }
}

/** Whether all pods that run have statistics. */
export function areMeasured({ summary, pods }: MeasuredPods): boolean {
  const measured = new Set(summary?.pods?.map(({ podRef }) => podName(podRef)))
  return (
    pods?.every(pod => pod.status?.phase !== 'Running' || measured.has(podName(pod.metadata))) ===
    true
  )
}
