import { orphanedDependent } from '#judge/rules/cluster-gc/orphaned-dependent.ts'
import type { OwnerGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const none = { dangling: [], blocked: [] }

const orphan = (hoursAgo: number): OwnerGarbage['orphaned'][number] => ({
  ...{ kind: 'ReplicaSet', namespace: 'shop', name: 'cart-5f7d', controllerKind: 'Deployment' },
  ...{ createdMs: hoursBefore(hoursAgo), replicas: 2 },
})

itJudgesExamples(orphanedDependent, {
  bad: { owners: { ...none, orphaned: [orphan(700)] } },
  good: { owners: { ...none, orphaned: [orphan(1)] } },
})
