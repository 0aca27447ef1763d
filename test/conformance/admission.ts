/**
 * Whether a node under pressure admits a new pod.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  Admit;  pkg/kubelet/kubelet.go rejectPod;
 *               k8s.io/api/core/v1/toleration.go  ToleratesTaint
 * Read at       1.29 to 1.37
 * Kept exactly  tolerations count only under memory pressure alone; with any other condition, every pod that is not critical is refused
 * Left out      the order of conditions in the message: a map's upstream, sorted here; the operators Gt and Lt, which no taint without value meets
 */
import type { KubernetesPod, PodSpec } from '#model/input/record.ts'
import type { NodeCondition } from '#model/prediction.ts'
import { isCriticalPod, parsePod, podQosClass } from '#replay/pods.ts'
import type { Kubelet } from '#replay/times.ts'

type Toleration = NonNullable<PodSpec['tolerations']>[number]

export type Admission =
  | { isAdmitted: true }
  | { isAdmitted: false; reason: 'Evicted'; message: string }

/** @param conditions those of the eviction manager; other node conditions do not count */
export function admit(
  manifest: KubernetesPod,
  conditions: readonly NodeCondition[],
  kubelet: Kubelet,
): Admission {
  const pod = parsePod(manifest)
  if (pod === null) throw new Error('the pod has no name')
  if (conditions.length === 0 || isCriticalPod(pod)) return { isAdmitted: true }
  if (conditions.length === 1 && conditions[0] === 'MemoryPressure') {
    const tolerations = manifest.spec?.tolerations ?? []
    if (podQosClass(pod, kubelet) !== 'BestEffort' || tolerations.some(toleratesMemoryPressure))
      return { isAdmitted: true }
  }
  return {
    isAdmitted: false,
    reason: 'Evicted',
    message: `Pod was rejected: The node had condition: [${conditions.join(' ')}]. `,
  }
}

function toleratesMemoryPressure({ key = '', operator = '', value = '', effect = '' }: Toleration) {
  if (effect !== '' && effect !== 'NoSchedule') return false
  if (key !== '' && key !== 'node.kubernetes.io/memory-pressure') return false
  return operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === '')
}
