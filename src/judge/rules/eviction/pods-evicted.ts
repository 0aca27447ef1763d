import { evictionCause, exceededLimit, signalsOfResource } from '#facts/kubelet/event-messages.ts'
import { isWithinWindow, shownTime, unknownEvents } from '#judge/events/events.ts'
import {
  allEvictions,
  type Eviction,
  type EvictionFact,
  evictionFact,
  evictionReason,
  isOfDisk,
  manyEvictions,
  namedThreshold,
  noEvictions,
  ownerName,
  placeOf,
} from '#judge/events/evictions.ts'
import { passedOf } from '#judge/help/passed-pressure.ts'
import {
  contextRule,
  type Failing,
  line,
  type NodeContext,
  type NodeSubject,
  placedPod,
  plural,
  seenFirst,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import { conditionOf } from '#model/prediction/prediction.ts'

const shown = 5

interface EvictedFact extends EvictionFact {
  /** Conditions of resources that are short now, which other rules report. */
  short: string[]
  /** Conditions that the kubelet reports as over. */
  over: string[]
  /** unread-node reports evictions for a disk that was not measured. */
  isDiskUnread: boolean
}

export const podsEvicted = contextRule({
  id: 'pods-evicted',
  family: 'eviction',
  severity: 'medium',
  cause: worldCause('pods-evicted'),
  steps: ['set-ephemeral-storage'],
  title: 'Pods were evicted from this node within the last hour',
  why: 'The next pods of the owner may use as much. Controllers and people delete evicted pods: then events of the last hour are all that shows them.',
  fix: 'Give the containers that the messages name requests and limits that cover what they use. If they used little, look what else uses the resource.',
  sources: ['pkg/kubelet/eviction/eviction_manager.go synchronize, evictPod, Admit'],

  fact: (subject): EvictedFact => ({
    ...evictionFact(subject),
    short: shortNow(subject),
    over: Object.keys(subject.conditions).filter(type => subject.conditions[type] === 'False'),
    isDiskUnread: passedOf(subject) !== null,
  }),

  *judge(fact, context) {
    yield* evictedBefore(fact, context)
    yield* unknownEvents(context)
  },

  judgeUnread: context =>
    evictedBefore({ ...noEvictions, short: [], over: [], isDiskUnread: false }, context),
})

/** Of a node whose disks were not read, nothing else says who was evicted. */
function shortNow({ eviction, conditions, disks }: NodeSubject): string[] {
  const met = (eviction?.thresholds ?? []).flatMap(({ signal, met }) =>
    met === true ? conditionOf(signal) : [],
  )
  const reported = disks ? Object.keys(conditions) : []
  return [...new Set([...met, ...reported.filter(type => conditions[type] === 'True')])]
}

const conditionOfResource = (resource: string) => {
  const [signal] = signalsOfResource[resource] ?? []
  return signal === undefined ? '' : (conditionOf(signal) ?? '')
}

function* evictedBefore(fact: EvictedFact, context: NodeContext): Iterable<Failing> {
  const found = allEvictions(fact.recorded, context).filter(({ pod, message, time }) => {
    const { resource } = evictionCause(message)
    if (resource === null || exceededLimit(message)) return false
    // disk-pressure-passed has the pods that are still there.
    const isSaid =
      isOfDisk(resource) && (fact.isDiskUnread || fact.recorded.some(one => one.pod === pod))
    const isShort = fact.short.includes(conditionOfResource(resource))
    return !isSaid && !isShort && isWithinWindow(time, context.at)
  })
  // eviction-loop has the others.
  const few = [...Map.groupBy(found, ownerName).values()].filter(own => own.length < manyEvictions)
  const resourceOf = ({ message }: Eviction) => evictionCause(message).resource
  for (const [resource, own] of Map.groupBy(few.flat(), resourceOf))
    yield failingOf(resource ?? '', own, fact)
}

function failingOf(resource: string, own: readonly Eviction[], fact: EvictedFact): Failing {
  const latest = own.at(-1)!
  const { time, message } = latest
  const { user, ...reason } = evictionReason(own, fact)
  const threshold = namedThreshold(own, fact)
  const others = own.length === 1 ? '' : `, the last of ${plural(own.length, 'pod')}`
  const act = evictionCause(message).isRefused ? 'refused' : 'evicted'
  return {
    ...reason,
    confidence: 'likely',
    ...seenFirst(
      `${placedPod(placeOf(latest))} was ${act} for ${resource}${time === null ? '' : ` at ${shownTime(time)}`}${others}${threshold === null ? '' : `: ${threshold}`}${user === null ? '' : `; ${user}`}.`,
      `${fact.over.includes(conditionOfResource(resource)) ? 'It is no longer short. ' : ''}What used it can use as much again.`,
    ),
    evidence: own
      .slice(-shown)
      .map(one => line('event', shorten(`pod ${one.namespace}/${one.name}`, 300), one.message)),
  }
}
