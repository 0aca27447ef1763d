import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import type { NodeEvent } from '#judge/cluster-facts.ts'
import {
  recentEvents,
  timesOf,
  toldEvidence,
  toldOf,
  unreadEvents,
  withEvidence,
} from '#judge/events/events.ts'
import { line } from '#judge/evidence.ts'
import { hard, soft } from '#judge/example.ts'
import { contextRule, type Failing, type Satisfied } from '#judge/rule.ts'
import { bounded } from '#judge/text.ts'
import { lostDefaults } from '#judge/thresholds.ts'
import { canBeMet } from '#model/watched-signals.ts'

const everySeconds = evictionMonitoringPeriodMs / 1000

export const oomBeforeEviction = contextRule({
  id: 'oom-before-eviction',
  family: 'reservations',
  severity: 'high',
  needs: ['configuration', 'eviction'],
  docs: {
    title: 'The kernel kills for memory before the kubelet evicts',
    why: 'Without a hard memory.available threshold nothing acts at once when memory runs out: a soft one waits for its grace period first. The kernel then chooses by OOM score, kills single processes without a grace period, and their containers start again on the same full node.',
    fix: 'Set evictionHard memory.available, and reserve memory for the daemons.',
    sources: [
      'pkg/kubelet/eviction/eviction_manager.go synchronize',
      'pkg/kubelet/eviction/helpers.go thresholdsMetGracePeriod',
      'pkg/kubelet/oom/oom_watcher_linux.go Start',
    ],
  },
  examples: {
    bad: { thresholds: [hard('nodefs.available', 10), soft('memory.available', 1, 90_000)] },
    good: {
      thresholds: [
        hard('nodefs.available', 10),
        hard('memory.available', 1),
        soft('memory.available', 2, 90_000),
      ],
    },
  },
  appliesTo: ({ identity }) => identity.operatingSystem === 'linux',

  fact: subject => [...ofThresholds(subject)],

  *judge(fact, context) {
    const { events, at } = context
    yield* withEvidence(fact, evidenceOf(kills(events, at), at))
    if (fact.length === 0) yield* killing(events, at)
    yield* unreadEvents(context)
  },

  judgeUnread: ({ events, at }, applies) => (applies ? killing(events, at) : []),
})

/** A container at its own limit is killed however much memory the node has. node-problem-detector tells of those, too; SystemOOM is of the others. */
const kills = (events: readonly NodeEvent[] | null, at: string): NodeEvent[] =>
  recentEvents(events, at, ['SystemOOM', 'OOMKilling']).filter(
    ({ message }) => !message.includes('Memory cgroup'),
  )

const byReason = (told: readonly NodeEvent[]): NodeEvent[][] => [
  ...Map.groupBy(told, ({ reason }) => reason).values(),
]

const evidenceOf = (told: readonly NodeEvent[], at: string) =>
  byReason(told).flatMap(events => toldEvidence(events, at))

/** Whatever the thresholds: between two looks memory can run out, or the daemons take it. */
function* killing(events: readonly NodeEvent[] | null, at: string): Iterable<Failing> {
  const told = kills(events, at)
  if (told.length === 0) return
  // Two witnesses may tell of one kill: the more frequent one counts.
  const times = byReason(told)
    .map(events => toldOf(events, at))
    .reduce((a, b) => (b.count > a.count ? b : a))
  yield {
    confidence: 'likely',
    title: 'The kernel kills for memory, and no eviction came before it',
    consequence: `The kernel killed processes of this node for memory ${timesOf(times)}, with no container at a limit of its own: memory ran out between two looks of the kubelet, ${everySeconds} s apart, or below a threshold that keeps too little.`,
    evidence: evidenceOf(told, at),
  }
}

function* ofThresholds(subject: Satisfied<'configuration' | 'eviction'>): Iterable<Failing> {
  const { identity, configuration, eviction } = subject
  const watching = eviction.thresholds.filter(
    threshold => threshold.signal === 'memory.available' && canBeMet(threshold),
  )
  // A soft threshold whose grace period is over by the next pass is as good as a hard one.
  if (watching.some(({ gracePeriodMs }) => gracePeriodMs <= evictionMonitoringPeriodMs)) return
  // A default that evictionHard took away is lost-default-threshold's.
  if (lostDefaults(subject)?.lost.some(([signal]) => signal === 'memory.available')) return
  const waits = watching.map(({ gracePeriodMs }) => gracePeriodMs / 1000)
  const byDefault =
    evictionHardDefaults(identity.kubeletVersion, identity.operatingSystem)['memory.available'] ??
    '100Mi'
  yield {
    consequence:
      waits.length === 0
        ? 'Nothing watches memory.available: when pods use up the memory, the kernel kills processes, and the kubelet evicts nothing.'
        : `Memory that fills within ${Math.min(...waits)} s is the kernel's to free: the kubelet looks every ${everySeconds} s, but evicts only after memory.available was low for ${Math.min(...waits)} s.`,
    evidence: [
      line(
        'configz',
        'evictionHard.memory.available',
        bounded(configuration.evictionHard?.['memory.available'] ?? 'absent'),
      ),
      ...watching.map(({ value, gracePeriodMs }) =>
        line(
          'computed',
          'soft threshold memory.available',
          `${bounded(value)}, grace period ${gracePeriodMs / 1000} s`,
        ),
      ),
    ],
    fix: {
      config: { evictionHard: { ...configuration.evictionHard, 'memory.available': byDefault } },
    },
  }
}
