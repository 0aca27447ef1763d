import { blockedForegroundDeletion } from '#judge/rules/cluster-gc/blocked-foreground-deletion.ts'
import type { OwnerGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const none = { dangling: [], orphaned: [] }

const waiting = (hoursAgo: number): OwnerGarbage['blocked'][number] => ({
  ...{ kind: 'Deployment', namespace: 'shop', name: 'cart', sinceMs: hoursBefore(hoursAgo) },
  dependents: [
    {
      kind: 'ReplicaSet',
      namespace: 'shop',
      count: 1,
      names: ['cart-5f7d'],
      createdMs: hoursBefore(900),
    },
  ],
})

itJudgesExamples(blockedForegroundDeletion, {
  bad: { owners: { ...none, blocked: [waiting(60)] } },
  good: { owners: { ...none, blocked: [waiting(1)] } },
})
