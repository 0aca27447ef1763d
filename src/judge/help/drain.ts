/** What a drain of a node costs. */
import { bounded, nameLength } from '#judge/text.ts'
import type { StepAction } from '#model/finding/cause.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'
import { controllerOf } from '#model/input/pod-controller.ts'

/** Pods that a step names at most. */
export const mostLosses = 20

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
  const names = (some: KubernetesPod[]) =>
    some.map(({ metadata }) =>
      bounded(`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`, nameLength),
    )
  return {
    id: 'drain',
    lost: {
      pods: names(moved.filter(pod => controllerOf(pod) === null)).slice(0, mostLosses),
      data: names(moved.filter(hasData)).slice(0, mostLosses),
    },
  }
}
