import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { failedPod, stayingPods } from '#judge/garbage/failed-pods.ts'
import { clusterRule } from '#judge/rule.ts'

const pods = { threshold: { pods: 12_500, isAssumed: true }, excess: 0, terminating: [] }

export const evictedPods = clusterRule({
  id: 'evicted-pods',
  severity: 'low',
  needs: ['pods'],
  fate: 'with',
  docs: {
    title: 'Pods that their nodes evicted stay',
    why: 'The kubelet fails a pod that it evicts and never deletes it; a ReplicaSet makes another and leaves the old one. They pile up as fast as the pressure comes back, until pod GC takes them, evicted ones first.',
    fix: 'End the pressure that evicts (the findings of the family eviction say how), then delete what it left.',
    sources: [
      'pkg/kubelet/eviction/eviction_manager.go evictPod',
      'pkg/controller/podgc/gc_controller.go byEvictionAndCreationTimestamp',
    ],
  },
  examples: {
    bad: { pods: { ...pods, terminated: [failedPod(hoursBefore(72), 'Evicted')] } },
    good: { pods: { ...pods, terminated: [failedPod(hoursBefore(1), 'Evicted')] } },
  },

  judge: (cluster, policy) => stayingPods(cluster, policy, true),
})
