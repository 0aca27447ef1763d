import {
  byFrequency,
  byNamespace,
  controllersOf,
  isOld,
  oldest,
  reasonOf,
} from '#judge/garbage/garbage.ts'
import { whyPodStays } from '#judge/garbage/holders.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

export const podStuckTerminating = clusterRule({
  id: 'pod-stuck-terminating',
  severity: 'medium',
  needs: ['pods'],
  fate: 'held',
  title: 'Pods hang in deletion',
  why: 'A pod that is being deleted goes when its kubelet has ended it and its finalizers are gone. Where either does not come, it stays: its StatefulSet makes no other, its volumes stay attached, its node does not drain.',
  fix: 'Bring the node back or delete it; where it is off for certain, taint it node.kubernetes.io/out-of-service. Of a finalizer, look for the controller that should take it away. Delete by force only what certainly does not run.',
  sources: [
    'pkg/controller/podgc/gc_controller.go gcTerminating, gcOrphaned',
    'pkg/kubelet/kubelet_pods.go PodCouldHaveRunningContainers',
  ],

  *judge({ at, pods: { terminating } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    for (const [subject, found] of byNamespace(
      terminating.filter(({ sinceMs }) => isOld(sinceMs, nowMs, minAgeHours)),
    )) {
      const reasons = byFrequency(found, whyPodStays)
      yield {
        subject,
        count: found.length,
        noun: 'pod in deletion',
        consequence: `${counted(found.length, 'pod')} of ${subject.name} ${found.length === 1 ? 'does' : 'do'} not go: ${reasons[0]?.[0]}.`,
        evidence: [
          ...reasons.slice(0, 5).map(([reason, pods]) => reasonOf(reason, pods)),
          controllersOf(found),
          ...oldest(found, ({ sinceMs }) => sinceMs, nowMs, 'grace period was over'),
        ],
        commands: found
          .slice(0, 1)
          .map(({ name }) => kubectl('get', 'pod', said(name), '-n', subject.name, '-o', 'yaml')),
      }
    }
  },
})
