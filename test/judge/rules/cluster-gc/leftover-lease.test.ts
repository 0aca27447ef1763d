import { leftoverLease } from '#judge/rules/cluster-gc/leftover-lease.ts'
import type { NodeLeaseGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const lease = (renewedHoursAgo: number): NodeLeaseGarbage => ({
  node: 'ip-10-0-9-9.ec2.internal',
  state: 'leftover',
  renewedMs: hoursBefore(renewedHoursAgo),
  isExpired: true,
})

itJudgesExamples(leftoverLease, {
  bad: { leases: { nodes: [lease(900)] } },
  good: { leases: { nodes: [{ ...lease(2), state: 'collectable' }] } },
})
