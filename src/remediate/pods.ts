import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'
import type { NodeInput } from '#model/input/node-input.ts'

/** `namespace/name` */
export const podName = ({ metadata }: KubernetesPod): string =>
  `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`

export const isActive = ({ status }: KubernetesPod): boolean => !isTerminalPhase(status?.phase)

export const readyConditionOf = ({ status }: KubernetesPod) =>
  (status?.conditions ?? []).find(({ type }) => type === 'Ready')

export const isReady = (pod: KubernetesPod): boolean => readyConditionOf(pod)?.status === 'True'

/** `namespace/name` of the node's ready pods, sorted; null: its pods were not read. */
export const readyPodsOf = ({ pods }: NodeInput): string[] | null =>
  Array.isArray(pods)
    ? pods
        .filter(pod => isActive(pod) && isReady(pod))
        .map(podName)
        .sort()
    : null
