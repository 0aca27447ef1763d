import { endedPodFailings } from '#judge/garbage/garbage.ts'
import { clusterRule } from '#judge/rule.ts'

export const failedPods = clusterRule({
  id: 'failed-pods',
  severity: 'low',
  needs: ['pods'],
  fate: 'with',
  title: 'Failed pods stay',
  why: 'Nothing deletes a failed pod but its own controller, and a ReplicaSet leaves it: pod GC waits for thousands in the whole cluster. Until then they fill lists and dashboards, and their logs hold disk on their nodes.',
  fix: 'Look why they failed, then delete them, or what made them.',
  sources: [
    'pkg/controller/podgc/gc_controller.go gcTerminated',
    'pkg/controller/controller_utils.go FilterActivePods',
  ],

  judge: (cluster, policy) => endedPodFailings(cluster, policy, false),
})
