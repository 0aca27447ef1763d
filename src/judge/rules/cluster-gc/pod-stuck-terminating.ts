import {
  ageEvidence,
  byFrequency,
  controllersOf,
  garbageIn,
  getYaml,
  oldItems,
  reasonOf,
  whyPodStays,
} from '#judge/garbage/garbage.ts'
import { clusterRule } from '#judge/rule.ts'

export const podStuckTerminating = clusterRule({
  id: 'pod-stuck-terminating',
  severity: 'medium',
  needs: ['pods'],
  fate: 'held',
  title: 'Pods are stuck in Terminating',
  why: 'A pod that is being deleted goes when its kubelet has ended it and its finalizers are gone. Where either does not come, it stays: its StatefulSet makes no other, its volumes stay attached, its node does not drain.',
  fix: 'Bring the node back or delete it; where it is off for certain, taint it node.kubernetes.io/out-of-service. Of a finalizer, look for the controller that should take it away. Delete by force only what certainly does not run.',
  sources: [
    'pkg/controller/podgc/gc_controller.go gcTerminating, gcOrphaned',
    'pkg/kubelet/kubelet_pods.go PodCouldHaveRunningContainers',
  ],

  *judge({ cluster, at, pods: { terminating } }, { minAgeHours }) {
    const left = oldItems(terminating, 'sinceMs', at, minAgeHours)
    yield* garbageIn(cluster, 'pod in deletion', left, (found, { all, one }) => {
      const reasons = byFrequency(found, whyPodStays)
      return {
        consequence: `${all('pod')} ${one('does', 'do')} not go: ${reasons[0]?.[0]}.`,
        evidence: [
          ...reasons.slice(0, 5).map(([reason, pods]) => reasonOf(reason, pods)),
          controllersOf(found),
          ...ageEvidence(found, 'sinceMs', at, 'grace period was over'),
        ],
        commands: [getYaml('pod', found[0])],
      }
    })
  },
})
