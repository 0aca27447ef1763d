import { revisionHistoryLimit } from '#facts/kubernetes/controllers.ts'
import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { byNamespace } from '#judge/garbage/garbage.ts'
import { isHistoryLeft } from '#judge/garbage/histories.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import type { HistoryGarbage } from '#model/cluster-garbage.ts'

type Deployment = HistoryGarbage['deployments'][number]

const deployment = (exceededHoursAgo: number): Deployment => ({
  namespace: 'shop',
  name: 'checkout',
  limit: 10,
  oldReplicaSets: 31,
  waitsFor: 'rollout',
  exceededSinceMs: hoursBefore(exceededHoursAgo),
  kept: 0,
})

export const revisionHistoryBeyondLimit = clusterRule({
  id: 'revision-history-beyond-limit',
  severity: 'low',
  needs: ['history'],
  docs: {
    title: 'More old revisions are kept than the history limit allows',
    why: 'A Deployment deletes its oldest ReplicaSets only when a rollout is complete, and passes over those that still have replicas: where rollouts never complete the history grows with each. StatefulSets and DaemonSets count only ControllerRevisions that no pod uses.',
    fix: 'Complete or undo the rollout that hangs. Where the limit is none or very high, set revisionHistoryLimit to what somebody would roll back to (upstream: 10).',
    sources: [
      'pkg/controller/deployment/sync.go cleanupDeployment',
      'pkg/controller/statefulset/stateful_set_control.go truncateHistory',
      'pkg/controller/daemon/update.go cleanupHistory',
    ],
  },
  examples: {
    bad: { history: { deployments: [deployment(90)], revisions: [] } },
    good: { history: { deployments: [deployment(0.2)], revisions: [] } },
  },

  *judge({ at, history: { deployments, revisions } }, { clusterGarbage: { minAgeHours } }) {
    const left = deployments.filter(each => isHistoryLeft(each, Date.parse(at), minAgeHours))
    const all = [
      ...left.map(each => ({
        ...each,
        kind: 'deployment',
        excess: each.oldReplicaSets - (each.limit ?? revisionHistoryLimit),
        words: wordsOf(each),
      })),
      ...revisions.map(({ namespace, name, kind, limit, excess }) => ({
        ...{ namespace, name, kind: kind.toLowerCase(), excess, limit },
        words: `${kind} ${name}: ${excess} ControllerRevisions beyond ${limit}, if no pod uses them`,
      })),
    ]
    for (const [subject, found] of byNamespace(all)) {
      const count = found.reduce((sum, { excess }) => sum + excess, 0)
      const [first] = found.toSorted((a, b) => b.excess - a.excess)
      const isOpen = found.every(({ kind }) => kind !== 'deployment')
      yield {
        subject,
        count,
        noun: 'old revision',
        ...(isOpen && { confidence: 'possible' as const }),
        consequence: `${counted(found.length, 'workload')} of ${subject.name} ${found.length === 1 ? 'keeps' : 'keep'} ${counted(count, 'old revision')} beyond the limit, and with each rollout more.`,
        evidence: found.slice(0, 10).map(({ words }) => line('object', 'history', words)),
        commands: first
          ? [
              kubectl(
                'rollout',
                'status',
                said(`${first.kind}/${first.name}`),
                '-n',
                subject.name,
                '--timeout=5s',
              ),
            ]
          : [],
      }
    }
  },
})

const because: Record<Deployment['waitsFor'], string> = {
  nothing: 'nothing that shows holds them',
  deletion: 'the Deployment is being deleted',
  rollout: 'its rollout is not complete',
}

function wordsOf({ name, limit, oldReplicaSets, waitsFor, kept }: Deployment): string {
  const why =
    limit === null
      ? 'there is no limit'
      : kept > 0
        ? `${kept} have replicas or a status that is not current`
        : because[waitsFor]
  return `Deployment ${name}: ${oldReplicaSets} old ReplicaSets, limit ${limit ?? 'none'}: ${why}`
}
