import { by } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { distinctRankings, evictablePods, unobserved } from '#judge/help/thresholds.ts'
import { bytes, line, nodeRule, settingIn, shortPodName } from '#judge/rule.ts'
import type { RankedPod, Signal } from '#model/prediction.ts'

/** Minimum excess in bytes of the pod that stays over the pod evicted first. Less hardly matters. */
const notableBytes = gibibyte
const shownFirsts = 3
const diskSignals: readonly Signal[] = ['nodefs.available', 'imagefs.available']

export const podsWithoutEphemeralRequestsFirst = nodeRule({
  id: 'pods-without-ephemeral-requests-first',
  family: 'eviction',
  severity: 'info',
  cause: settingIn('workload', 'resources.requests.ephemeral-storage'),
  steps: ['set-ephemeral-storage'],
  needs: ['eviction'],
  title: 'Under disk pressure small pods go first, because they request no ephemeral storage',
  why: 'A pod that uses more local storage than it requests is evicted before one that does not, whatever either holds. Without a request any byte is more. Here a pod with next to nothing on the disk goes before one that holds much, and its going frees little.',
  fix: 'Give pods an ephemeral-storage request that covers their logs, writable layers and emptyDir volumes (a LimitRange sets a default for a namespace).',
  sources: ['pkg/kubelet/eviction/helpers.go rankDiskPressureFunc, exceedDiskRequests'],

  *judge(subject) {
    const { rankings, victims } = subject.eviction
    if (!victims) yield unobserved(subject, 'in which order pods would be evicted')
    for (const { signal, pods } of distinctRankings(rankings ?? []).filter(ranking =>
      diskSignals.includes(ranking.signal),
    )) {
      const order = evictablePods(pods, subject.eviction)
      const lowest = Math.min(...order.map(({ rank }) => rank))
      const firsts = order.filter(({ rank }) => rank === lowest).toSorted(byName)
      const [first] = firsts
      if (!first || firsts.some(({ usage, request }) => usage === null || request !== 0)) continue
      const used = Math.max(...firsts.map(({ usage }) => usage ?? 0))
      // Only pods of equal priority are compared: the user intends an order by priority.
      const holding = order
        .filter(
          ({ request, priority, rank }) =>
            request > 0 && priority === first.priority && rank > lowest,
        )
        .toSorted((a, b) => (b.usage ?? 0) - (a.usage ?? 0) || byName(a, b))[0]
      if (!holding || (holding.usage ?? 0) - used < notableBytes) continue
      yield {
        consequence: `Under pressure of ${signal} ${firstOf(firsts)} is evicted first and frees at most ${bytes(used)}; ${shortPodName(holding)}, which holds ${bytes(holding.usage ?? 0)}, stays longer because of its request.`,
        evidence: [first, holding].map(ranked =>
          line(
            'computed',
            `pod ${shortPodName(ranked)} under ${signal}`,
            `uses ${bytes(ranked.usage ?? 0)}, requests ${bytes(ranked.request)}`,
          ),
        ),
      }
    }
  },
})

const byName = by<RankedPod>(
  ({ namespace }) => namespace,
  ({ name }) => name,
)

/** Upstream defines no order among pods of equal rank. */
function firstOf(firsts: readonly RankedPod[]) {
  const names = firsts.slice(0, shownFirsts).map(shortPodName).join(' or ')
  if (firsts.length === 1) return `pod ${names}`
  return `one of ${firsts.length} pods that rank alike, ${names}${firsts.length > shownFirsts ? ' or another' : ''},`
}
