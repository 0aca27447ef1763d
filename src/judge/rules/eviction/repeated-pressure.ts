import { durationMs } from '#base/go/duration.ts'
import { amountOrNull } from '#base/go/quantity.ts'
import { by } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import { evictionCause, evictionLine } from '#facts/kubelet/event-messages.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import {
  eventEvidence,
  eventTimes,
  isWithinWindow,
  recentEvents,
  shownTime,
  unknownEvents,
} from '#judge/events/events.ts'
import {
  allEvictions,
  type Eviction,
  type EvictionFact,
  evictionFact,
  evictionReason,
  largestEvicted,
  noEvictions,
  ownerName,
  thresholdOf,
} from '#judge/events/evictions.ts'
import { fullestDiskReason } from '#judge/help/disk-reason.ts'
import { freesBelow } from '#judge/help/freed-by-image-gc.ts'
import type { Reason } from '#judge/help/holder-cause.ts'
import { diskEvictionPercent, soundImageGc } from '#judge/help/thresholds.ts'
import {
  bytes,
  contextRule,
  type Failing,
  imageGcThresholds,
  line,
  lines,
  type NodeContext,
  type NodeEvent,
  type NodeSubject,
  plural,
  seenFirst,
  span,
  worldCause,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import type { Happening } from '#model/history.ts'
import type { Policy } from '#model/policy.ts'

/**
 * Times that a condition came: in events of which the newest is of the last hour (equal events are one as long as they repeat, for days), or
 * within a day by the readings of the node and the log of its kubelet.
 */
const manyTimes = 3
const shownThresholds = 3
const shownStarts = 8
const shownOwners = 5

const pressures = {
  NodeHasDiskPressure: { condition: 'DiskPressure', resources: ['ephemeral-storage', 'inodes'] },
  NodeHasInsufficientMemory: { condition: 'MemoryPressure', resources: ['memory'] },
  NodeHasInsufficientPID: { condition: 'PIDPressure', resources: ['pids'] },
} as const

/** Of pods evicted within a day. */
interface PressureFact extends EvictionFact {
  /** How long a condition stays after its threshold was last met. */
  transitionMs: number
  /** When the kubelet began to reclaim a resource, by its log. */
  reclaims: { at: string; resource: string }[]
  /** What holds a disk that is still used this much. Null: nothing does, or it is unknown. */
  held: Reason | null
  /** The container that wrote most until its pod was evicted. */
  writer: ReturnType<typeof largestEvicted>
  /** Of image GC. `evictionPercent`: of the disk, below which pods are evicted. */
  imageGC: { highPercent: number; evictionPercent: number } | null
}

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
  fix: 'Find what grows on the node in its ledger, and make image GC start earlier, limit what the pods write, reserve what system and images hold, or use a larger disk. A longer evictionPressureTransitionPeriod only keeps pods away for longer.',
  sources: [
    'pkg/kubelet/nodestatus/setters.go DiskPressureCondition',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  fact: (subject): PressureFact => ({
    transitionMs:
      durationMs(
        subject.configuration?.evictionPressureTransitionPeriod ??
          configurationDefaults.evictionPressureTransitionPeriod,
      ) ?? 0,
    ...evictionFact(subject, dayMs),
    reclaims: (subject.host?.logLines ?? []).flatMap(text => {
      const line = evictionLine(text)
      return line && 'resource' in line ? [line] : []
    }),
    held: fullestDiskReason(subject),
    writer: largestEvicted(
      'ephemeral-storage',
      subject.pods ?? [],
      subject.at,
      leastWritten * (subject.filesystems.nodefs?.capacityBytes ?? Infinity),
    ),
    imageGC: imageGcOf(subject),
  }),

  *judge(fact, context, policy) {
    for (const { isOfDisk, ...failing } of pressuresOf(fact, context)) {
      const { seen, ...reason } = isOfDisk ? reasonOf(fact, policy) : {}
      yield { ...failing, ...reason, ...(seen && { seen: `${failing.seen} ${seen}` }) }
    }
    yield* unknownEvents(context)
  },

  *judgeUnread(context) {
    for (const { isOfDisk: _, ...failing } of pressuresOf(nothingRead, context)) yield failing
  },
})

const nothingRead = { ...noEvictions, transitionMs: 0, reclaims: [] }
const presetTransitionMs = durationMs(configurationDefaults.evictionPressureTransitionPeriod) ?? 0

function imageGcOf(subject: NodeSubject) {
  const { imageGC, ledger } = subject
  const evictionPercent = diskEvictionPercent(subject)
  return !imageGC ||
    evictionPercent === null ||
    freesBelow(imageGC.highThresholdPercent, { imageGC, ledger }) === false
    ? null
    : { highPercent: imageGC.highThresholdPercent, evictionPercent }
}

/** What still holds the disk. Of unused images image GC comes too late, if it can begin earlier. */
function reasonOf({ held, writer, imageGC }: PressureFact, policy: Policy): Partial<Failing> {
  // Pods keep within their requests: less is reserved than system and images hold.
  if (held?.cause.kind === 'setting') return held
  if (held?.cause.kind === 'holder' && held.cause.freedBy !== 'image-gc')
    return { cause: held.cause, steps: held.steps }
  if (writer) {
    const { owner, bytes } = writer
    return {
      cause: worldCause('pods-evicted'),
      steps: [{ id: 'set-ephemeral-storage', owner, bytes }],
    }
  }
  if (held?.cause.kind === 'unread') return { cause: held.cause, steps: held.steps }
  if (held?.cause.kind !== 'holder') return {}
  const config = imageGC && soundImageGc(imageGC.evictionPercent, policy)
  if (!config || imageGC.highPercent <= config.imageGCHighThresholdPercent) return {}
  return { cause: imageGcThresholds, steps: [{ id: 'set-fields' }], fix: { config: { ...config } } }
}

interface Sign {
  at: string
  /** Of the condition. Absent: the kubelet reclaimed what is scarce. */
  status?: Happening['status']
}

/** The condition as the readings of a day have seen it, and evictions. */
const pressureSigns = (
  condition: string,
  happened: readonly Happening[],
  isScarce: (resource: string | undefined) => boolean,
): Sign[] =>
  happened.flatMap(({ at, what, subject, status, resource }) => {
    if (what === 'condition') return subject === condition ? [{ at, status }] : []
    return what === 'evicted' && isScarce(resource) ? [{ at }] : []
  })

/** When the pressure began within a day. Of one of which only the end was seen, that. */
function pressureStarts(
  signs: readonly Sign[],
  { at: now, transitionMs }: { at: string; transitionMs: number },
): string[] {
  const starts: string[] = []
  let [isOn, isSeen, last] = [false, false, -Infinity]
  for (const { at, status } of signs.toSorted(by(({ at }) => at))) {
    if (status === 'Unknown' || !isWithinWindow(at, now, dayMs)) continue
    // The condition stays for this long after the last pass that found too little. It is reported a moment later.
    const isNear = Date.parse(at) - last <= transitionMs + evictionMonitoringPeriodMs
    const isSame =
      status === undefined ? isSeen || (isOn && isNear) : isOn && (status === 'False' || isNear)
    if (!isSame) starts.push(at)
    isOn = status !== 'False'
    isSeen = status === undefined ? isSeen : isOn
    if (status !== 'False') last = Date.parse(at)
  }
  return starts
}

const timesIn = (events: readonly NodeEvent[]) => events.reduce((sum, { count }) => sum + count, 0)

function* pressuresOf(
  fact: EvictionFact & Pick<PressureFact, 'transitionMs' | 'reclaims'>,
  context: NodeContext,
): Iterable<Failing & { isOfDisk: boolean }> {
  const { events, at, happened } = context
  const allEvicted = allEvictions(fact.recorded, context)
  for (const [began, { condition, resources }] of Object.entries(pressures)) {
    const begun = recentEvents(events, at, [began]).filter(({ pod }) => pod === null)
    const isScarce = (resource: string | null | undefined) =>
      resources.some(one => one === resource)
    const reclaims = fact.reclaims.filter(one => isScarce(one.resource))
    const starts = pressureStarts(
      pressureSigns(condition, happened(), isScarce).concat(reclaims.map(one => ({ at: one.at }))),
      { at, transitionMs: fact.transitionMs || presetTransitionMs },
    )
    const times = Math.max(timesIn(begun), starts.length)
    if (times < manyTimes) continue
    const isOfResource = ({ message }: Pick<NodeEvent, 'message'>) =>
      isScarce(evictionCause(message).resource)
    const attempts = recentEvents(events, at, ['EvictionThresholdMet']).filter(isOfResource)
    const evicted = allEvicted.filter(isOfResource)
    const short = [...evicted, ...attempts].map(({ message }) => evictionCause(message).resource)
    const isOfInodes = short.length > 0 && short.every(resource => resource === 'inodes')
    const isOfDisk = condition === 'DiskPressure' && !isOfInodes
    const { user = null, ...reason } = isOfDisk
      ? {}
      : { steps: [lookOf(condition)], ...evictionReason(evicted, fact) }
    const tries = Math.max(timesIn(attempts), reclaims.length)
    // The condition lasts for the transition period, and each attempt is one pass.
    const lastedMs = Math.max(times * fact.transitionMs, tries * evictionMonitoringPeriodMs)
    const [start = null] = timesIn(begun) < times ? starts : []
    const first = start ?? eventTimes([...begun, ...attempts], at).first
    yield {
      isOfDisk,
      ...reason,
      ...seenFirst(
        `${condition} came ${times} times${first === null ? '' : ` since ${shownTime(first)}`}${lastedMs > 0 ? `, for ${span(lastedMs)} or more in all` : ''}, with ${plural(tries, 'attempt')} to reclaim${evicted.length === 0 ? '' : `; ${plural(evicted.length, 'eviction')} within a day${mostEvicted(evicted)}`}${user === null ? '' : `: ${user}`}.`,
        'New pods are refused each time.',
      ),
      evidence: lines(
        ...eventEvidence(begun, at),
        ...eventEvidence(attempts, at),
        start !== null &&
          line('node', `${condition} began within a day`, starts.slice(-shownStarts).join(', ')),
        ...thresholdsOf(evicted, fact.thresholds),
        ...evictionsByOwner(evicted)
          .slice(0, shownOwners)
          .map(([owner, { length }]) =>
            line('event', `evictions within a day of ${owner}`, length),
          ),
      ),
    }
  }
}

/** What has memory or process ids shows in no folder. */
const lookOf = (condition: (typeof pressures)[keyof typeof pressures]['condition']): StepAction => {
  if (condition === 'DiskPressure') return { id: 'look-on-node', unit: 'inodes' }
  return { id: condition === 'MemoryPressure' ? 'list-memory' : 'list-processes' }
}

/** `, 4 of them of Deployment shop/api`: whose pods are evicted again and again. Empty: each was of another owner. */
function mostEvicted(evicted: readonly Eviction[]): string {
  const [most] = evictionsByOwner(evicted)
  if (most === undefined || most[1].length < 2) return ''
  return `, ${most[1].length} of them of ${most[0]}`
}

const evictionsByOwner = (evicted: readonly Eviction[]) =>
  [...Map.groupBy(evicted, ownerName)].toSorted(([, a], [, b]) => b.length - a.length)

/** The thresholds whose bytes the eviction messages name. */
function thresholdsOf(evicted: readonly Eviction[], thresholds: PressureFact['thresholds']) {
  const quantities = new Set(
    evicted.flatMap(({ message }) => evictionCause(message).threshold?.quantity ?? []),
  )
  return [...quantities].slice(0, shownThresholds).map(text => {
    const amount = amountOrNull(text)
    return line(
      'event',
      `threshold of ${text}${amount === null ? '' : ` (${bytes(amount)})`} in an eviction`,
      thresholdOf(text, thresholds) ??
        (thresholds.length === 0
          ? 'the configuration was not read'
          : 'no threshold of the present configuration'),
    )
  })
}
