import { diskReason } from '#judge/help/disk-reason.ts'
import {
  amountLine,
  amountOf,
  float32Rounding,
  shownAmount,
  thresholdEvidence,
  unobserved,
  withEntries,
} from '#judge/help/thresholds.ts'
import {
  type Failing,
  kubeletSetting,
  line,
  nodeRule,
  type Satisfied,
  seenFirst,
  shorten,
} from '#judge/rule.ts'
import { conditionOf, type EvaluatedThreshold, type Signal } from '#model/prediction.ts'

const titles = { unfinished: 'A minimum reclaim keeps the node under DiskPressure' }

export const unreachableMinReclaim = nodeRule({
  id: 'unreachable-min-reclaim',
  family: 'eviction',
  severity: 'high',
  cause: kubeletSetting('evictionMinimumReclaim'),
  needs: ['configuration', 'eviction'],
  titles,
  title: 'A minimum reclaim asks for more than there is',
  why: 'Once its threshold is met, a signal counts as met until threshold and minimum reclaim together are available. Where that is the whole capacity or more it never is: the kubelet evicts every pod that it may, and the condition stays.',
  fix: 'Lower evictionMinimumReclaim of that signal to a few percent of the capacity.',
  sources: [
    'pkg/kubelet/eviction/helpers.go thresholdsMet',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  *judge(subject) {
    const { configuration, eviction } = subject
    yield* unfinishedReclaim(subject)
    for (const threshold of eviction.thresholds) {
      const { signal, minReclaim, resolved } = threshold
      const { configured, capacity, amount, evidence } = reclaimOf(threshold, subject)
      // Derived thresholds (containerfs, allocatable memory) repeat the finding of their source.
      if (configured === undefined) continue
      if (!capacity || resolved === null || amount === null) {
        yield unobserved(subject, `the capacity of ${signal}`)
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
        consequence: `Once ${signal} falls below ${shorten(threshold.value)} it stays met until ${shownAmount(threshold, resolved + amount)} are available, of ${shownAmount(threshold, capacity)} in all: the kubelet evicts pod after pod and never comes out of it.`,
        evidence: [...evidence(), amountLine('summary', threshold, 'capacity', capacity)],
        fix: withEntries('evictionMinimumReclaim', configuration, { [signal]: '5%' }),
      }
    }
  },
})

function reclaimOf(
  threshold: EvaluatedThreshold,
  { configuration, eviction }: Satisfied<'configuration' | 'eviction'>,
) {
  const { signal, minReclaim, resolved } = threshold
  const configured = configuration.evictionMinimumReclaim?.[signal]
  const capacity = eviction.signals[signal]?.capacityBytes
  const amount = amountOf(minReclaim, capacity ?? 0)
  const evidence = () => [
    thresholdEvidence(threshold, configuration),
    line('configz', `evictionMinimumReclaim.${signal}`, configured ?? ''),
    amountLine('computed', threshold, 'needed to end it', (resolved ?? 0) + (amount ?? 0)),
  ]
  return { configured, capacity, amount, evidence }
}

/** Percent of the capacity that the fix sets, if that is free already. */
const reclaimPercent = { most: 5, least: 1 }

/** DiskPressure that no threshold explains by itself, only with its minimum reclaim. */
function* unfinishedReclaim(subject: Satisfied<'configuration' | 'eviction'>): Iterable<Failing> {
  const { configuration, eviction, conditions } = subject
  const ofDisk = eviction.thresholds.filter(({ signal }) => conditionOf(signal) === 'DiskPressure')
  if (conditions.DiskPressure !== 'True' || ofDisk.some(({ met }) => met !== false)) return
  for (const threshold of ofDisk) {
    const { signal, resolved, margin } = threshold
    const { configured, capacity, amount, evidence } = reclaimOf(threshold, subject)
    if (configured === undefined || !capacity || !amount || resolved === null || margin === null)
      continue
    const marginPercent = Math.floor((100 * margin) / capacity)
    if (margin >= amount) continue
    const percent = Math.min(reclaimPercent.most, marginPercent)
    const amountText = (count: number) => shownAmount(threshold, count)
    yield {
      severity: 'critical',
      confidence: 'likely',
      title: titles.unfinished,
      ...seenFirst(
        `${signal} is ${amountText(resolved + margin)}, above the threshold of ${amountText(resolved)}. The kubelet ends DiskPressure only at ${amountText(resolved + amount)}.`,
        'Until then it refuses pods, deletes unused images and evicts pods.',
      ),
      evidence: [
        ...evidence(),
        amountLine('computed', threshold, 'now', resolved + margin),
        line('node', 'node condition DiskPressure', 'True'),
      ],
      // No percentage is as small as what is free above the threshold: room ends it.
      ...(marginPercent < reclaimPercent.least
        ? reasonOf(subject, signal)
        : {
            cause: kubeletSetting(`evictionMinimumReclaim.${signal}`),
            fix: withEntries('evictionMinimumReclaim', configuration, { [signal]: `${percent}%` }),
          }),
    }
  }
}

function reasonOf(subject: Satisfied<'eviction'>, signal: Signal): Partial<Failing> {
  const { cause, steps } = diskReason(subject, signal) ?? {}
  return { ...(cause && { cause }), ...(steps && { steps }) }
}
