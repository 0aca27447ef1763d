import { configuredAt, whyUnobserved } from '#judge/help/thresholds.ts'
import { amountOf, float32Rounding, withEntries } from '#judge/help/values.ts'
import { line, nodeRule } from '#judge/rule.ts'
import { kubeletSetting } from '#judge/subject/settings.ts'
import { bounded } from '#judge/text.ts'
import { canBeMet } from '#model/kubelet/watched-signals.ts'

export const unreachableMinReclaim = nodeRule({
  id: 'unreachable-min-reclaim',
  family: 'eviction',
  severity: 'high',
  cause: kubeletSetting('evictionMinimumReclaim'),
  needs: ['configuration', 'eviction'],
  title: 'A minimum reclaim asks for more than there is',
  why: 'Once its threshold is met, a signal counts as met until threshold and minimum reclaim together are available. Where that is the whole capacity or more it never is: the kubelet evicts every pod that it may, and the condition stays.',
  fix: 'Lower evictionMinimumReclaim of that signal to a few percent of the capacity.',
  sources: [
    'pkg/kubelet/eviction/helpers.go thresholdsMet',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  *judge(subject) {
    const { configuration, eviction } = subject
    for (const threshold of eviction.thresholds.filter(canBeMet)) {
      const { signal, minReclaim, resolved } = threshold
      const configured = configuration.evictionMinimumReclaim?.[signal]
      // Derived thresholds (containerfs, allocatable memory) repeat the finding of their source.
      if (configured === undefined) continue
      const capacity = eviction.signals[signal]?.capacityBytes
      const amount = amountOf(minReclaim, capacity ?? 0)
      if (!capacity || resolved === null || amount === null) {
        yield { unknown: whyUnobserved(subject, `the capacity of ${signal}`) }
        continue
      }
      // A sum equal to the capacity as written fails too: nothing is ever completely unused.
      if (
        resolved +
          amount +
          float32Rounding(threshold.value, resolved) +
          float32Rounding(minReclaim, amount) <
        capacity
      )
        continue
      yield {
        consequence: `Once ${signal} falls below ${bounded(threshold.value)} it stays met until ${resolved + amount} are available, of ${capacity} in all: the kubelet evicts pod after pod and never comes out of it.`,
        evidence: [
          configuredAt(threshold, configuration),
          line('configz', `evictionMinimumReclaim.${signal}`, configured),
          line('computed', `${signal} needed to end it`, resolved + amount),
          line('summary', `${signal} capacity`, capacity),
        ],
        fix: { config: withEntries('evictionMinimumReclaim', configuration, { [signal]: '5%' }) },
      }
    }
  },
})
