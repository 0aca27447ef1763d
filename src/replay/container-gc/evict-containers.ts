/**
 * Dead containers: which of them a pass removes.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictableContainers, evictContainers, enforceMaxContainersPerEvictUnit, removeOldestN
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  created containers are dead too; age counts from creation; a unit is a container name in a pod; a failed removal counts as a removal;
 *               a container of unknown state is stopped first; a unit's share of the total limit is truncated, and is at least 1
 * Left out      Go's sort order of equal times: they are returned as ties
 */
import type { ContainerGcInput, RuntimeContainer, Tie } from './input.ts'

export interface EvictedContainers {
  removed: RuntimeContainer[]
  stopped: RuntimeContainer[]
  /** Containers whose removal was tried. Even if it failed, their logs are deleted. */
  tried: ReadonlySet<RuntimeContainer>
  ties: Tie[]
}

type Unit = RuntimeContainer[]

export function evictContainers(input: ContainerGcInput): EvictedContainers {
  const { policy, allSourcesReady } = input
  const evictable = evictableContainers(input)
  const chosen: RuntimeContainer[] = []
  // If none is kept, the list keeps its order.
  const keepNewest = (containers: Unit, numToKeep: number): Unit => {
    const sorted = numToKeep > 0 ? containers.toSorted(newestFirst) : containers
    for (const one of sorted.slice(numToKeep).reverse()) chosen.push(one)
    return sorted.slice(0, numToKeep)
  }

  let units = evictable
  if (allSourcesReady) {
    const isGone = ([first]: Unit) => first !== undefined && isRuntimeRemovable(input, first.podUid)
    for (const unit of units.filter(isGone)) keepNewest(unit, 0)
    units = units.filter(unit => !isGone(unit))
  }
  if (policy.maxPerPodContainer >= 0)
    units = units.map(unit => keepNewest(unit, policy.maxPerPodContainer))

  let boundary: RuntimeContainer[] = []
  if (policy.maxContainers >= 0 && units.flat().length > policy.maxContainers) {
    const numPerUnit = Math.max(Math.trunc(policy.maxContainers / units.length), 1)
    const left = units.flatMap(unit => keepNewest(unit, numPerUnit))
    boundary = cutBetween(left, keepNewest(left, policy.maxContainers))
  }
  return { ...removed(chosen, input), ties: tiesOf(evictable, new Set(chosen), boundary) }
}

/** Upstream: byCreated, sandboxByCreated. */
export const newestFirst = (a: { createdAtNs: bigint }, b: { createdAtNs: bigint }): number =>
  Number(b.createdAtNs - a.createdAtNs)

function evictableContainers({ containers, policy, nowNs }: ContainerGcInput): Unit[] {
  const newestGcTimeNs = nowNs - policy.minAgeNs
  const dead = containers.filter(
    ({ state, createdAtNs }) => state !== 'running' && createdAtNs <= newestGcTimeNs,
  )
  return [...Map.groupBy(dead, unitOf).values()]
}

const unitOf = ({ podUid, name }: RuntimeContainer) => `${podUid}/${name}`

function removed(
  chosen: RuntimeContainer[],
  { failures = {} }: ContainerGcInput,
): Omit<EvictedContainers, 'ties'> {
  const { stopContainer = [], removeContainer = [] } = failures
  const stopped = chosen.filter(
    ({ id, state }) => state === 'unknown' && !stopContainer.includes(id),
  )
  const tried = chosen.filter(
    container => container.state !== 'unknown' || stopped.includes(container),
  )
  return {
    removed: tried.filter(({ id }) => !removeContainer.includes(id)),
    stopped,
    tried: new Set(tried),
  }
}

/** Containers of one creation time, only some of which the limit keeps. Empty: it separates two creation times. */
function cutBetween(all: RuntimeContainer[], kept: RuntimeContainer[]) {
  const isAtCut = ({ createdAtNs }: RuntimeContainer) => createdAtNs === kept.at(-1)?.createdAtNs
  const boundary = all.filter(isAtCut)
  return boundary.length > kept.filter(isAtCut).length ? boundary : []
}

/** @param boundary containers of one creation time that the total limit splits, among those left by the unit limits */
function tiesOf(
  units: Unit[],
  chosen: ReadonlySet<RuntimeContainer>,
  boundary: RuntimeContainer[],
): Tie[] {
  const tieOf = (members: RuntimeContainer[]): Tie => ({
    members,
    kept: members.filter(member => !chosen.has(member)).length,
  })
  const moments = units.flatMap(unit => [
    ...Map.groupBy(unit, ({ createdAtNs }) => createdAtNs).values(),
  ])
  // A unit's own limit might have left one of these instead of removing it.
  const isCut = (members: RuntimeContainer[]) => members.some(member => boundary.includes(member))
  const across = moments.filter(isCut).flat()
  const within = moments.filter(members => !isCut(members))
  return [across, ...within]
    .map(tieOf)
    .filter(({ members, kept }) => kept > 0 && kept < members.length)
}

/*
 * What container GC may remove of a pod.
 *
 * Replays       pkg/kubelet/pod_workers.go  ShouldPodContentBeRemoved, ShouldPodRuntimeBeRemoved
 * Read at       1.29 to 1.37; alike in all
 */

/** Whether log directories may be removed, like containers and sandboxes. Upstream: ShouldPodContentBeRemoved. */
export const isContentRemovable = ({ podState }: ContainerGcInput, uid: string): boolean =>
  podState(uid) === 'deleted'

/** Whether all dead containers and sandboxes of the pod are removed, with none kept to be read. */
export const isRuntimeRemovable = (input: ContainerGcInput, uid: string): boolean =>
  isContentRemovable(input, uid) ||
  (input.evictNonDeletedPods && input.podState(uid) === 'terminated')
