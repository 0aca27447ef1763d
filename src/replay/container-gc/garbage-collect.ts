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
import { evictLogLinks, evictPodLogsDirectories, type LogLink } from './evict-logs.ts'
import { evictSandboxes } from './evict-sandboxes.ts'

export interface ContainerGcPolicy {
  /** Since a container was created, whenever it ended. */
  minAgeNs: bigint
  /** Dead containers of one name in one pod; negative: no limit. */
  maxPerPodContainer: number
  /** Dead containers in all; negative: no limit. */
  maxContainers: number
}

export interface RuntimeContainer {
  id: string
  podUid: string
  name: string
  sandboxId: string
  state: 'created' | 'running' | 'exited' | 'unknown'
  createdAtNs: bigint
}

export interface RuntimeSandbox {
  id: string
  podUid: string
  isReady: boolean
  createdAtNs: bigint
}

/** `deleted`: evicted ones too. A pod that nobody knows is deleted. */
export type PodState = 'running' | 'terminated' | 'deleted'

export interface ContainerGcInput {
  policy: ContainerGcPolicy
  nowNs: bigint
  /** Whether the kubelet has seen the pods of all its sources. */
  allSourcesReady: boolean
  /** What eviction asks for: terminated pods go as deleted ones do. */
  evictNonDeletedPods: boolean
  podState: (uid: string) => PodState
  /** In the runtime's order, which decides nothing but the order of removals, unless times are equal. */
  containers: readonly RuntimeContainer[]
  sandboxes: readonly RuntimeSandbox[]
  podLogDirs: readonly string[]
  logLinks: readonly LogLink[]
  /** Ids that cannot be stopped, or removed. */
  failures?: {
    stopContainer?: readonly string[]
    removeContainer?: readonly string[]
    stopSandbox?: readonly string[]
  }
}

/** Containers of which upstream keeps some, and any: they were created at the same moment. */
export interface Tie {
  members: readonly RuntimeContainer[]
  kept: number
}

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
