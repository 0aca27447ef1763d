/** What tests of cluster rules share: one outcome of an example, and the objects in it. */

import type { ClusterRule } from '#judge/rule.ts'
import { rules } from '#judge/rules/index.ts'
import { judgeCluster } from '#judge/run/cluster-rules.ts'
import type { FinishedJob, ReleasedVolume, TerminatedPod } from '#model/cluster-garbage.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { type ClusterExample, exampleCluster, hoursBefore } from '#test/example-cluster.ts'

export function judged(
  id: string,
  example: ClusterExample,
  policy: Partial<Policy['clusterGarbage']> = {},
) {
  const rule = rules.find((each): each is ClusterRule => each.kind === 'cluster' && each.id === id)
  if (!rule) throw new Error(`no rule ${id}`)
  return judgeCluster(rule, exampleCluster(example), {
    ...defaultPolicy,
    clusterGarbage: { ...defaultPolicy.clusterGarbage, ...policy },
  })
}

export const failings = (...of: Parameters<typeof judged>) => judged(...of).failings

export const valueIn = (id: string, example: ClusterExample, what: string) =>
  failings(id, example)[0]?.evidence.find(each => each.what === what)?.value

export const job = (more: Partial<FinishedJob>): FinishedJob => ({
  ...{
    namespace: 'batch',
    name: 'j',
    controller: null,
    outcome: 'Complete',
    finishedMs: hoursBefore(100),
    expiresMs: null,
    ttlSeconds: null,
  },
  ...{ isBeingDeleted: false, finalizers: [] },
  ...more,
})

export const jobs = (...finished: FinishedJob[]) => ({ jobs: { finished, cronJobs: [] } })

export const pod = (more: Partial<TerminatedPod>): TerminatedPod => ({
  ...{
    namespace: 'shop',
    name: 'p',
    phase: 'Failed',
    reason: null,
    controller: null,
    node: 'n',
    createdMs: hoursBefore(90),
    finishedMs: hoursBefore(80),
  },
  isBeingDeleted: false,
  ...more,
})

export const pods = (...terminated: TerminatedPod[]) => ({
  pods: { terminated, threshold: { pods: 12_500, isAssumed: true }, excess: 0, terminating: [] },
})

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
