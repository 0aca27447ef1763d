import { unreadNode } from '#judge/rules/coverage/unread-node.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unreadNode, {
  bad: {
    unread: { summary: 'HTTP 503: dial tcp 10.0.1.2:10250: connect: connection refused' },
    isKubeletDown: true,
  },
  good: {},
})
