/**
 * What container GC may remove of a pod.
 *
 * Replays       pkg/kubelet/pod_workers.go  ShouldPodContentBeRemoved, ShouldPodRuntimeBeRemoved
 * Read at       1.29 to 1.37; alike in all
 */
import type { ContainerGcInput } from './input.ts'

/** Whether log directories may be removed, like containers and sandboxes. Upstream: ShouldPodContentBeRemoved. */
export const isContentRemovable = ({ podState }: ContainerGcInput, uid: string): boolean =>
  podState(uid) === 'deleted'

/** Whether all dead containers and sandboxes of the pod are removed, with none kept to be read. */
export const isRuntimeRemovable = (input: ContainerGcInput, uid: string): boolean =>
  isContentRemovable(input, uid) ||
  (input.evictNonDeletedPods && input.podState(uid) === 'terminated')
