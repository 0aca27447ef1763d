/**
 * Links to logs of containers: which of them container GC removes. No rule reads them.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictPodLogsDirectories
 *               pkg/kubelet/kuberuntime/legacy.go          getContainerIDFromLegacyLogSymlink
 *               pkg/kubelet/kuberuntime/kuberuntime_container.go  removeContainerLog: also removes the container's link
 * Read at       1.29 to 1.37
 * Kept exactly  links do not wait for sources; a link stays if its container is not dead, but not if it names no container
 * Left out      links that cannot be read or removed; ids truncated in a link's name
 */
import type { ContainerGcInput, EvictedContainers } from '#replay/container-gc/garbage-collect.ts'

export interface LogLink {
  path: string
  /** The link's target does not exist. */
  isDangling: boolean
}

export function evictLogLinks(
  { containers }: ContainerGcInput,
  { removed, tried }: EvictedContainers,
  logLinks: readonly LogLink[],
): string[] {
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
