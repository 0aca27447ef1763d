import { nodeWithoutInstance } from '#judge/rules/cluster-gc/node-without-instance.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const example = (hoursAgo: number) => ({
  instances: {
    withoutInstance: [
      {
        node: 'ip-10-0-1-2.ec2.internal',
        instanceId: 'i-0123456789abcdef0',
        sinceMs: hoursBefore(hoursAgo),
      },
    ],
  },
})

itJudgesExamples(nodeWithoutInstance, { bad: example(30), good: example(0.1) })
