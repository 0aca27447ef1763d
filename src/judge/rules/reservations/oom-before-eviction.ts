import { amountOrNull } from '#base/go/quantity.ts'
import { mebibyte } from '#base/units.ts'
import { isOwnMemoryLimit } from '#facts/kubelet/event-messages.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { evictionMonitoringPeriodMs, evictionSeconds } from '#facts/kubelet/periods.ts'
import {
  eventEvidence,
  eventTimes,
  recentEvents,
  timesText,
  unreadEvents,
  withEvidence,
} from '#judge/events/events.ts'
import { memoryVolumeReason, shortMemoryReason } from '#judge/help/memory-reason.ts'
import { entryLine, hardDefaults, lostDefaults } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  contextRule,
  type Failing,
  hardThresholds,
  isLinux,
  kubeletSetting,
  line,
  type NodeEvent,
  type Satisfied,
  seenFirst,
  shorten,
} from '#judge/rule.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'

export const oomBeforeEviction = contextRule({
  id: 'oom-before-eviction',
  family: 'reservations',
  severity: 'high',
  cause: hardThresholds,
  needs: ['configuration', 'eviction'],
  title: 'The kernel kills for memory before the kubelet evicts',
  why: 'Without a hard memory.available threshold the kubelet does not evict at once when memory runs out: a soft threshold waits for its grace period. The kernel then kills single processes by OOM score, without a grace period, and their containers restart on the same full node.',
  fix: 'Give the pods that use most memory requests and limits. Set evictionHard memory.available, or raise it if it is set, and reserve memory for the daemons.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
    'pkg/kubelet/eviction/helpers.go thresholdsMetGracePeriod',
    'pkg/kubelet/oom/oom_watcher_linux.go Start',
  ],
  appliesTo: isLinux,

  fact: subject => ({
    failings: [...judgeThresholds(subject)],
    reason: lostThreshold(subject) ?? memoryVolumeCause(subject) ?? shortMemoryReason(subject),
  }),

  *judge({ failings, reason }, context) {
    const { events, at } = context
    yield* withEvidence(failings, evidenceOf(nodeKills(events, at), at))
    if (failings.length === 0) yield* judgeKills(events, at, reason)
    yield* unreadEvents(context)
  },

  judgeUnread: ({ events, at }, applies) => (applies ? judgeKills(events, at, null) : []),
})

/**
 * OOM kills of the node. Kills of containers at their own limit are left out: node-problem-detector
 * reports such kills, SystemOOM does not.
 */
const nodeKills = (events: readonly NodeEvent[] | null, at: string) =>
  recentEvents(events, at, ['SystemOOM', 'OOMKilling']).filter(
    ({ message }) => !isOwnMemoryLimit(message),
  )

const byReason = (killEvents: readonly NodeEvent[]) => [
  ...Map.groupBy(killEvents, ({ reason }) => reason).values(),
]

const evidenceOf = (killEvents: readonly NodeEvent[], at: string) =>
  byReason(killEvents).flatMap(events => eventEvidence(events, at))

/** What sets the default of memory.available that evictionHard removed. Null: it is not lost. */
function lostThreshold(subject: Satisfied<'configuration' | 'eviction'>): KnownReason | null {
  const [, value] =
    lostDefaults(subject)?.lost.find(([signal]) => signal === 'memory.available') ?? []
  if (value === undefined) return null
  const { evictionHard } = subject.configuration
  return {
    cause: kubeletSetting('evictionHard.memory.available'),
    fix: { config: { evictionHard: { ...evictionHard, 'memory.available': value } } },
  }
}

/** Volumes in memory: what the kernel kills gives none of it back. Null: none holds much. */
function memoryVolumeCause(subject: Satisfied<'eviction'>): KnownReason | null {
  const { cause, steps = [] } = memoryVolumeReason(subject) ?? {}
  const [first] = steps
  if (!cause || !first?.owner) return null
  return { cause, steps: [...steps, { ...first, id: 'set-memory' }] }
}

type KnownReason = Pick<Failing, 'cause' | 'fix' | 'steps' | 'seen'>

/** Whatever the thresholds are, memory can run out between two passes or because of the daemons. */
function* judgeKills(
  events: readonly NodeEvent[] | null,
  at: string,
  reason: KnownReason | null,
): Iterable<Failing> {
  const killEvents = nodeKills(events, at)
  if (killEvents.length === 0) return
  // Two sources can report the same kill: the larger count is used.
  const times = byReason(killEvents)
    .map(events => eventTimes(events, at))
    .reduce((a, b) => (b.count > a.count ? b : a))
  yield {
    confidence: 'likely',
    title: 'The kernel kills for memory, and no eviction came before it',
    ...reason,
    ...seenFirst(
      `The kernel killed processes of this node for memory ${timesText(times)}, none of them at a limit of its container${reason?.fix ? ': nothing watches memory.available' : ''}.`,
      reason
        ? (reason.seen ?? '')
        : `Memory runs out within the ${evictionSeconds} s between two looks of the kubelet, or the threshold is too low.`,
    ),
    evidence: evidenceOf(killEvents, at),
  }
}

function* judgeThresholds(subject: Satisfied<'configuration' | 'eviction'>): Iterable<Failing> {
  const { identity, configuration, eviction } = subject
  const hugePages = countedHugePages(subject)
  const watching = eviction.thresholds.filter(
    ({ signal, resolved }) =>
      signal === 'memory.available' && (resolved === null || resolved > hugePages),
  )
  // A soft threshold whose grace period expires by the next pass is as good as a hard threshold.
  if (watching.some(({ gracePeriodMs }) => gracePeriodMs <= evictionMonitoringPeriodMs)) return
  // The rule lost-default-threshold reports a default that evictionHard removed.
  if (lostThreshold(subject)) return
  const waits = watching.map(({ gracePeriodMs }) => gracePeriodMs / 1000)
  const byDefault = hardDefaults(identity)['memory.available'] ?? '100Mi'
  if (hugePages > 0) return yield aboveHugePages(hugePages, byDefault, configuration)
  yield {
    consequence:
      waits.length === 0
        ? 'Nothing watches memory.available: when pods use up the memory, the kernel kills processes, and the kubelet evicts nothing.'
        : `Memory that fills within ${Math.min(...waits)} s is the kernel's to free: the kubelet looks every ${evictionSeconds} s, but evicts only after memory.available was low for ${Math.min(...waits)} s.`,
    evidence: [
      entryLine('evictionHard', 'memory.available', configuration),
      ...watching.map(({ value, gracePeriodMs }) =>
        line(
          'computed',
          'soft threshold memory.available',
          `${shorten(value)}, grace period ${gracePeriodMs / 1000} s`,
        ),
      ),
    ],
    fix: {
      config: { evictionHard: { ...configuration.evictionHard, 'memory.available': byDefault } },
    },
  }
}

/** Bytes of huge pages that the kubelet counts as available, although no other memory can use them. 0: none. */
function countedHugePages({ identity, node }: Satisfied<'eviction'>): number {
  if (featuresOf(identity.kubeletVersion).has('hugePagesNotAvailable')) return 0
  return Object.entries(node.status?.capacity ?? {})
    .filter(([resource]) => resource.startsWith('hugepages-'))
    .reduce((sum, [, text]) => sum + (amountOrNull(text) ?? 0), 0)
}

/** A soft threshold takes nothing from what pods may request, as a larger hard one would. */
function aboveHugePages(
  hugePages: number,
  byDefault: string,
  configuration: KubeletConfiguration,
): Failing {
  const least = `${Math.ceil((hugePages + (amountOrNull(byDefault) ?? 0)) / mebibyte)}Mi`
  const grace = `${evictionMonitoringPeriodMs / 1000}s`
  const entry = { 'memory.available': least }
  return {
    title: 'Huge pages count as available memory: the kubelet never evicts for memory',
    ...seenFirst(
      `Huge pages reserve ${bytes(hugePages)}, and this kubelet counts them as available: memory.available cannot fall below that, and its threshold is never met.`,
      'When the other memory is used up, the kernel kills processes. Kubelets from 1.37 on do not count huge pages.',
    ),
    evidence: [
      bytesLine('node', 'capacity of huge pages', hugePages),
      entryLine('evictionHard', 'memory.available', configuration),
    ],
    cause: kubeletSetting(
      'evictionSoft.memory.available',
      'evictionSoftGracePeriod.memory.available',
    ),
    fix: {
      config: {
        evictionSoft: { ...configuration.evictionSoft, ...entry },
        evictionSoftGracePeriod: {
          ...configuration.evictionSoftGracePeriod,
          'memory.available': grace,
        },
      },
    },
  }
}
