/**
 * Dead sandboxes: which of them a pass removes.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictSandboxes, removeOldestNSandboxes, removeSandbox
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  ready sandboxes and those with containers left stay, yet count as the newest, which a pod keeps; age and number do not
 *               count; sandboxes are removed even if sources are not ready; one that cannot be stopped is not removed
 * Left out      Go's sort order of equal times: they are returned as undecided
 */

import { type EvictedContainers, newestFirst } from './evict-containers.ts'
import type { ContainerGcInput, RuntimeContainer, RuntimeSandbox, Tie } from './input.ts'
import { isRuntimeRemovable } from './pod-state.ts'

interface EvictedSandboxes {
  removed: RuntimeSandbox[]
  undecided: string[]
}

export function evictSandboxes(
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
function removeOldest(
  sandboxes: RuntimeSandbox[],
  numToKeep: 0 | 1,
): { old: RuntimeSandbox[]; tied: RuntimeSandbox[] } {
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
