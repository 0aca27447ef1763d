import { evictionSeconds } from '#facts/kubelet/periods.ts'
import { memoryReason } from '#judge/help/memory-reason.ts'
import {
  amountOf,
  hardDefaults,
  highestThreshold,
  thresholdEvidence,
  unobserved,
  withEntries,
} from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  type Failing,
  isLinux,
  kubeletSetting,
  line,
  nodeRule,
  type Satisfied,
} from '#judge/rule.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'

const titles = {
  near: 'Memory is nearly used up, and eviction would begin too late',
  full: 'Memory is nearly used up',
}
/** Memory of a node counts as nearly used up with less available than this, or with less than `nearPercent` left above the threshold. */
const fullNodeThreshold = '300Mi'
const nearPercent = 2

export const memoryThresholdTooSmall = nodeRule({
  id: 'memory-threshold-too-small',
  family: 'eviction',
  severity: 'medium',
  cause: kubeletSetting('evictionHard.memory.available'),
  needs: ['configuration', 'eviction'],
  titles,
  title: 'The memory threshold is smaller than the default of the kubelet',
  why: `The eviction manager looks every ${evictionSeconds} seconds. The less memory the threshold keeps, the likelier the kernel runs out between two looks, and kills processes by its own order instead of the kubelet evicting a pod.`,
  fix: 'Set evictionHard memory.available to 100Mi or more; on large nodes with bursts a few hundred MiB.',
  sources: [
    'pkg/kubelet/eviction/defaults_linux.go DefaultEvictionHard',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { configuration, eviction, identity } = subject
    // Other rules report a threshold that is switched off or lost.
    const thresholds = eviction.thresholds.filter(({ signal }) => signal === 'memory.available')
    const isNear = thresholds.some(threshold => isNearlyMet(threshold, subject))
    const sound = isNear
      ? fullNodeThreshold
      : (hardDefaults(identity)['memory.available'] ?? '100Mi')
    const soundBytes = amountOf(sound, 0) ?? 0
    const largest = highestThreshold(thresholds)
    if (!largest) return
    if ((largest.resolved ?? 0) >= soundBytes) {
      if (isNear && subject.summary) yield fullFailing(largest, subject)
      return
    }
    if (thresholds.some(({ resolved }) => resolved === null))
      return yield unobserved(subject, 'the bytes of memory.available')
    const resolved = largest.resolved ?? 0
    yield {
      ...(isNear && {
        severity: 'high' as const,
        title: titles.near,
        steps: [{ id: 'set-fields' as const }, ...memoryReason(subject).steps],
      }),
      consequence: `Eviction for memory begins only below ${bytes(resolved)}: what is written in ${evictionSeconds} s can be more, and then the kernel's OOM killer chooses.`,
      evidence: [
        thresholdEvidence(largest, configuration),
        bytesLine('computed', 'memory.available is met below', resolved),
        line('computed', isNear ? 'enough for a full node' : "the kubelet's default", sound),
      ],
      fix: withEntries('evictionHard', configuration, { 'memory.available': sound }),
    }
  },
})

/** Whatever the threshold: who has the memory has to act. */
function fullFailing(largest: EvaluatedThreshold, subject: Satisfied<'eviction'>): Failing {
  const { margin, resolved } = largest
  return {
    ...memoryReason(subject),
    severity: 'high',
    title: titles.full,
    consequence: `${bytes(margin ?? 0)} are left before memory.available is met, and the kubelet evicts pods.`,
    evidence: [
      thresholdEvidence(largest, subject.configuration),
      bytesLine('summary', 'memory.available now', (margin ?? 0) + (resolved ?? 0)),
    ],
  }
}

function isNearlyMet(
  { signal, margin, met, resolved }: EvaluatedThreshold,
  { eviction: { signals } }: Satisfied<'eviction'>,
) {
  if (met !== false || margin === null) return false
  const availableBytes = margin + (resolved ?? 0)
  return (
    margin < (nearPercent / 100) * (signals[signal]?.capacityBytes ?? 0) ||
    availableBytes < (amountOf(fullNodeThreshold, 0) ?? 0)
  )
}
