import { agentConditions, agentReportOf } from '#facts/kubelet/event-reasons.ts'
import { eventEvidence, recentEvents, unreadEvents } from '#judge/events/events.ts'
import { contextRule, line, seenFirst, worldCause } from '#judge/rule.ts'
import { bounded } from '#judge/text.ts'

interface AgentCondition {
  type: string
  reason: string
  message: string
}

export const nodeAgentReports = contextRule({
  id: 'node-agent-reports',
  family: 'kernel',
  severity: 'medium',
  cause: worldCause('agent-reports'),
  steps: ['look-on-node', 'advice'],
  title: 'The node monitoring agent of EKS reports a problem of disks, processes or memory',
  why: 'The agent reads the logs of kernel and kubelet, which no statistic of the kubelet has. Most of its reports are events: node auto repair does nothing about them.',
  fix: 'Read the words of the agent, and what its documentation says of them. A condition that is False lasts until the node is repaired or replaced.',
  sources: [
    'aws/eks-node-monitoring-agent pkg/manager/node_exporter.go',
    'aws/eks-node-monitoring-agent docs/node-health-issues.adoc',
  ],

  fact: ({ node }): AgentCondition[] =>
    (node.status?.conditions ?? []).flatMap(({ type = '', status, reason = '', message = '' }) =>
      agentConditions.includes(type) && status === 'False' && agentReportOf(reason) !== null
        ? [{ type, reason: bounded(reason, 100), message: bounded(message, 300) }]
        : [],
    ),

  *judge(conditions, { events, at, why, failed }) {
    const reported = recentEvents(events, at, agentConditions).filter(({ pod }) => pod === null)
    const words = [
      ...conditions.map(({ reason, message }) => `${reason}: ${message}`),
      ...reported.map(({ message }) => bounded(message, 300)),
    ]
    if (words.length > 0)
      yield {
        ...(conditions.length > 0 && { severity: 'high' as const }),
        ...seenFirst(`The agent says: ${[...new Set(words)].slice(0, 3).join('; ')}.`),
        evidence: [
          ...conditions.map(({ type, reason, message }) =>
            line('node', `condition ${type} is False`, `${reason}: ${message}`),
          ),
          ...[...Map.groupBy(reported, ({ message }) => agentReportOf(message)).values()].flatMap(
            alike => eventEvidence(alike, at),
          ),
        ],
      }
    if (events === null) yield { unknown: why('events') }
    else yield* unreadEvents({ failed })
  },
})
