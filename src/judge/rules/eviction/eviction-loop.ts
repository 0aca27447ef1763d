import { amountOrNull } from '#base/go/quantity.ts'
import { by } from '#base/text/text-order.ts'
import { hourMs } from '#base/units.ts'
import { type EvictionCause, evictionCause, exceededLimit } from '#facts/kubelet/event-messages.ts'
import { eventTimes, timesOf, unreadEvents } from '#judge/events/events.ts'
import {
  allEvictions,
  type Eviction,
  largestEvicted,
  lastingOwners,
  leastWritten,
  likelyOwner,
  manyEvictions,
  nextVictims,
  recordedEvictions,
  taintOf,
  toleratedByOwner,
} from '#judge/events/evictions.ts'
import {
  bytes,
  contextRule,
  type Failing,
  line,
  lines,
  type NodeEvent,
  nameLength,
  plural,
  seenFirst,
  settingIn,
  shorten,
  worldCause,
} from '#judge/rule.ts'

/** Evictions that make a loop if the replacement pod comes straight back to this node. */
const manyWithReturn = 2
const ownersShown = 5
const containersShown = 3
interface LoopFact {
  evicted: Eviction[]
  owners: string[]
  tolerated: Record<string, string[]>
  /** By resource: owners of the pods that the replay evicts first. Null: no known owner. */
  nextVictims: Record<string, readonly (string | null)[]>
  /** The container that wrote most until its pod was evicted. */
  writer: ReturnType<typeof largestEvicted>
}

export const evictionLoop = contextRule({
  id: 'eviction-loop',
  family: 'eviction',
  severity: 'high',
  cause: worldCause('pods-evicted'),
  steps: ['set-ephemeral-storage'],
  needs: ['pods'],
  title: 'Pods of one owner are evicted from this node again and again',
  why: 'The owner replaces what the kubelet evicts, and the replacement fills the node again. Pods that tolerate the pressure taints, as those of every DaemonSet do, come straight back to the same node; while the pressure lasts, the kubelet refuses them at admission, which counts as evicted, too.',
  fix: 'Give its containers requests and limits of ephemeral-storage (or memory) that cover what they use, and its emptyDir volumes a sizeLimit. Drop tolerations of node.kubernetes.io/disk-pressure, memory-pressure and pid-pressure, and those with operator Exists and no key; a DaemonSet gets them whatever its template says.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go synchronize, evictPod, Admit',
    'pkg/controller/daemon/util/daemonset_util.go AddOrUpdateDaemonPodTolerations',
    'kubernetes#122779',
  ],

  fact: ({ pods, eviction, at, node }): LoopFact => ({
    evicted: recordedEvictions(pods, at),
    owners: lastingOwners(pods, ({ status }) => status?.reason === 'Evicted'),
    tolerated: toleratedByOwner(pods),
    nextVictims: nextVictims(eviction, pods),
    writer: largestEvicted(
      'ephemeral-storage',
      pods,
      at,
      leastWritten *
        (amountOrNull(node.status?.capacity?.['ephemeral-storage']) ?? Number.POSITIVE_INFINITY),
      hourMs,
    ),
  }),

  *judge(fact, { events, at, why, failed }) {
    yield* loopsOf(fact, events, at)
    // Evicted pods of most owners are deleted, so only events show these evictions.
    if (events === null) yield { unknown: why('events') }
    else yield* unreadEvents({ failed })
  },

  judgeUnread: ({ events, at }) =>
    loopsOf({ evicted: [], owners: [], tolerated: {}, nextVictims: {}, writer: null }, events, at),
})

function loopsOf(fact: LoopFact, events: readonly NodeEvent[] | null, at: string): Failing[] {
  // local-storage-limit-exceeded has those over a limit of their own.
  const evictions = allEvictions(fact.evicted, events, at).filter(
    ({ message }) => exceededLimit(message) === null,
  )
  const byOwner = Map.groupBy(evictions, eviction => likelyOwner(eviction, fact.owners).name)
  return [...byOwner.values()]
    .flatMap(own => loopOf(own, fact, at) ?? [])
    .toSorted(
      by(
        ({ count }) => -count,
        ({ failing }) => failing.consequence,
      ),
    )
    .slice(0, ownersShown)
    .map(({ failing }) => failing)
}

function loopOf(
  own: Eviction[],
  { owners, tolerated, nextVictims, writer }: LoopFact,
  at: string,
): { count: number; failing: Failing } | null {
  const latest = own.at(-1)
  if (latest === undefined) return null
  const owner = likelyOwner(latest, owners)
  const evictions = own.map(({ message }) => evictionCause(message))
  const resource = evictions.findLast(one => one.resource !== null)?.resource ?? null
  const refused = evictions.filter(({ isRefused }) => isRefused).length
  const taint = taintOf(resource)
  const returns =
    taint !== null && owner.key !== null && tolerated[owner.key]?.includes(taint) === true
  if (own.length < (returns ? manyWithReturn : manyEvictions)) return null
  const times = eventTimes(
    own.map(({ time }) => ({ count: 1, firstTime: time, lastTime: time })),
    at,
  )
  const next = (resource === null ? null : nextVictims[resource]) ?? []
  const isNext = next.length > 0 && next.every(victim => victim !== null && victim === owner.key)
  const isWriter = own.some(
    ({ namespace, name }) => writer?.owner.namespace === namespace && writer.owner.pod === name,
  )
  return {
    count: own.length,
    failing: {
      ...(writer !== null &&
        isWriter && {
          cause: settingIn('workload', 'resources.requests.ephemeral-storage'),
          steps: [{ id: 'move-to-volume' as const, ...writer }],
        }),
      confidence: owner.isKnown ? 'certain' : 'likely',
      ...seenFirst(
        `${owner.name}: ${plural(own.length, 'pod')} evicted here within an hour${refused > 0 ? `, ${refused} of them refused at admission` : ''}${resource === null ? '' : `, for ${resource}`}${writer !== null && isWriter ? `; container ${shorten(writer.owner.container, nameLength)} used ${bytes(writer.bytes)} of the disk` : ''}.`,
        [
          returns
            ? `Its pods tolerate ${taint}: each replacement comes straight back to this node.`
            : 'What replaces them comes back and goes again.',
          isNext ? ' By replay the next to go is of the same owner.' : '',
        ].join(''),
      ),
      evidence: lines(
        line(
          'event',
          `evictions of ${owner.name}${owner.isKnown ? '' : ' (by name)'}`,
          timesOf(times),
        ),
        ...messageLines(evictions),
        line('event', 'the kubelet said last', latest.message === '' ? 'nothing' : latest.message),
        returns && line('node', 'tolerated taint', taint),
        next.length > 0 &&
          line(
            'computed',
            `next to go under ${resource} by replay`,
            isNext ? 'a pod of the same owner' : 'a pod of another',
          ),
      ),
    },
  }
}

function messageLines(evictions: readonly EvictionCause[]) {
  const resource = evictions.findLast(one => one.resource !== null)?.resource ?? null
  const figures = evictions.findLast(({ threshold }) => threshold !== null)?.threshold
  const using = evictions.findLast(({ containers }) => containers.length > 0)?.containers ?? []
  const lines = resource === null ? [] : [line('event', 'low on resource', resource)]
  if (figures)
    lines.push(
      line(
        'event',
        'the threshold, and what was available',
        `${figures.quantity}, ${figures.available}`,
      ),
    )
  const shown = using.slice(0, containersShown)
  return [
    ...lines,
    ...shown.map(({ name, used, request }) =>
      line('event', `container ${name}`, `used ${used}, requests ${request}`),
    ),
  ]
}
