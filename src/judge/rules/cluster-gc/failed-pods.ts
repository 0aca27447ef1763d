import { hoursBefore } from '#judge/example-cluster.ts'
import { byNamespace, controllersOf, isOld, named, namesInCommand, oldest } from '#judge/garbage.ts'
import { kubectl } from '#judge/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { byText, counted } from '#judge/text.ts'
import type { TerminatedPod } from '#model/cluster-garbage.ts'

const evicted = (hoursAgo: number): TerminatedPod => ({
  namespace: 'shop',
  name: 'cart-7d9c6bf5c8-x2x4z',
  phase: 'Failed',
  reason: 'Evicted',
  controller: { kind: 'ReplicaSet', name: 'cart-7d9c6bf5c8' },
  node: 'ip-10-0-1-2.ec2.internal',
  createdMs: hoursBefore(400),
  finishedMs: hoursBefore(hoursAgo),
})
const pods = { threshold: { pods: 12_500, isAssumed: true }, excess: 0, terminating: [] }

export const failedPods = clusterRule({
  id: 'failed-pods',
  severity: 'low',
  needs: ['pods'],
  docs: {
    title: 'Failed pods stay',
    why: 'Nothing deletes a failed pod but its own controller, and a ReplicaSet leaves it: pod GC waits for thousands in the whole cluster. Until then they fill lists, dashboards and the API server’s memory, and their logs hold disk on their nodes.',
    fix: 'Look why they failed, then delete them; where evictions made them, end the pressure that evicts (the findings of the family eviction say how).',
    sources: ['pkg/controller/podgc/gc_controller.go gcTerminated', 'pkg/controller/replicaset/replica_set.go (FilterActivePods)'],
  },
  examples: {
    bad: { pods: { ...pods, terminated: [evicted(72)] } },
    good: { pods: { ...pods, terminated: [evicted(1)] } },
  },

  *judge({ at, pods: { terminated, threshold } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const failed = terminated.filter(pod => pod.phase === 'Failed' && isOld(endOf(pod), nowMs, minAgeHours))
    for (const [subject, found] of byNamespace(failed)) {
      const { length: count } = found
      const isFew = count <= namesInCommand
      const which = isFew ? found.map(({ name }) => name) : ['--field-selector=status.phase=Failed']
      const waits = threshold.pods > 0 ? `not before more than ${threshold.pods} pods of the cluster have finished` : 'never'
      yield {
        subject,
        count,
        noun: 'failed pod',
        consequence: `${counted(count, 'failed pod')} of ${subject.name} ${count === 1 ? 'stays' : 'stay'} as long as what owns ${count === 1 ? 'it' : 'them'}: pod GC deletes ${waits}.`,
        evidence: [
          { what: 'failed pods', value: String(count) },
          { what: 'reasons', value: reasonsOf(found) },
          controllersOf(found),
          ...oldest(found.map(endOf), nowMs, 'first failed'),
          { what: 'pods', value: named(found) },
        ],
        commands: [
          kubectl('delete', 'pods', '-n', subject.name, '--dry-run=server', ...which),
          kubectl('delete', 'pods', '-n', subject.name, ...which),
        ],
      }
    }
  },
})

/** A pod that the kubelet refused has no container that ended. */
const endOf = ({ finishedMs, createdMs }: TerminatedPod): number | null => finishedMs ?? createdMs

function reasonsOf(pods: readonly TerminatedPod[]): string {
  const groups = [...Map.groupBy(pods, ({ reason }) => reason ?? 'its containers failed')]
  return groups
    .toSorted(([a, one], [b, other]) => other.length - one.length || byText(a, b))
    .slice(0, 5)
    .map(([reason, { length }]) => `${reason}: ${length}`)
    .join(', ')
}
