/**
 * What may go with a pod.
 *
 * Replays       pkg/kubelet/pod_workers.go  ShouldPodContentBeRemoved, ShouldPodRuntimeBeRemoved
 * Read at       1.24 to 1.37; alike in all
 */
import type { ContainerGcInput } from './input.ts'

/** Log directories go with the content, containers and sandboxes too. Upstream: ShouldPodContentBeRemoved. */
export const isContentRemovable = ({ podState }: ContainerGcInput, uid: string): boolean =>
  podState(uid) === 'deleted'

/** Whether everything dead of the pod goes, and nothing is kept to be read. */
export const isRuntimeRemovable = (input: ContainerGcInput, uid: string): boolean =>
  isContentRemovable(input, uid) ||
  (input.evictNonDeletedPods && input.podState(uid) === 'terminated')
