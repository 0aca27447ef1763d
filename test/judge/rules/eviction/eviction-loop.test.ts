import { evictionLoop } from '#judge/rules/eviction/eviction-loop.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const evicted = (suffix: string, minute: number) => ({
  reason: 'Evicted',
  pod: { namespace: 'logging', name: `shipper-${suffix}` },
  message:
    'The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. Container shipper was using 5Gi, request is 0, has larger consumption of ephemeral-storage. ',
  count: 1,
  firstTime: `2026-11-20T23:${minute}:00Z`,
  lastTime: `2026-11-20T23:${minute}:00Z`,
})

itJudgesExamples(evictionLoop, {
  bad: { events: [evicted('4bcdf', 11), evicted('5bcdf', 27), evicted('6bcdf', 49)] },
  good: { events: [evicted('4bcdf', 11)] },
})
