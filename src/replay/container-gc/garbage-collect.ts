/**
 * One pass over dead containers, sandboxes and log directories.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  GarbageCollect
 *               pkg/kubelet/container/container_gc.go      GCPolicy
 *               pkg/kubelet/pod_workers.go                 ShouldPodContentBeRemoved, ShouldPodRuntimeBeRemoved
 * Read at       1.24 to 1.37; alike in all
 * Kept exactly  containers, then sandboxes, then log directories, each by what the step before left
 * Left out      what upstream also does when a container dies: pkg/kubelet/pod_container_deletor.go
 */

import { evictContainers } from './evict-containers.ts'
import { evictLogLinks, evictPodLogsDirectories } from './evict-logs.ts'
import { evictSandboxes } from './evict-sandboxes.ts'
import type { ContainerGcInput, RuntimeContainer, RuntimeSandbox } from './input.ts'

export interface ContainerGcPass {
  /** In upstream's order; among equals this is one of its orders. */
  removedContainers: RuntimeContainer[]
  stoppedContainers: RuntimeContainer[]
  removedSandboxes: RuntimeSandbox[]
  removedPodLogDirs: string[]
  removedLogLinks: string[]
  /** Of containers and sandboxes those that upstream removes or keeps as it happens, whether they are above or not. */
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
