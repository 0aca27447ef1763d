import { danglingOwner } from '#judge/rules/cluster-gc/dangling-owner.ts'
import type { OwnerGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const group = (hoursAgo: number): OwnerGarbage['dangling'][number] => ({
  ...{
    kind: 'ReplicaSet',
    namespace: 'shop',
    count: 1,
    names: ['cart-5f7d'],
    createdMs: hoursBefore(hoursAgo),
  },
  ...{ owner: 'Deployment cart', isReplaced: true, confidence: 'certain' },
})

const none = { blocked: [], orphaned: [] }

itJudgesExamples(danglingOwner, {
  bad: { owners: { ...none, dangling: [group(500)] } },
  good: { owners: { ...none, dangling: [group(3)] } },
})
