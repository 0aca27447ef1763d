import { unrenewedLease } from '#judge/rules/cluster-gc/unrenewed-lease.ts'
import type { NodeLeaseGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const lease = (renewedHoursAgo: number): NodeLeaseGarbage => ({
  node: 'ip-10-0-1-2.ec2.internal',
  state: 'held',
  renewedMs: hoursBefore(renewedHoursAgo),
  isExpired: true,
})

itJudgesExamples(unrenewedLease, {
  bad: { leases: { nodes: [lease(50)] } },
  good: { leases: { nodes: [lease(0.1)] } },
})
