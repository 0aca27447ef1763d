import { stuckFinalizer } from '#judge/rules/cluster-gc/stuck-finalizer.ts'
import type { HeldObject } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const held = (hoursAgo: number): HeldObject => ({
  ...{
    resource: 'jobs.batch',
    kind: 'Job',
    namespace: 'shop',
    name: 'import',
    sinceMs: hoursBefore(hoursAgo),
    expiresMs: null,
  },
  finalizers: [{ finalizer: 'example.com/audit', controller: null, state: 'unknown' }],
})

itJudgesExamples(stuckFinalizer, {
  bad: { finalizers: { held: [held(50)] } },
  good: { finalizers: { held: [held(1)] } },
})
