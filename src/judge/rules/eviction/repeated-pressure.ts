import { durationMs } from '#base/go/duration.ts'
import { quantityNumber, quantityOrNull } from '#base/go/quantity.ts'
import { evictionCause } from '#facts/kubelet/event-messages.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import { eventEvidence, eventTimes, recentEvents, unreadEvents } from '#judge/events/events.ts'
import { evictedWriter } from '#judge/events/evictions.ts'
import { diskReason, measuredFirst, type Reason } from '#judge/help/holders.ts'
import { diskEvictionPercent, soundImageGc } from '#judge/help/thresholds.ts'
import {
  bytes,
  contextRule,
  type Failing,
  imageGcThresholds,
  line,
  lines,
  plural,
  seenFirst,
  shorten,
  span,
  worldCause,
} from '#judge/rule.ts'
import type { NodeEvent } from '#judge/subject/cluster-facts.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { Policy } from '#model/policy.ts'
import type { EvaluatedThreshold } from '#model/prediction/prediction.ts'

/** Times that a condition came, in events of which the newest is of the last hour. Equal events are one as long as they repeat, for days. */
const manyTimes = 3
const shownThresholds = 3

const pressures = {
  NodeHasDiskPressure: { condition: 'DiskPressure', resources: ['ephemeral-storage', 'inodes'] },
  NodeHasInsufficientMemory: { condition: 'MemoryPressure', resources: ['memory'] },
  NodeHasInsufficientPID: { condition: 'PIDPressure', resources: ['pids'] },
} as const

interface PressureFact {
  /** How long a condition stays after its threshold was last met. */
  transitionMs: number
  thresholds: Pick<EvaluatedThreshold, 'signal' | 'value' | 'resolved'>[]
  /** What holds a disk that is still used this much. Null: nothing does, or it is unknown. */
  held: Reason | null
  /** The container that wrote most until its pod was evicted. */
  writer: ReturnType<typeof evictedWriter>
  /** Of image GC. `evictionPercent`: of the disk, below which pods are evicted. */
  imageGC: { highPercent: number; evictionPercent: number } | null
}

const leastUsed = 0.7
/** Share of a disk from which on an evicted container explains the pressure. */
const leastWritten = 0.1

export const repeatedPressure = contextRule({
  id: 'repeated-pressure',
  family: 'eviction',
  severity: 'high',
  cause: worldCause('pressure-repeats'),
  steps: ['read-pods', 'look-on-node'],
  policy: ['alertPercent', 'assumedGrowthPercent'],
  title: 'The node comes under pressure again and again',
  why: 'Each time the kubelet deletes images or evicts pods, reports the end of the pressure, and takes pods that fill the node again. Between two readings the node can look healthy.',
  fix: 'Find what grows on the node in its ledger, and make image GC start earlier, limit what the pods write, or use a larger disk. A longer evictionPressureTransitionPeriod only keeps pods away for longer.',
  sources: [
    'pkg/kubelet/nodestatus/setters.go DiskPressureCondition',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  fact: ({ configuration, eviction, ...subject }): PressureFact => ({
    transitionMs:
      durationMs(
        configuration?.evictionPressureTransitionPeriod ??
          configurationDefaults.evictionPressureTransitionPeriod,
      ) ?? 0,
    thresholds: (eviction?.thresholds ?? []).map(({ signal, value, resolved }) => ({
      signal,
      value,
      resolved,
    })),
    held: heldNow(subject),
    writer: evictedWriter(
      subject.pods ?? [],
      subject.at,
      leastWritten * (subject.filesystems.nodefs?.capacityBytes ?? Number.POSITIVE_INFINITY),
    ),
    imageGC: imageGcOf(eviction, subject),
  }),

  *judge(fact, { events, at, why, failed }, policy) {
    for (const { isOfDisk, ...failing } of pressuresOf(fact, events, at))
      yield { ...failing, ...(isOfDisk && reasonOf(fact, policy)) }
    if (events === null) yield { unknown: why('events') }
    else yield* unreadEvents({ failed })
  },

  *judgeUnread({ events, at }) {
    for (const { isOfDisk: _, ...failing } of pressuresOf(nothingRead, events, at)) yield failing
  },
})

const nothingRead = { transitionMs: 0, thresholds: [] }

function heldNow(subject: Pick<NodeSubject, 'ledger' | 'identity' | 'imageGC' | 'host'>) {
  const [fullest] = (subject.ledger?.filesystems ?? [])
    .filter(({ usedBytes, capacityBytes }) => usedBytes >= leastUsed * capacityBytes)
    .toSorted((a, b) => b.usedBytes / b.capacityBytes - a.usedBytes / a.capacityBytes)
  const reason = fullest && diskReason(subject, `${fullest.filesystem}.available`)
  return reason ? measuredFirst(reason, subject) : null
}

function imageGcOf(
  eviction: NodeSubject['eviction'],
  { imageGC, filesystems }: Pick<NodeSubject, 'imageGC' | 'filesystems'>,
) {
  const evictionPercent = diskEvictionPercent(eviction, filesystems)
  return imageGC === null || evictionPercent === null
    ? null
    : { highPercent: imageGC.highThresholdPercent, evictionPercent }
}

/** What still holds the disk. Of unused images image GC comes too late, if it can begin earlier. */
function reasonOf({ held, writer, imageGC }: PressureFact, policy: Policy): Partial<Failing> {
  if (held?.cause.kind === 'holder' && held.cause.freedBy !== 'image-gc')
    return { cause: held.cause, steps: held.steps }
  if (writer !== null)
    return {
      cause: worldCause('pods-evicted'),
      steps: [{ id: 'set-ephemeral-storage', ...writer }],
    }
  if (held?.cause.kind !== 'holder') return {}
  const config = imageGC && soundImageGc(imageGC.evictionPercent, policy)
  if (!config || imageGC.highPercent <= config.imageGCHighThresholdPercent) return {}
  return { cause: imageGcThresholds, steps: [{ id: 'set-fields' }], fix: { config: { ...config } } }
}

const timesIn = (events: readonly NodeEvent[]) => events.reduce((sum, { count }) => sum + count, 0)

function* pressuresOf(
  { transitionMs, thresholds }: Pick<PressureFact, 'transitionMs' | 'thresholds'>,
  events: readonly NodeEvent[] | null,
  at: string,
): Iterable<Failing & { isOfDisk: boolean }> {
  for (const [reason, { condition, resources }] of Object.entries(pressures)) {
    const begun = recentEvents(events, at, [reason]).filter(({ pod }) => pod === null)
    const times = timesIn(begun)
    if (times < manyTimes) continue
    const isOfResource = ({ message }: NodeEvent) =>
      resources.some(one => one === evictionCause(message).resource)
    const attempts = recentEvents(events, at, ['EvictionThresholdMet']).filter(isOfResource)
    const evicted = recentEvents(events, at, ['Evicted']).filter(isOfResource)
    // The condition lasts for the transition period, and each attempt is one pass.
    const lastedMs = Math.max(times * transitionMs, timesIn(attempts) * evictionMonitoringPeriodMs)
    const { first } = eventTimes([...begun, ...attempts], at)
    yield {
      isOfDisk: condition === 'DiskPressure',
      ...seenFirst(
        `${condition} came ${times} times${first === null ? '' : ` since ${shorten(first, 40)}`}${lastedMs > 0 ? `, for ${span(lastedMs)} or more` : ''}, with ${plural(timesIn(attempts), 'attempt')} to reclaim; ${plural(evicted.length, 'eviction')} in the last hour.`,
        'New pods are refused each time.',
      ),
      evidence: lines(
        ...eventEvidence(begun, at),
        ...eventEvidence(attempts, at),
        ...thresholdsOf(evicted, thresholds),
      ),
    }
  }
}

/** The thresholds whose bytes the eviction messages name. */
function thresholdsOf(evicted: readonly NodeEvent[], thresholds: PressureFact['thresholds']) {
  const quantities = new Set(
    evicted.flatMap(({ message }) => evictionCause(message).threshold?.quantity ?? []),
  )
  return [...quantities].slice(0, shownThresholds).map(text => {
    const quantity = quantityOrNull(text)
    const amount = quantity === null ? null : quantityNumber(quantity)
    const found = thresholds.find(({ resolved }) => resolved !== null && resolved === amount)
    return line(
      'event',
      `threshold of ${text}${amount === null ? '' : ` (${bytes(amount)})`} in an eviction`,
      found === undefined
        ? 'no threshold of the present configuration'
        : `${found.signal} ${found.value}`,
    )
  })
}
