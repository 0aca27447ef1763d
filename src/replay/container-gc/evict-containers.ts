/**
 * Dead containers: which of them a pass removes.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictableContainers, evictContainers, enforceMaxContainersPerEvictUnit, removeOldestN
 * Read at       1.24 to 1.37; alike in all
 * Kept exactly  created containers are dead too; the age counts from creation; a unit is a name in a pod; what could not be removed counts as removed;
 *               one of unknown state is stopped first; the share of a unit in all is cut to a whole number, and is at least 1
 * Left out      the order that Go's sort gives equal times: they are returned as ties
 */
import type { ContainerGcInput, RuntimeContainer, Tie } from './input.ts'
import { isRuntimeRemovable } from './pod-state.ts'

export interface EvictedContainers {
  removed: RuntimeContainer[]
  stopped: RuntimeContainer[]
  /** Removed or not: the logs of these are gone. */
  tried: ReadonlySet<RuntimeContainer>
  ties: Tie[]
}

type Unit = RuntimeContainer[]

export function evictContainers(input: ContainerGcInput): EvictedContainers {
  const { policy, allSourcesReady } = input
  const evictable = evictableContainers(input)
  const chosen: RuntimeContainer[] = []
  // With nothing to keep, the order of the list stays.
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

const unitOf = ({ podUid, name }: RuntimeContainer): string => `${podUid}/${name}`

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

/** Containers created at one moment that the limit splits. Empty: the limit lies between two moments. */
function cutBetween(all: RuntimeContainer[], kept: RuntimeContainer[]): RuntimeContainer[] {
  const isAtCut = ({ createdAtNs }: RuntimeContainer) => createdAtNs === kept.at(-1)?.createdAtNs
  const boundary = all.filter(isAtCut)
  return boundary.length > kept.filter(isAtCut).length ? boundary : []
}

/** @param boundary those between which the limit in all cuts, as far as the limits of units had left them */
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
  // What a unit's own limit took at that moment could as well have been what it left.
  const isCut = (members: RuntimeContainer[]) => members.some(member => boundary.includes(member))
  const across = moments.filter(isCut).flat()
  const within = moments.filter(members => !isCut(members))
  return [across, ...within]
    .map(tieOf)
    .filter(({ members, kept }) => kept > 0 && kept < members.length)
}
