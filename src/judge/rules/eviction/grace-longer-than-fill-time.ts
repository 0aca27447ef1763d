import {
  amountLine,
  amountsOf,
  fillMs,
  float32Rounding,
  growthLine,
  highestThreshold,
  isSettableDisk,
  shownAmount,
  thresholdEvidence,
  unobserved,
  watchingThresholds,
  withEntries,
} from '#judge/help/thresholds.ts'
import {
  isLinux,
  kubeletSetting,
  line,
  lines,
  nodeRule,
  type Satisfied,
  span,
} from '#judge/rule.ts'
import { type EvaluatedThreshold, sisterSignal } from '#model/prediction.ts'

const tidySeconds = [300, 120, 90, 60, 30, 10]

export const graceLongerThanFillTime = nodeRule({
  id: 'grace-longer-than-fill-time',
  family: 'eviction',
  severity: 'medium',
  cause: kubeletSetting('evictionSoftGracePeriod'),
  needs: ['eviction'],
  policy: ['assumedGrowthPercent'],
  title: 'The disk is full before the grace period of a soft threshold is over',
  why: 'A soft threshold evicts only after it was met for its whole grace period. Where the disk grows from the soft threshold to the hard one in less time, the hard one acts first, without waiting, and the soft threshold is never more than a condition and a taint. Without a hard one the disk is full by then.',
  fix: 'Shorten evictionSoftGracePeriod of that signal, or set evictionSoft further above evictionHard. What the disk is taken to grow by is policy assumedGrowthPercent.',
  sources: [
    'pkg/kubelet/eviction/helpers.go thresholdsMetGracePeriod',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
    'kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction',
  ],
  appliesTo: isLinux,

  *judge(subject, policy) {
    const { configuration, eviction } = subject
    for (const soft of eviction.thresholds) {
      const { signal } = soft
      // eviction-due reports one that is met: a shorter period would evict sooner.
      if (soft.hard || soft.met === true || !isSettableDisk(signal)) continue
      const hard = firstHardThreshold(soft, subject)
      const capacity =
        eviction.signals[signal]?.capacityBytes ?? amountsOf(signal, subject.filesystems).capacity
      if (soft.resolved === null || hard === null || !capacity) {
        yield unobserved(subject, `how far ${signal} is from its soft threshold to the hard one`)
        continue
      }
      const between = soft.resolved - (hard?.resolved ?? 0)
      // unreachable-soft-threshold reports a soft threshold at or below the hard threshold.
      if (between <= 0) continue
      const filledMs = fillMs(between + rounding(soft) + rounding(hard), capacity, policy)
      if (soft.gracePeriodMs <= filledMs) continue
      const ends = hard
        ? `the hard threshold of ${hard.signal} evicts at once`
        : 'nothing is left, and writes fail'
      const podSeconds = configuration?.evictionMaxPodGracePeriod ?? 0
      yield {
        // The growth is assumed by the policy, not observed.
        confidence: 'likely',
        consequence: `The soft threshold waits ${span(soft.gracePeriodMs)} before it evicts anything, and only ${shownAmount(soft, between)} of ${signal} lie below it: then ${ends}. In the stress test of policy assumedGrowthPercent they are used up sooner${podSeconds > 0 ? `, and a pod then still has up to ${podSeconds} s to end` : ''}.`,
        evidence: lines(
          thresholdEvidence(soft, configuration),
          hard && thresholdEvidence(hard, configuration),
          line('computed', `grace period of ${signal}`, span(soft.gracePeriodMs)),
          amountLine(
            'computed',
            soft,
            hard ? 'between soft and hard threshold' : 'between soft threshold and full',
            between,
          ),
          line('computed', 'time to fill it at the assumed growth', span(filledMs)),
          growthLine(policy),
          podSeconds > 0 && line('configz', 'evictionMaxPodGracePeriod', `${podSeconds} s`),
        ),
        fix: shorterGrace(soft, filledMs, subject),
      }
    }
  },
})

type FillSubject = Satisfied<'eviction'>

/** The hard threshold met first on the signal's filesystem. Undefined: none. Null: unknown. */
function firstHardThreshold({ signal }: EvaluatedThreshold, subject: FillSubject) {
  const sister = sisterSignal(signal)
  const hards = watchingThresholds(signal, subject).filter(({ hard }) => hard)
  const isOpen =
    subject.filesystems.layout === null &&
    subject.eviction.thresholds.some(one => one.hard && one.signal === sister)
  return isOpen || hards.some(({ resolved }) => resolved === null) ? null : highestThreshold(hards)
}

const rounding = (threshold: EvaluatedThreshold | undefined) =>
  float32Rounding(threshold?.value ?? '', threshold?.resolved ?? 0)

/** A grace period within half the fill time: pods terminate in the rest. Undefined: none fits. */
function shorterGrace(
  { signal }: EvaluatedThreshold,
  filledMs: number,
  { configuration }: FillSubject,
) {
  const seconds = tidySeconds.find(seconds => 2000 * seconds <= filledMs)
  return seconds === undefined
    ? undefined
    : withEntries('evictionSoftGracePeriod', configuration, { [signal]: `${seconds}s` })
}
