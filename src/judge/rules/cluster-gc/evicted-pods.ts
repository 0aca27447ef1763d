import { endedPodFailings } from '#judge/garbage/garbage.ts'
import { clusterRule } from '#judge/rule.ts'

export const evictedPods = clusterRule({
  id: 'evicted-pods',
  severity: 'low',
  needs: ['pods'],
  fate: 'with',
  title: 'Pods that their nodes evicted stay',
  why: 'The kubelet fails a pod that it evicts and never deletes it; a ReplicaSet makes another and leaves the old one. They pile up as fast as the pressure comes back, until pod GC takes them, evicted ones first.',
  fix: 'End the pressure that evicts (the findings of the family eviction say how), then delete what it left.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go evictPod',
    'pkg/controller/podgc/gc_controller.go byEvictionAndCreationTimestamp',
  ],

  judge: (cluster, policy) => endedPodFailings(cluster, policy, true),
})
