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

import {
  type EvictedContainers,
  evictContainers,
  isContentRemovable,
  isRuntimeRemovable,
  newestFirst,
} from './evict-containers.ts'
import type { ContainerGcInput, LogLink, RuntimeContainer, RuntimeSandbox, Tie } from './input.ts'

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

/*
 * Log directories of deleted pods, and links to deleted logs.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictPodLogsDirectories
 *               pkg/kubelet/kuberuntime/helpers.go         parsePodUIDFromLogsDirectory
 *               pkg/kubelet/kuberuntime/legacy.go          getContainerIDFromLegacyLogSymlink
 *               pkg/kubelet/kuberuntime/kuberuntime_container.go  removeContainerLog: also removes the container's link
 * Read at       1.29 to 1.37; alike except for the place of the directories
 * Kept exactly  terminated pods keep their logs, even during eviction; links do not wait for sources; a link stays if its container is not dead,
 *               but not if it names no container
 * Left out      directories and links that cannot be read or removed; ids truncated in a link's name
 */

/** Returns directory names: `namespace_pod_uid`. */
function evictPodLogsDirectories(input: ContainerGcInput) {
  if (!input.allSourcesReady) return []
  return input.podLogDirs.filter(name =>
    isContentRemovable(input, name.slice(name.lastIndexOf('_') + 1)),
  )
}

function evictLogLinks(
  { containers, logLinks }: ContainerGcInput,
  { removed, tried }: EvictedContainers,
) {
  if (logLinks.length === 0) return []
  const gone = new Set(removed)
  const states = new Map(
    containers.filter(container => !gone.has(container)).map(({ id, state }) => [id, state]),
  )
  const unlinked = new Set([...tried].map(({ id }) => id))
  const isDead = (id: string) => (states.get(id) ?? 'exited') === 'exited'
  const isRemoved = ({ path, isDangling }: LogLink) => {
    const id = containerIdOf(path)
    return id !== null && unlinked.has(id) ? true : isDangling && (id === null || isDead(id))
  }
  return logLinks.filter(isRemoved).map(({ path }) => path)
}

const shortestId = 6

/** Null: the path has no container id to request from the runtime. */
function containerIdOf(path: string) {
  const last = path.slice(path.lastIndexOf('-') + 1)
  const id = last.endsWith('.log') ? last.slice(0, -'.log'.length) : ''
  return id.length < shortestId ? null : id
}

/**
 * Dead sandboxes: which of them a pass removes.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictSandboxes, removeOldestNSandboxes, removeSandbox
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  ready sandboxes and those with containers left stay, yet count as the newest, which a pod keeps; age and number do not
 *               count; sandboxes are removed even if sources are not ready; one that cannot be stopped is not removed
 * Left out      Go's sort order of equal times: they are returned as undecided
 */
interface EvictedSandboxes {
  removed: RuntimeSandbox[]
  undecided: string[]
}

function evictSandboxes(
  input: ContainerGcInput,
  { removed, ties }: EvictedContainers,
): EvictedSandboxes {
  const gone = new Set(removed)
  const left = input.containers.filter(container => !gone.has(container))
  const inUse = new Set(left.map(({ sandboxId }) => sandboxId))
  const unsure = sandboxesInUsePerhaps(left, ties)

  const evicted: EvictedSandboxes = { removed: [], undecided: [] }
  for (const [podUid, sandboxes] of Map.groupBy(input.sandboxes, sandbox => sandbox.podUid)) {
    const { old, tied } = removeOldest(sandboxes, isRuntimeRemovable(input, podUid) ? 0 : 1)
    const isDead = ({ id, isReady }: RuntimeSandbox) =>
      !isReady && (!inUse.has(id) || unsure.has(id))
    evicted.undecided.push(
      ...[...old.filter(({ id }) => unsure.has(id)), ...tied].filter(isDead).map(({ id }) => id),
    )
    const { stopSandbox = [] } = input.failures ?? {}
    evicted.removed.push(
      ...old.filter(({ id, isReady }) => !isReady && !inUse.has(id) && !stopSandbox.includes(id)),
    )
  }
  return evicted
}

/** `old`: all but the newest, oldest first. `tied`: several share the newest time. If none is kept, upstream does not sort. */
function removeOldest(sandboxes: RuntimeSandbox[], numToKeep: 0 | 1) {
  if (numToKeep === 0) return { old: sandboxes.toReversed(), tied: [] }
  const [newest, ...old] = sandboxes.toSorted(newestFirst)
  const tied = sandboxes.filter(({ createdAtNs }) => createdAtNs === newest?.createdAtNs)
  return { old: old.reverse(), tied: tied.length > 1 ? tied : [] }
}

/** Sandboxes whose containers might all be removed: ties decide, and no container certainly stays. */
function sandboxesInUsePerhaps(left: RuntimeContainer[], ties: Tie[]): ReadonlySet<string> {
  const tied = new Set(ties.flatMap(({ members }) => members))
  const inUse = new Set(
    left.filter(container => !tied.has(container)).map(({ sandboxId }) => sandboxId),
  )
  const isInUse = (id: string) =>
    inUse.has(id) ||
    ties.some(
      ({ members, kept }) => members.filter(({ sandboxId }) => sandboxId !== id).length < kept,
    )
  return new Set([...tied].map(({ sandboxId }) => sandboxId).filter(id => !isInUse(id)))
}
