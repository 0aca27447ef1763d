import { mebibyte } from '#base/units.ts'
import {
  hardEviction,
  isTwin,
  thresholdEvidence,
  unobserved,
  withEntries,
} from '#judge/help/thresholds.ts'
import { kubeletSetting, nodeRule, shorten } from '#judge/rule.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'

/** Null: no percentage and no number of bytes. */
function doubledValue({ signal, value, resolved }: EvaluatedThreshold) {
  if (value.endsWith('%')) return `${2 * Number.parseFloat(value)}%`
  const isBytes = signal.endsWith('.available') && signal !== 'pid.available'
  return !isBytes || resolved === null ? null : `${Math.ceil((2 * resolved) / mebibyte)}Mi`
}

export const unreachableSoftThreshold = nodeRule({
  id: 'unreachable-soft-threshold',
  family: 'eviction',
  severity: 'medium',
  cause: kubeletSetting('evictionSoft'),
  needs: ['eviction'],
  title: 'A soft eviction threshold can never take effect',
  why: 'The hard threshold of the same signal is met first, so pods lose the grace period that the soft one promises.',
  fix: 'Set evictionSoft above evictionHard for that signal, or remove it.',
  sources: [
    'pkg/kubelet/eviction/helpers.go thresholdsMet',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  *judge(subject) {
    const { thresholds } = subject.eviction
    for (const soft of thresholds.filter(
      threshold => !threshold.hard && !isTwin(threshold, thresholds),
    )) {
      const sameSignal = thresholds.filter(({ hard, signal }) => hard && signal === soft.signal)
      for (const hard of sameSignal) {
        // Equal written values resolve to equal amounts, whatever the capacity.
        const isSame = hard.value === soft.value
        if (!isSame && (hard.resolved === null || soft.resolved === null)) {
          yield unobserved(subject, `which threshold of ${soft.signal} is met first`)
          continue
        }
        // Equal amounts fail too: both are met at once, and the hard threshold does not wait.
        if (!isSame && (soft.resolved ?? 0) > (hard.resolved ?? 0)) continue
        const sound = doubledValue(hard)
        yield {
          cause: kubeletSetting(`evictionSoft.${soft.signal}`),
          consequence: `Below ${shorten(hard.value)} of ${soft.signal} pods are ${hardEviction(subject.identity)}; the soft threshold's grace period of ${soft.gracePeriodMs / 1000} s never runs to its end.`,
          evidence: [
            thresholdEvidence(soft, subject.configuration),
            thresholdEvidence(hard, subject.configuration),
          ],
          ...(sound !== null && {
            steps: [{ id: 'set-fields' }],
            fix: withEntries('evictionSoft', subject.configuration, { [soft.signal]: sound }),
          }),
        }
      }
    }
  },
})
