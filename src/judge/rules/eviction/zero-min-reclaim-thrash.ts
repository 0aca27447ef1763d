import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import { hard } from '#judge/example.ts'
import { nodeRule } from '#judge/rule.ts'
import { bounded, bytes, exactBytes } from '#judge/text.ts'
import { configuredAt, whyUnobserved } from '#judge/thresholds.ts'
import { amountOf, withEntries } from '#judge/values.ts'
import type { EvaluatedThreshold, Signal } from '#model/prediction.ts'

const evictionSeconds = evictionMonitoringPeriodMs / 1000
/** Those of containerfs follow these, and cannot be set. */
const diskSignals: readonly Signal[] = ['nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree']
const reclaim = '5%'

export const zeroMinReclaimThrash = nodeRule({
  id: 'zero-min-reclaim-thrash',
  family: 'eviction',
  severity: 'medium',
  needs: ['configuration', 'eviction'],
  docs: {
    title: 'Eviction on a full disk stops right at the threshold, and starts again',
    why: 'A disk threshold is met, and its signal has no minimum reclaim. The kubelet frees just enough to be above it; the next writes meet it again, and one pod after the other goes for a few bytes each.',
    fix: 'Give the signal an entry in evictionMinimumReclaim, a few percent of the disk.',
    sources: ['pkg/kubelet/eviction/helpers.go thresholdsMet', 'pkg/kubelet/eviction/eviction_manager.go synchronize'],
  },
  examples: {
    bad: { thresholds: [hard('nodefs.available', 10, 9)] },
    good: { thresholds: [{ ...hard('nodefs.available', 10, 9), minReclaim: '5Gi' }] },
  },

  *judge(subject) {
    const { configuration, eviction } = subject
    const bare = eviction.thresholds.filter(({ signal, minReclaim }) => diskSignals.includes(signal) && isZero(minReclaim))
    const unobserved = bare.filter(({ met }) => met === null).map(({ signal }) => signal)
    if (unobserved.length > 0) yield { unknown: whyUnobserved(subject, [...new Set(unobserved)].join(', ')) }
    const met = bare.filter(threshold => threshold.met === true)
    if (met.length === 0) return
    const signals = [...new Set(met.map(({ signal }) => signal))]
    yield {
      consequence: `The kubelet frees of ${signals.join(' and ')} no more than what is missing${missing(met[0])}, looks again every ${evictionSeconds} s, and evicts again as soon as that is written.`,
      evidence: met.flatMap(threshold => [
        { what: configuredAt(threshold, configuration), value: bounded(threshold.value) },
        {
          what: `configz evictionMinimumReclaim.${threshold.signal}`,
          value: bounded(configuration.evictionMinimumReclaim?.[threshold.signal] ?? 'absent'),
        },
        ...(threshold.margin === null
          ? []
          : [{ what: `${threshold.signal} margin`, value: isCount(threshold) ? String(threshold.margin) : exactBytes(threshold.margin) }]),
      ]),
      fix: { config: withEntries('evictionMinimumReclaim', configuration, Object.fromEntries(signals.map(signal => [signal, reclaim]))) },
    }
  },
})

/** Of any capacity: what is not 0 of this one is not 0. */
const isZero = (minReclaim: string) => amountOf(minReclaim, Number.MAX_SAFE_INTEGER) === 0

const isCount = ({ signal }: EvaluatedThreshold) => signal.endsWith('.inodesFree')

const missing = (threshold: EvaluatedThreshold | undefined) =>
  threshold?.margin ? ` (${isCount(threshold) ? -threshold.margin : bytes(-threshold.margin)} now)` : ''
