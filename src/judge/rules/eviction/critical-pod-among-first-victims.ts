import { matchesGlob } from '#base/text.ts'
import { distinctRankings, unobserved } from '#judge/help/thresholds.ts'
import {
  line,
  nodeRule,
  podName,
  type Satisfied,
  seenFirst,
  settingIn,
  shorten,
  shortPodName,
} from '#judge/rule.ts'
import { controllerReferenceOf, type KubernetesPod } from '#model/input/record.ts'
import { conditionOf, type Signal } from '#model/prediction.ts'

const firstVictims = 3
/** Share of the capacity above a threshold. From there on no pressure is near. */
const farShare = 0.2

export const criticalPodAmongFirstVictims = nodeRule({
  id: 'critical-pod-among-first-victims',
  family: 'eviction',
  severity: 'high',
  cause: settingIn('workload', 'priorityClassName'),
  needs: ['eviction', 'pods'],
  policy: ['criticalPods'],
  title: 'A pod that the node needs is among the first to be evicted',
  why: "Only static pods and those of priority 2000000000 or more are safe from eviction. A DaemonSet's pod of kube-system (or one that the policy names under criticalPods) without it is evicted like any other, and here among the first three: with it go the node's network, volumes or DNS.",
  fix: 'Give it priorityClassName system-node-critical (or system-cluster-critical), and requests that cover what it uses.',
  sources: [
    'pkg/kubelet/eviction/helpers.go rankMemoryPressure, rankDiskPressureFunc',
    'pkg/kubelet/types/pod_update.go IsCriticalPod',
  ],

  *judge(subject, policy) {
    const { eviction, pods } = subject
    const isNeeded = (pod: KubernetesPod) =>
      (pod.metadata?.namespace === 'kube-system' &&
        controllerReferenceOf(pod)?.kind === 'DaemonSet') ||
      policy.criticalPods.some(pattern => matchesGlob(pattern, podName(pod.metadata)))
    const spared = new Set((eviction.protected ?? []).map(podName))
    const needed = new Set(pods.filter(isNeeded).map(({ metadata }) => podName(metadata)))
    // If every needed pod is protected, the order of the other pods does not matter.
    if (needed.isSubsetOf(spared)) return
    if (!eviction.victims) yield unobserved(subject, 'in which order pods would be evicted')
    const places = distinctRankings(eviction.rankings ?? []).flatMap(({ signal, pods: order }) => {
      const victims = order.filter(pod => !spared.has(podName(pod)))
      return victims.flatMap(pod => {
        const before = victims.filter(({ rank }) => rank < pod.rank).length
        if (before >= firstVictims || !needed.has(podName(pod))) return []
        return [
          { signal, pod, before, upTo: victims.filter(({ rank }) => rank <= pod.rank).length },
        ]
      })
    })
    const alike = Map.groupBy(places, ({ pod, before, upTo }) =>
      JSON.stringify([podName(pod), before, upTo, pod.reason]),
    )
    for (const same of alike.values()) {
      const { pod, before, upTo } = same[0]!
      const name = shortPodName(pod)
      const signals = same.map(({ signal }) => signal).join(', ')
      yield {
        ...(!same.some(({ signal }) => isNear(signal, subject)) && { severity: 'low' as const }),
        // Upstream might evict the other pods of equal rank first.
        confidence: upTo > firstVictims ? 'possible' : 'certain',
        ...seenFirst(`Under pressure of ${signals} pod ${name} ${placeText(before, upTo)}.`),
        evidence: [
          line(
            'computed',
            `pod ${name} under ${signals}`,
            `place ${before + 1}${upTo > before + 1 ? ` to ${upTo}` : ''}: ${shorten(pod.reason)}`,
          ),
          line('object', `pod ${name} priority`, pod.priority),
        ],
      }
    }
  },
})

/** Whether pressure of that kind is reported, or no threshold of it is known to be far. */
const isNear = (signal: Signal, { eviction, conditions }: Satisfied<'eviction'>): boolean =>
  conditions[conditionOf(signal)] === 'True' ||
  eviction.thresholds.some(
    one =>
      one.signal === signal &&
      (one.margin === null ||
        one.margin < farShare * (eviction.signals[signal]?.capacityBytes ?? Infinity)),
  )

/** Upstream defines no order among pods of equal rank. */
function placeText(before: number, upTo: number) {
  if (upTo === before + 1) return `is evicted as number ${upTo}`
  const among =
    upTo > firstVictims ? `may be among the first ${firstVictims}` : `is among the first ${upTo}`
  return `${among} to be evicted: ${upTo - before} rank alike, and the kubelet has no order among them`
}
