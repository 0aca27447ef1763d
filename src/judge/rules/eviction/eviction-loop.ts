import { by } from '#base/text.ts'
import { type EvictionCause, evictionCause, exceededLimit } from '#facts/kubelet/event-messages.ts'
import { eventTimes, timesText, unknownEvents } from '#judge/events/events.ts'
import {
  allEvictions,
  type Eviction,
  type EvictionFact,
  evictionFact,
  evictionReason,
  isThresholdLowered,
  manyEvictions,
  namedThreshold,
  nextVictims,
  noEvictions,
  ownerName,
  resourceText,
  taintOf,
  toleratedByOwner,
} from '#judge/events/evictions.ts'
import { diskReason, fullestDiskReason } from '#judge/help/disk-reason.ts'
import type { Reason } from '#judge/help/holder-cause.ts'
import { raisedReason, raisedThresholds } from '#judge/help/thresholds.ts'
import {
  contextRule,
  type Failing,
  line,
  lines,
  type NodeContext,
  plural,
  type Satisfied,
  seenFirst,
  worldCause,
} from '#judge/rule.ts'
import { conditionOf } from '#model/prediction.ts'

/** Evictions that make a loop if the replacement pod comes straight back to this node. */
const manyWithReturn = 2
const ownersShown = 5
const containersShown = 3
interface LoopFact extends EvictionFact {
  tolerated: Record<string, string[]>
  /** By resource: owners of the pods that the replay evicts first. Null: no known owner. */
  nextVictims: Record<string, readonly (string | null)[]>
  /** A disk threshold that alone makes the node evict, else what holds its fullest disk, or that this is not read. Null: neither. */
  held: Reason | null
}

const titles = { byName: 'Pods of one name are evicted from this node again and again' }

export const evictionLoop = contextRule({
  id: 'eviction-loop',
  family: 'eviction',
  severity: 'high',
  cause: worldCause('pods-evicted'),
  steps: ['set-ephemeral-storage'],
  needs: ['pods'],
  titles,
  title: 'Pods of one owner are evicted from this node again and again',
  why: 'The owner replaces what the kubelet evicts, and the replacement fills the node again. Pods that tolerate the pressure taints, as those of every DaemonSet do, come straight back to the same node; while the pressure lasts, the kubelet refuses them at admission, which counts as evicted, too.',
  fix: 'Give its containers requests and limits of ephemeral-storage (or memory) that cover what they use, and its emptyDir volumes a sizeLimit; no limit counts inodes, so of them have it keep fewer files. Drop tolerations of node.kubernetes.io/disk-pressure, memory-pressure and pid-pressure, and those with operator Exists and no key; a DaemonSet gets them whatever its template says.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go synchronize, evictPod, Admit',
    'pkg/controller/daemon/util/daemonset_util.go AddOrUpdateDaemonPodTolerations',
    'kubernetes#122779',
  ],

  fact: (subject): LoopFact => ({
    ...evictionFact(subject),
    // Of memory, any use counts.
    memoryBytes: null,
    tolerated: toleratedByOwner(subject.pods),
    nextVictims: nextVictims(subject.eviction, subject.pods),
    held: heldReason(subject),
  }),

  *judge(fact, context) {
    yield* loopFailings(fact, context)
    // Evicted pods of most owners are deleted, so only events show these evictions.
    yield* unknownEvents(context)
  },

  judgeUnread: context =>
    loopFailings({ ...noEvictions, tolerated: {}, nextVictims: {}, held: null }, context),
})

function heldReason(subject: Satisfied<'pods'>): Reason | null {
  const { eviction } = subject
  const met = (eviction?.thresholds ?? []).filter(
    ({ met, signal }) => met === true && conditionOf(signal) === 'DiskPressure',
  )
  const wrong = eviction
    ? raisedReason(raisedThresholds(met, { ...subject, eviction }), subject)
    : null
  if (wrong) return wrong
  const [first] = met
  const held = first ? diskReason(subject, first.signal) : fullestDiskReason(subject)
  // An evicted pod of which nothing shows that it wrote much is no cause, whatever holds the disk.
  return held?.cause.kind === 'holder' || held?.cause.kind === 'unread' ? held : null
}

function loopFailings(fact: LoopFact, context: NodeContext): Failing[] {
  // local-storage-limit-exceeded has those over a limit of their own.
  const evictions = allEvictions(fact.recorded, context).filter(
    ({ message }) => exceededLimit(message) === null,
  )
  return [...Map.groupBy(evictions, ownerName).values()]
    .flatMap(own => loopFailing(own, fact, context.at) ?? [])
    .toSorted(
      by(
        ({ count }) => -count,
        ({ failing }) => failing.consequence,
      ),
    )
    .slice(0, ownersShown)
    .map(({ failing }) => failing)
}

function loopFailing(
  own: Eviction[],
  { tolerated, nextVictims, held, ...fact }: LoopFact,
  at: string,
): { count: number; failing: Failing } | null {
  const latest = own.at(-1)
  if (!latest) return null
  const name = ownerName(latest)
  const key = latest.owner?.key ?? null
  const evictions = own.map(({ message }) => evictionCause(message))
  const resource = evictions.findLast(one => one.resource !== null)?.resource ?? null
  const refused = evictions.filter(({ isRefused }) => isRefused).length
  const taint = taintOf(resource)
  const returns = taint !== null && key !== null && tolerated[key]?.includes(taint) === true
  if (own.length < (returns ? manyWithReturn : manyEvictions)) return null
  if (isThresholdLowered(evictions, fact)) return null
  const times = eventTimes(
    own.map(({ time }) => ({ count: 1, firstTime: time, lastTime: time })),
    at,
  )
  const next = (resource === null ? null : nextVictims[resource]) ?? []
  const isNext = next.length > 0 && next.every(victim => victim !== null && victim === key)
  const threshold = namedThreshold(own, fact)
  const { user, ...written } = evictionReason(own, fact)
  const isOfDisk =
    written.cause === undefined &&
    (resource === 'ephemeral-storage' ||
      (resource === 'inodes' &&
        held?.cause.kind === 'holder' &&
        held.cause.amount.unit === 'inodes'))
  const { cause, steps, fix } = isOfDisk && held ? held : { fix: undefined, ...written }
  // A refused pod has written nothing, so it does not show what holds the disk.
  const areVictims = cause?.kind === 'holder' && refused === own.length
  return {
    count: own.length,
    failing: {
      ...(cause && { cause }),
      ...(steps && { steps }),
      ...(fix && { fix }),
      ...(key === null && { title: titles.byName }),
      confidence: key === null ? 'likely' : 'certain',
      ...seenFirst(
        `${name}: ${plural(own.length, 'pod')} evicted here within an hour${refused > 0 ? `, ${refused} of them refused at admission` : ''}${resource === null ? '' : `, for ${resource}`}${threshold === null ? '' : `: ${threshold}`}${user === null ? '' : `; ${user}`}.`,
        [
          returns
            ? `Its pods tolerate ${taint}: each replacement comes straight back to this node.`
            : returnText(key),
          isNext ? ' By replay the next to go is of the same owner.' : '',
        ].join(''),
      ),
      ...(areVictims && { seen: undefined }),
      evidence: lines(
        line('event', `evictions of ${name}${key === null ? ' (by name)' : ''}`, timesText(times)),
        ...messageLines(evictions, resource),
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

const returnText = (key: string | null) =>
  key === null
    ? 'No owner of these pods is known: nothing in Kubernetes replaces a pod without one.'
    : 'What replaces them comes back and goes again.'

function messageLines(evictions: readonly EvictionCause[], resource: string | null) {
  const shownText = (text: string) => resourceText(text, resource)
  const figures = evictions.findLast(({ threshold }) => threshold !== null)?.threshold
  const using = evictions.findLast(({ containers }) => containers.length > 0)?.containers ?? []
  const lines = resource === null ? [] : [line('event', 'low on resource', resource)]
  if (figures)
    lines.push(
      line(
        'event',
        'the threshold, and what was available',
        [figures.quantity, figures.available].map(shownText).join(', '),
      ),
    )
  const shown = using.slice(0, containersShown)
  return [
    ...lines,
    ...shown.map(({ name, used, request }) =>
      line('event', `container ${name}`, `used ${shownText(used)}, requests ${shownText(request)}`),
    ),
  ]
}
