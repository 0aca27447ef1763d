/**
 * One pass over dead containers, sandboxes and log directories.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  GarbageCollect
 *               pkg/kubelet/container/container_gc.go      GCPolicy
 *               pkg/kubelet/pod_workers.go                 ShouldPodContentBeRemoved, ShouldPodRuntimeBeRemoved
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  containers, then sandboxes, then log directories, each from what the last step left
 * Left out      removals when a container dies: pkg/kubelet/pod_container_deletor.go
 */

import { evictContainers } from './evict-containers.ts'
import { evictLogLinks, evictPodLogsDirectories } from './evict-logs.ts'
import { evictSandboxes } from './evict-sandboxes.ts'
import type { ContainerGcInput, RuntimeContainer, RuntimeSandbox } from './input.ts'

export interface ContainerGcPass {
  /** In upstream's order. For equal creation times, one of its possible orders. */
  removedContainers: RuntimeContainer[]
  stoppedContainers: RuntimeContainer[]
  removedSandboxes: RuntimeSandbox[]
  removedPodLogDirs: string[]
  removedLogLinks: string[]
  /** Ids of containers and sandboxes that upstream might remove or keep, whether or not the lists above contain them. */
  undecided: ReadonlySet<string>
}

export function garbageCollect(input: ContainerGcInput): ContainerGcPass {
  const containers = evictContainers(input)
  const sandboxes = evictSandboxes(input, containers)
  return {
    removedContainers: containers.removed,
    stoppedContainers: containers.stopped,
    removedSandboxes: sandboxes.removed,
    removedPodLogDirs: evictPodLogsDirectories(input),
    removedLogLinks: evictLogLinks(input, containers),
    undecided: new Set([
      ...containers.ties.flatMap(({ members }) => members.map(({ id }) => id)),
      ...sandboxes.undecided,
    ]),
  }
}
