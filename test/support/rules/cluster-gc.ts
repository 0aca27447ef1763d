/** What the tests of these rules share: cluster gc. */

import type { ClusterFailing, ClusterRule } from '#judge/rule.ts'
import { rules } from '#judge/rules/index.ts'
import { judgeCluster } from '#judge/run/cluster-rules.ts'
import type { FinishedJob, TerminatedPod } from '#model/cluster-garbage.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ClusterExample, exampleCluster, hoursBefore } from '#test/example-cluster.ts'

export function judged(id: string, example: ClusterExample, minAgeHours = 24) {
  const rule = rules.find((each): each is ClusterRule => each.kind === 'cluster' && each.id === id)
  if (!rule) throw new Error(`no rule ${id}`)
  return judgeCluster(rule, exampleCluster(example), {
    ...defaultPolicy,
    clusterGarbage: { ...defaultPolicy.clusterGarbage, minAgeHours },
  })
}

export const failings = (...of: Parameters<typeof judged>): ClusterFailing[] =>
  judged(...of).failings

export const hours = (count: number) => hoursBefore(count)

export const job = (more: Partial<FinishedJob>): FinishedJob => ({
  ...{
    namespace: 'batch',
    name: 'j',
    controller: null,
    outcome: 'Complete',
    finishedMs: hours(100),
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
    createdMs: hours(90),
    finishedMs: hours(80),
  },
  isBeingDeleted: false,
  ...more,
})

export const pods = (...terminated: TerminatedPod[]) => ({
  pods: { terminated, threshold: { pods: 12_500, isAssumed: true }, excess: 0, terminating: [] },
})
