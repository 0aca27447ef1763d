/** What the tests of these rules share: cluster gc leftovers. */

import type { ClusterRule } from '#judge/rule.ts'
import { rules } from '#judge/rules/index.ts'
import { judgeCluster } from '#judge/run/cluster-rules.ts'
import type { ReleasedVolume } from '#model/cluster-garbage.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ClusterExample, exampleCluster, hoursBefore } from '#test/example-cluster.ts'

export function judged(id: string, example: ClusterExample, policy = defaultPolicy) {
  const rule = rules.find((each): each is ClusterRule => each.kind === 'cluster' && each.id === id)
  if (!rule) throw new Error(`no rule ${id}`)
  return judgeCluster(rule, exampleCluster(example), policy)
}

export const failings = (...of: Parameters<typeof judged>) => judged(...of).failings

export const valueIn = (id: string, example: ClusterExample, what: string) =>
  failings(id, example)[0]?.evidence.find(each => each.what === what)?.value

export const volume = (more: Partial<ReleasedVolume>): ReleasedVolume => ({
  ...{
    volume: 'pv',
    claim: 'shop/data',
    storageClass: 'gp3',
    action: 'retain',
    capacityBytes: 2 ** 30,
  },
  ...{
    driver: 'ebs.csi.aws.com',
    handle: 'vol-1',
    volumeType: null,
    sinceMs: hoursBefore(100),
    createdMs: hoursBefore(2000),
  },
  isBeingDeleted: false,
  ...more,
})

export const volumes = (...released: ReleasedVolume[]) => ({ volumes: { released, held: [] } })
