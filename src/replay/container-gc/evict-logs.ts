/**
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

import type { EvictedContainers } from './evict-containers.ts'
import type { ContainerGcInput, LogLink } from './input.ts'
import { isContentRemovable } from './pod-state.ts'

/** Returns directory names: `namespace_pod_uid`. */
export function evictPodLogsDirectories(input: ContainerGcInput): string[] {
  if (!input.allSourcesReady) return []
  return input.podLogDirs.filter(name =>
    isContentRemovable(input, name.slice(name.lastIndexOf('_') + 1)),
  )
}

export function evictLogLinks(
  { containers, logLinks }: ContainerGcInput,
  { removed, tried }: EvictedContainers,
): string[] {
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
function containerIdOf(path: string): string | null {
  const last = path.slice(path.lastIndexOf('-') + 1)
  const id = last.endsWith('.log') ? last.slice(0, -'.log'.length) : ''
  return id.length < shortestId ? null : id
}
