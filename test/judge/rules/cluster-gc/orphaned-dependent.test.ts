import { describe, expect, it } from 'vitest'
import { orphanedDependent } from '#judge/rules/cluster-gc/orphaned-dependent.ts'
import type { OwnerGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings } from '#test/rules/cluster-garbage.ts'

const none = { dangling: [], blocked: [] }

const orphan = (hoursAgo: number): OwnerGarbage['orphaned'][number] => ({
  ...{ kind: 'ReplicaSet', namespace: 'shop', name: 'cart-5f7d', controllerKind: 'Deployment' },
  ...{ createdMs: hoursBefore(hoursAgo), replicas: 2 },
})

itJudgesExamples(orphanedDependent, {
  bad: { owners: { ...none, orphaned: [orphan(700)] } },
  good: { owners: { ...none, orphaned: [orphan(1)] } },
})

describe('orphaned-dependent', () => {
  const orphan = (kind: string, name: string, replicas: number | null) => ({
    ...{
      kind,
      namespace: 'shop',
      name,
      controllerKind: 'ReplicaSet',
      createdMs: hoursBefore(900),
      replicas,
    },
  })
  const evidenceText = (...orphaned: ReturnType<typeof orphan>[]) =>
    failings('orphaned-dependent', { owners: { dangling: [], blocked: [], orphaned } })[0]
      ?.consequence
  it.each([
    ['a pod that has finished', [orphan('Pod', 'a', 0)], 'has let go.'],
    ['a pod that runs', [orphan('Pod', 'a', 1)], 'has let go; it may still run.'],
    [
      'a ReplicaSet of pods',
      [orphan('ReplicaSet', 'a', 2)],
      'has let go; pods of it may still run.',
    ],
    [
      'pods of which one runs',
      [orphan('Pod', 'a', 1), orphan('Pod', 'b', 0)],
      'has let go; 1 may still run.',
    ],
    [
      'all kinds',
      [orphan('Pod', 'a', 1), orphan('ReplicaSet', 'b', 3), orphan('Job', 'c', null)],
      'has let go; pods of 2 may still run.',
    ],
  ])('says of %s whether anything runs', (_, orphaned, words) => {
    expect(evidenceText(...orphaned)).toMatch(new RegExp(`${words.replaceAll('.', '\\.')}$`))
  })
})
