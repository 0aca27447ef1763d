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
  /** Ids whose stop or removal fails. */
  failures?: {
    stopContainer?: readonly string[]
    removeContainer?: readonly string[]
    stopSandbox?: readonly string[]
  }
}

/** Containers with equal creation times. Upstream keeps some of them, in no defined order. */
interface Tie {
  members: readonly RuntimeContainer[]
  kept: number
}

export interface ContainerGcPass {
  /** In upstream's order. For equal creation times, one of its possible orders. */
  removedContainers: RuntimeContainer[]
  removedSandboxes: RuntimeSandbox[]
  removedPodLogDirs: string[]
  /** Ids of containers and sandboxes that upstream might remove or keep, whether or not the lists above contain them. */
  undecided: ReadonlySet<string>
}

export function garbageCollect(input: ContainerGcInput): ContainerGcPass {
  const containers = evictContainers(input)
  const sandboxes = evictSandboxes(input, containers)
  return {
    removedContainers: containers.removed,
    removedSandboxes: sandboxes.removed,
    removedPodLogDirs: evictPodLogsDirectories(input),
    undecided: new Set([
      ...containers.ties.flatMap(({ members }) => members.map(({ id }) => id)),
      ...sandboxes.undecided,
    ]),
  }
}

/*
 * Dead containers: which of them a pass removes.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictableContainers, evictContainers, enforceMaxContainersPerEvictUnit, removeOldestN
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  created containers are dead too; age counts from creation; a unit is a container name in a pod; a failed removal counts as a removal;
 *               a container of unknown state is stopped first; a unit's share of the total limit is truncated, and is at least 1
 * Left out      Go's sort order of equal times: they are returned as ties
 */

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
    boundary = tiedAtLimit(left, keepNewest(left, policy.maxContainers))
  }
  return { ...removeContainers(chosen, input), ties: tiesOf(evictable, new Set(chosen), boundary) }
}

/** Upstream: byCreated, sandboxByCreated. */
const newestFirst = (a: { createdAtNs: bigint }, b: { createdAtNs: bigint }) =>
  Number(b.createdAtNs - a.createdAtNs)

function evictableContainers({ containers, policy, nowNs }: ContainerGcInput): Unit[] {
  const newestGcTimeNs = nowNs - policy.minAgeNs
  const dead = containers.filter(
    ({ state, createdAtNs }) => state !== 'running' && createdAtNs <= newestGcTimeNs,
  )
  return [...Map.groupBy(dead, unitOf).values()]
}

const unitOf = ({ podUid, name }: RuntimeContainer) => `${podUid}/${name}`

function removeContainers(
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
function tiedAtLimit(all: RuntimeContainer[], kept: RuntimeContainer[]) {
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
const isContentRemovable = ({ podState }: ContainerGcInput, uid: string) =>
  podState(uid) === 'deleted'

/** Whether all dead containers and sandboxes of the pod are removed, with none kept to be read. */
const isRuntimeRemovable = (input: ContainerGcInput, uid: string) =>
  isContentRemovable(input, uid) ||
  (input.evictNonDeletedPods && input.podState(uid) === 'terminated')

/*
 * Log directories of deleted pods.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_gc.go  evictPodLogsDirectories
 *               pkg/kubelet/kuberuntime/helpers.go         parsePodUIDFromLogsDirectory
 * Read at       1.29 to 1.37; alike except for the place of the directories
 * Kept exactly  terminated pods keep their logs, even during eviction
 * Left out      links to deleted logs; directories that cannot be read or removed
 */

/** Returns directory names: `namespace_pod_uid`. */
function evictPodLogsDirectories(input: ContainerGcInput) {
  if (!input.allSourcesReady) return []
  return input.podLogDirs.filter(name =>
    isContentRemovable(input, name.slice(name.lastIndexOf('_') + 1)),
  )
}

/*
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

function evictSandboxes(input: ContainerGcInput, { removed, ties }: EvictedContainers) {
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
