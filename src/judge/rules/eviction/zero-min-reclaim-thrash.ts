import { durationMs } from '#base/go/duration.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { evictionSeconds } from '#facts/kubelet/periods.ts'
import { isOfImages, mostOf } from '#judge/help/holder-cause.ts'
import {
  amountLine,
  amountOf,
  assumedGrowth,
  entryLine,
  evictablePods,
  isSettableDisk,
  shownAmount,
  thresholdEvidence,
  unobserved,
  withEntries,
} from '#judge/help/thresholds.ts'
import { type Failing, kubeletSetting, lines, nodeRule, type Satisfied, span } from '#judge/rule.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { conditionOf, type EvaluatedThreshold } from '#model/prediction.ts'

const reclaimShare = 0.05
const reclaim = `${100 * reclaimShare}%`

export const zeroMinReclaimThrash = nodeRule({
  id: 'zero-min-reclaim-thrash',
  family: 'eviction',
  severity: 'medium',
  cause: kubeletSetting('evictionMinimumReclaim'),
  needs: ['configuration', 'eviction'],
  title: 'Eviction on a full disk stops right at the threshold, and starts again',
  why: 'A disk threshold is met, or was met so lately that DiskPressure still stands, and its signal has no minimum reclaim. The kubelet frees just enough to be above it; the next writes meet it again, and one pod after the other goes for a few bytes each.',
  fix: 'Give the signal an entry in evictionMinimumReclaim, a few percent of the disk.',
  sources: [
    'pkg/kubelet/eviction/helpers.go thresholdsMet',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
    'pkg/kubelet/eviction/helpers.go nodeConditionsObservedSince',
  ],

  *judge(subject, policy) {
    const { configuration, eviction, conditions } = subject
    const bare = eviction.thresholds.filter(
      ({ signal, minReclaim }) => isSettableDisk(signal) && isZero(minReclaim),
    )
    const open = bare.filter(({ met }) => met === null).map(({ signal }) => signal)
    if (open.length > 0) yield unobserved(subject, [...new Set(open)].join(', '))
    const met = bare.filter(
      threshold => threshold.met === true && canReachThreshold(threshold, subject),
    )
    if (met.length > 0) yield failing(met, configuration, freesTooLittle(met))
    // Only DiskPressure that outlasts its cause counts here. Lasting pressure is another finding.
    const isOver =
      conditions.DiskPressure === 'True' &&
      !eviction.thresholds.some(
        ({ signal, met }) => met !== false && conditionOf(signal) === 'DiskPressure',
      )
    if (!isOver || bare.length === 0) return
    const periodMs = transitionMs(configuration)
    if (periodMs === null)
      return yield { unknown: 'configz: evictionPressureTransitionPeriod is no duration' }
    const near: EvaluatedThreshold[] = []
    for (const threshold of bare.filter(({ met }) => met === false)) {
      const capacity = eviction.signals[threshold.signal]?.capacityBytes
      if (!capacity || threshold.margin === null)
        yield unobserved(subject, `the capacity of ${threshold.signal}`)
      else if (threshold.margin < assumedGrowth(periodMs, capacity, policy)) near.push(threshold)
    }
    if (near.length === 0) return
    const margins = near.map(
      threshold => `${shownAmount(threshold, threshold.margin ?? 0)} of ${threshold.signal}`,
    )
    yield {
      ...failing(
        near,
        configuration,
        `The node still reports DiskPressure, and only ${margins.join(' and ')} are left above the threshold: in the stress test of policy assumedGrowthPercent it is met again before the ${span(periodMs)} of its transition period are over, and pods are evicted for a few bytes again.`,
      ),
      // The growth is assumed, and the threshold that was met is no longer visible.
      confidence: 'likely',
      title: 'Eviction stopped right at the threshold, and is about to start again',
    }
  },
})

/** Whether evicting all evictable pods would bring the signal above its threshold, and as far as the fix wants: else pressure would not end. */
function canReachThreshold(
  { signal, margin }: EvaluatedThreshold,
  { eviction, ledger }: Satisfied<'eviction'>,
): boolean {
  const ranking = eviction.rankings?.find(one => one.signal === signal)
  const pods = ranking && evictablePods(ranking.pods, eviction)
  if (pods?.length === 0) return false
  if (!pods || !ledger || !signal.endsWith('.available')) return true
  const { unusedImageBytes, deadContainerBytes } = ledger.freeable
  const most = ledger.filesystems.reduce((sum, disk) => sum + mostOf(disk, isOfImages), 0)
  const images = unusedImageBytes ?? most
  const amounts = [images, deadContainerBytes ?? 0, ...pods.map(({ usage }) => usage)]
  const reclaimable = amounts.reduce<number>((sum, amount) => sum + (amount ?? Infinity), 0)
  const { capacityBytes = 0 } = eviction.signals[signal] ?? {}
  return reclaimable >= reclaimShare * (capacityBytes ?? 0) - (margin ?? 0)
}

const transitionMs = ({ evictionPressureTransitionPeriod }: KubeletConfiguration) =>
  durationMs(
    evictionPressureTransitionPeriod ?? configurationDefaults.evictionPressureTransitionPeriod,
  )

function failing(
  thresholds: EvaluatedThreshold[],
  configuration: KubeletConfiguration,
  consequence: string,
): Failing {
  const signals = [...new Set(thresholds.map(({ signal }) => signal))]
  return {
    consequence,
    evidence: thresholds.flatMap(threshold =>
      lines(
        thresholdEvidence(threshold, configuration),
        entryLine('evictionMinimumReclaim', threshold.signal, configuration),
        threshold.margin !== null && amountLine('computed', threshold, 'margin', threshold.margin),
      ),
    ),
    fix: withEntries(
      'evictionMinimumReclaim',
      configuration,
      Object.fromEntries(signals.map(signal => [signal, reclaim])),
    ),
  }
}

function freesTooLittle(met: EvaluatedThreshold[]) {
  const signals = [...new Set(met.map(({ signal }) => signal))]
  return `The kubelet frees of ${signals.join(' and ')} no more than what is missing${missingText(met[0])}, looks again every ${evictionSeconds} s, and evicts again as soon as that is written.`
}

/** The largest capacity keeps every percentage above 0 from becoming 0. */
const isZero = (minReclaim: string) => amountOf(minReclaim, Number.MAX_SAFE_INTEGER) === 0

const missingText = (threshold: EvaluatedThreshold | undefined) =>
  threshold?.margin ? ` (${shownAmount(threshold, -threshold.margin)} now)` : ''
