import { usedPercentOf } from '#base/percent.ts'
import { nodeReclaimKinds, type ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import {
  amountLine,
  amountsOf,
  evictablePods,
  fillMs,
  growthLine,
  shownAmount,
  thresholdEvidence,
  unobserved,
  watchingThresholds,
  whyUnobserved,
} from '#judge/help/thresholds.ts'
import {
  type Failing,
  isLinux,
  line,
  lines,
  nodeRule,
  percent,
  type Satisfied,
  shortPodName,
  span,
  worldCause,
} from '#judge/rule.ts'
import type { Policy } from '#model/policy.ts'
import type { EvaluatedThreshold, Signal } from '#model/prediction.ts'

type OrderSubject = Satisfied<'imageGC' | 'eviction'>

const firstVictims = 3

export const imageGcNeverFirst = nodeRule({
  id: 'image-gc-never-first',
  family: 'image-gc',
  severity: 'medium',
  cause: worldCause('growth'),
  steps: ['look-on-node'],
  needs: ['imageGC', 'eviction'],
  policy: ['alertPercent', 'assumedGrowthPercent'],
  title: 'What fills up is nothing that image garbage collection looks at: eviction comes first',
  why: 'Image GC looks at the bytes of the image filesystem, and at nothing else. Where nodefs is a filesystem of its own, or inodes run out before bytes do, no collection starts on the way: the first that acts is the eviction manager.',
  fix: 'Find what grows there (container logs, emptyDir volumes, files of the host; for inodes many small files) and make room or take a larger disk before the threshold is met. No image GC percentage helps. Policy alertPercent says from which use on it counts.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go GarbageCollect',
    'pkg/kubelet/eviction/helpers.go buildSignalToNodeReclaimFuncs, makeSignalObservations',
    'kubernetes/kubernetes#21546',
  ],
  appliesTo: isLinux,

  *judge(subject, policy) {
    for (const signal of ['nodefs.available', 'nodefs.inodesFree', 'imagefs.inodesFree'] as const) {
      const threshold = firstThreshold(signal, subject)
      // eviction-due reports a met threshold, and the unwatched-* rules report a missing one.
      if (threshold === undefined) continue
      const use = useOf(signal, subject)
      if (!use || !threshold) {
        yield unobserved(subject, `how much of ${signal} is left`)
        continue
      }
      if (use.usedPercent < policy.alertPercent) continue
      const isSeen = isSeenByImageGc(signal, subject)
      if (isSeen === null)
        yield {
          unknown: `whether image GC looks at ${signal}: ${whyUnobserved(subject, 'the layout of the filesystems')}`,
        }
      else if (!isSeen)
        yield { ...diskReason(subject, signal), ...failing(threshold, use, subject, policy) }
    }
  },
})

/**
 * The next threshold to be met on the filesystem of `signal`. A shared disk counts as nodefs.
 * Undefined: no threshold, or one is met already. Null: not observed.
 */
function firstThreshold(signal: Signal, subject: OrderSubject) {
  if (subject.filesystems.layout === 'shared' && signal === 'imagefs.inodesFree') return undefined
  const watching = watchingThresholds(signal, subject)
  if (watching.some(({ met }) => met === true)) return undefined
  if (watching.some(({ met, margin }) => met === null || margin === null)) return null
  return watching.toSorted((a, b) => (a.margin ?? 0) - (b.margin ?? 0))[0]
}

type Use = NonNullable<ReturnType<typeof useOf>>

function useOf(signal: Signal, { filesystems }: OrderSubject) {
  const { capacity, free } = amountsOf(signal, filesystems)
  return capacity == null || free == null
    ? null
    : { capacity, free, usedPercent: usedPercentOf(capacity, free) ?? 0 }
}

/** True if image GC measures the signal's bytes, or a round is due there anyway. Null: unknown. */
function isSeenByImageGc(signal: Signal, { filesystems: { layout }, imageGC }: OrderSubject) {
  if (layout === null && signal !== 'imagefs.inodesFree')
    return signal === 'nodefs.available' || imageGC.triggered === true ? null : false
  if (signal === 'nodefs.available') return layout === 'shared'
  return imageGC.triggered === true && (layout === 'shared' || signal === 'imagefs.inodesFree')
}

function failing(
  threshold: EvaluatedThreshold,
  { capacity, free, usedPercent }: Use,
  subject: OrderSubject,
  policy: Policy,
): Failing {
  const { configuration, eviction, filesystems } = subject
  const { signal } = threshold
  const margin = threshold.margin ?? 0
  const inMs = fillMs(margin, capacity, policy)
  const kinds =
    filesystems.layout &&
    nodeReclaimKinds[filesystems.layout][signal.startsWith('nodefs.') ? 'nodefs' : 'imagefs']
  const ranked = eviction.rankings?.find(ranking => ranking.signal === signal)?.pods ?? []
  const victims = evictablePods(ranked, eviction).slice(0, firstVictims).map(shortPodName)
  const collects = kinds ? collectsText(kinds) : ''
  const evicts =
    victims.length === 0 ? '' : `${collects === '' ? ' It' : ', then'} evicts ${victims.join(', ')}`
  return {
    confidence:
      signal === 'nodefs.inodesFree' || filesystems.layoutCertainty === 'certain'
        ? 'certain'
        : 'likely',
    consequence: `${signal} has ${shownAmount(threshold, margin)} left before the ${threshold.hard ? 'hard' : 'soft'} threshold, and image GC does not look at it: the kubelet then reports DiskPressure.${collects}${evicts}${collects || evicts ? '.' : ''}`,
    evidence: lines(
      thresholdEvidence(threshold, configuration),
      line(
        'computed',
        `${signal} used`,
        `${percent(usedPercent)} of ${shownAmount(threshold, capacity)}`,
      ),
      amountLine('summary', threshold, 'now', free),
      amountLine('computed', threshold, 'margin', margin),
      Number.isFinite(inMs) && line('computed', 'met at the assumed growth in', span(inMs)),
      growthLine(policy),
      line('policy', 'policy alertPercent', policy.alertPercent),
      line('computed', 'filesystems', filesystems.layout ?? 'layout not known'),
      kinds !== null &&
        line('computed', 'collected before pods are evicted', kinds.join(', ') || 'nothing'),
      victims.length > 0 && line('computed', 'evicted first', victims.join(', ')),
    ),
  }
}

function collectsText(kinds: readonly ReclaimKind[]) {
  if (kinds.length === 0) return ' It collects nothing there first'
  const names = kinds.map(kind => (kind === 'containers' ? 'dead containers' : 'unused images'))
  return ` It deletes ${names.join(' and ')} first`
}
