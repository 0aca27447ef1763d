import { agoMs, recentEvents, unreadEvents } from '#judge/events/events.ts'
import { amountOf, shownAmount, staleConditionMs } from '#judge/help/thresholds.ts'
import { contextRule, line, type Satisfied, seenFirst, span, worldCause } from '#judge/rule.ts'
import { conditionOf, type EvaluatedThreshold, type EvictionPrediction } from '#model/prediction.ts'

export const pressureStays = contextRule({
  id: 'pressure-stays',
  family: 'eviction',
  severity: 'high',
  cause: worldCause('pressure-stays'),
  steps: ['restart-kubelet', 'read-journal'],
  needs: ['eviction'],
  title: 'The node reports pressure, and no threshold is met',
  why: 'The kubelet ends a condition when no threshold was met for evictionPressureTransitionPeriod. Until then the node has a taint, and refuses pods. The taint comes back if it is removed by hand, because the condition is still there.',
  fix: 'Restart the kubelet: it measures anew. If the pressure returns, something fills and empties the node in turn.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
    'pkg/kubelet/eviction/helpers.go nodeConditionsObservedSince',
    'kubernetes/kubernetes#83668',
  ],

  fact: subject => lastingConditions(subject),

  *judge(staying, { events, at, why, failed }) {
    const isMetAgain = recentEvents(events, at, ['EvictionThresholdMet']).length > 0
    for (const { condition, since, settled, nearest } of staying) {
      const ageMs = agoMs(since, at) ?? 0
      if (ageMs < settled || isMetAgain) continue
      if (!events) yield { unknown: why('events') }
      else
        yield {
          confidence: 'likely',
          ...seenFirst(`${condition} stays for ${span(ageMs)}, and pods are refused: ${nearest}.`),
          evidence: [
            line('node', `condition ${condition} is True since`, since),
            line('computed', 'nearest threshold', nearest),
          ],
        }
    }
    yield* unreadEvents({ failed })
  },
})

/** Conditions whose thresholds, with what they reclaim at least, are all not met. */
function lastingConditions({ node, eviction, configuration }: Satisfied<'eviction'>) {
  const settled = staleConditionMs(configuration)
  const byCondition = Map.groupBy(eviction.thresholds, ({ signal }) => conditionOf(signal))
  return [...byCondition].flatMap(([condition, own]) => {
    const since = node.status?.conditions?.find(
      ({ type, status }) => type === condition && status === 'True',
    )?.lastTransitionTime
    const [nearest] = own.toSorted((a, b) => roomOf(a, eviction) - roomOf(b, eviction))
    if (since === undefined || settled === null || nearest?.resolved == null) return []
    if (roomOf(nearest, eviction) <= 0) return []
    const { signal, resolved, margin } = nearest
    const [now, least] = [resolved + (margin ?? 0), resolved].map(one => shownAmount(nearest, one))
    const text = `${signal} is ${now}, above its threshold of ${least}`
    return [{ condition, since, settled, nearest: text }]
  })
}

/** Share of the capacity above the threshold and what it reclaims at least. 0: unknown. */
function roomOf(
  { signal, margin, minReclaim }: EvaluatedThreshold,
  { signals }: EvictionPrediction,
) {
  const capacity = signals[signal]?.capacityBytes ?? 0
  if (margin === null || capacity === 0) return 0
  return (margin - (amountOf(minReclaim, capacity) ?? 0)) / capacity
}
