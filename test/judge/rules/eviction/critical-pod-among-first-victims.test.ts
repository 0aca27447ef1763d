import { criticalPodAmongFirstVictims } from '#judge/rules/eviction/critical-pod-among-first-victims.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import type { RankedPod, Ranking } from '#model/prediction.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

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
  metadata: {
    namespace: 'kube-system',
    name: 'cni-abcde',
    ownerReferences: [{ kind: 'DaemonSet', name: 'cni' }],
  },
}

const rankings: Ranking[] = [{ signal: 'memory.available', pods: [ranked('cni-abcde', 0)] }]

itJudgesExamples(criticalPodAmongFirstVictims, {
  bad: { pods: [plugin], eviction: { rankings } },
  good: {
    pods: [plugin],
    eviction: {
      rankings,
      protected: [{ namespace: 'kube-system', name: 'cni-abcde', reason: 'critical' }],
    },
  },
})
