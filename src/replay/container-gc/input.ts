export interface LogLink {
  path: string
  /** The link's target does not exist. */
  isDangling: boolean
}

export interface ContainerGcPolicy {
  /** Minimum time since the container's creation, whenever it ended. */
  minAgeNs: bigint
  /** Maximum number of dead containers of one name in one pod; negative: no limit. */
  maxPerPodContainer: number
  /** Maximum number of dead containers in total; negative: no limit. */
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

/** `deleted` includes evicted pods, and pods that the kubelet does not know. */
export type PodState = 'running' | 'terminated' | 'deleted'

export interface ContainerGcInput {
  policy: ContainerGcPolicy
  nowNs: bigint
  /** Whether the kubelet has seen the pods of all its sources. */
  allSourcesReady: boolean
  /** Set by eviction: containers of terminated pods are removed like those of deleted pods. */
  evictNonDeletedPods: boolean
  podState: (uid: string) => PodState
  /** In the runtime's order. It only decides the order of removals, unless times are equal. */
  containers: readonly RuntimeContainer[]
  sandboxes: readonly RuntimeSandbox[]
  podLogDirs: readonly string[]
  logLinks: readonly LogLink[]
  /** Ids whose stop or removal fails. */
  failures?: {
    stopContainer?: readonly string[]
    removeContainer?: readonly string[]
    stopSandbox?: readonly string[]
  }
}

/** Containers with equal creation times. Upstream keeps some of them, in no defined order. */
export interface Tie {
  members: readonly RuntimeContainer[]
  kept: number
}
