import { nodeRule } from '#judge/rule.ts'
import { bounded, nameLength } from '#judge/text.ts'
import { whyUnobserved } from '#judge/thresholds.ts'
import { matchesGlob } from '#model/glob.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import type { RankedPod, Ranking } from '#model/prediction.ts'

const firstVictims = 3

const ranked = (name: string, rank: number): RankedPod => ({
  namespace: 'kube-system',
  name,
  rank,
  qos: 'BestEffort',
  priority: 0,
  usage: 1,
  request: 0,
  reason: 'uses more than it requests',
})
const plugin: KubernetesPod = {
  metadata: { namespace: 'kube-system', name: 'cni-abcde', ownerReferences: [{ kind: 'DaemonSet', name: 'cni' }] },
}
const rankings: Ranking[] = [{ signal: 'memory.available', pods: [ranked('cni-abcde', 0)] }]

export const criticalPodAmongFirstVictims = nodeRule({
  id: 'critical-pod-among-first-victims',
  family: 'eviction',
  severity: 'high',
  needs: ['eviction', 'pods'],
  docs: {
    title: 'A pod that the node needs is among the first to be evicted',
    why: "Only static pods and those of priority 2000000000 or more are safe from eviction. A DaemonSet's pod of kube-system (or one that the policy names under criticalPods) without it is evicted like any other, and here among the first three: with it go the node's network, volumes or DNS.",
    fix: 'Give it priorityClassName system-node-critical (or system-cluster-critical), and requests that cover what it uses.',
    sources: ['pkg/kubelet/eviction/helpers.go rankMemoryPressure, rankDiskPressureFunc', 'pkg/kubelet/types/pod_update.go IsCriticalPod'],
  },
  examples: {
    bad: { pods: [plugin], eviction: { rankings } },
    good: {
      pods: [plugin],
      eviction: { rankings, protected: [{ namespace: 'kube-system', name: 'cni-abcde', reason: 'critical' }] },
    },
  },

  *judge(subject, policy) {
    const { eviction, pods } = subject
    const nameOf = (namespace = '', name = '') => `${namespace}/${name}`
    const isNeeded = ({ metadata }: KubernetesPod) =>
      (metadata?.namespace === 'kube-system' && metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet')) ||
      policy.criticalPods.some(pattern => matchesGlob(pattern, nameOf(metadata?.namespace, metadata?.name)))
    const spared = new Set((eviction.protected ?? []).map(({ namespace, name }) => nameOf(namespace, name)))
    const needed = new Set(pods.filter(isNeeded).map(({ metadata }) => nameOf(metadata?.namespace, metadata?.name)))
    // Where all of them are safe, the order of the others does not matter.
    if (needed.isSubsetOf(spared)) return
    if (eviction.victims === null) yield { unknown: whyUnobserved(subject, 'in which order pods would be evicted') }
    for (const { signal, pods: order } of eviction.rankings ?? []) {
      const victims = order.filter(({ namespace, name }) => !spared.has(nameOf(namespace, name)))
      for (const pod of victims.filter(({ namespace, name }) => needed.has(nameOf(namespace, name)))) {
        const before = victims.filter(({ rank }) => rank < pod.rank).length
        if (before >= firstVictims) continue
        const name = bounded(nameOf(pod.namespace, pod.name), nameLength)
        yield {
          // Upstream has no order among equals: it can come out last of them.
          confidence: victims.filter(({ rank }) => rank <= pod.rank).length > firstVictims ? 'possible' : 'certain',
          consequence: `Under pressure of ${signal} pod ${name} is evicted as number ${before + 1}.`,
          evidence: [
            { what: `pod ${name} under ${signal}`, value: `place ${before + 1}: ${bounded(pod.reason)}` },
            { what: `pod ${name} priority`, value: String(pod.priority) },
          ],
        }
      }
    }
  },
})
