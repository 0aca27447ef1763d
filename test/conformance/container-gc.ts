import { parseDuration } from '#base/go/duration.ts'
import {
  type ContainerGcInput,
  evictContainers,
  garbageCollect,
  type PodState,
  type RuntimeContainer,
} from '#replay/container-gc/garbage-collect.ts'
import type { Family } from './family.ts'
import { evictLogLinks } from './log-links.ts'

interface Input {
  policy: {
    minimumContainerTTLDuration: string
    maximumDeadContainersPerContainer: number
    maximumDeadContainers: number
  }
  allSourcesReady: boolean
  evictNonDeletedPods: boolean
  pods: { uid: string; name: string; state: PodState }[] | null
  containers:
    | {
        id: string
        podUID: string
        name: string
        sandbox: string
        state: RuntimeContainer['state']
        ageMs: number
      }[]
    | null
  sandboxes: { id: string; podUID: string; ready: boolean; ageMs: number }[] | null
  podLogDirs?: string[]
  logLinks?: { path: string; dangling: boolean }[]
  stopErrors?: string[]
  removeErrors?: string[]
  sandboxStopErrors?: string[]
}

const nowNs = 1_750_000_000_000_000_000n

const created = (ageMs: number): bigint => nowNs - BigInt(ageMs) * 1_000_000n

export const containerGc: Family<Input> = {
  name: 'container-gc',
  answer(input) {
    const states = new Map((input.pods ?? []).map(({ uid, state }) => [uid, state]))
    const { stopErrors = [], removeErrors = [], sandboxStopErrors = [] } = input
    const given: ContainerGcInput = {
      policy: {
        minAgeNs: parseDuration(input.policy.minimumContainerTTLDuration),
        maxPerPodContainer: input.policy.maximumDeadContainersPerContainer,
        maxContainers: input.policy.maximumDeadContainers,
      },
      nowNs,
      allSourcesReady: input.allSourcesReady,
      evictNonDeletedPods: input.evictNonDeletedPods,
      podState: uid => states.get(uid) ?? 'deleted',
      containers: (input.containers ?? []).map(({ id, podUID, name, sandbox, state, ageMs }) => ({
        id,
        podUid: podUID,
        name,
        sandboxId: sandbox,
        state,
        createdAtNs: created(ageMs),
      })),
      sandboxes: (input.sandboxes ?? []).map(({ id, podUID, ready, ageMs }) => ({
        id,
        podUid: podUID,
        isReady: ready,
        createdAtNs: created(ageMs),
      })),
      podLogDirs: input.podLogDirs ?? [],
      failures: {
        stopContainer: stopErrors,
        removeContainer: removeErrors,
        stopSandbox: sandboxStopErrors,
      },
    }
    const pass = garbageCollect(given)
    const evicted = evictContainers(given)
    const links = (input.logLinks ?? []).map(({ path, dangling }) => ({
      path,
      isDangling: dangling,
    }))
    return {
      error: null,
      removedContainers: idsOf(pass.removedContainers).sort(),
      stoppedContainers: idsOf(evicted.stopped).sort(),
      removedSandboxes: idsOf(pass.removedSandboxes).sort(),
      removedPodLogDirs: pass.removedPodLogDirs.toSorted(),
      removedLogLinks: evictLogLinks(given, evicted, links).sort(),
      removedContainersByUnit: idsBy(
        pass.removedContainers,
        ({ podUid, name }) => `${podUid}/${name}`,
      ),
      removedSandboxesByPod: idsBy(pass.removedSandboxes, ({ podUid }) => podUid),
    }
  },
}

const idsOf = (removed: { id: string }[]): string[] => removed.map(({ id }) => id)

const idsBy = <Removed extends { id: string }>(
  removed: Removed[],
  keyOf: (removed: Removed) => string,
): Record<string, string[]> =>
  Object.fromEntries([...Map.groupBy(removed, keyOf)].map(([key, group]) => [key, idsOf(group)]))
