import { mountPointOf } from '#facts/kubelet/event-messages.ts'
import { agentConditions, agentReportOf, isDiskProblem } from '#facts/kubelet/event-reasons.ts'
import { eventEvidence, recentEvents, unreadEvents } from '#judge/events/events.ts'
import { contextRule, line, seenFirst, shorten, worldCause } from '#judge/rule.ts'

export const nodeAgentReports = contextRule({
  id: 'node-agent-reports',
  family: 'kernel',
  severity: 'medium',
  cause: worldCause('agent-reports'),
  steps: ['look-on-node', 'advice'],
  title: 'An agent on the node reports a problem of disks, processes or memory',
  why: 'The node monitoring agent of EKS and problem detectors see what no statistic of the kubelet has: errors of the kernel, a volume such as /var/log that no threshold watches. Most reports of the EKS agent are events: node auto repair does nothing about them.',
  fix: 'Read the words of the agent, and what its documentation says of them. Its condition lasts until the cause is gone, or the node is repaired or replaced.',
  sources: [
    'aws/eks-node-monitoring-agent pkg/manager/node_exporter.go',
    'aws/eks-node-monitoring-agent docs/node-health-issues.adoc',
    'kubernetes/node-problem-detector pkg/types/types.go Condition',
  ],

  fact: ({ node }) =>
    (node.status?.conditions ?? []).flatMap(({ type = '', status, reason = '', message = '' }) =>
      (agentConditions.includes(type) && status === 'False' && agentReportOf(reason) !== null) ||
      (isDiskProblem(type) && status === 'True')
        ? [{ type, status, reason: shorten(reason, 100), message: shorten(message, 300) }]
        : [],
    ),

  *judge(conditions, { events, at, why, failed }) {
    const reported = recentEvents(events, at, agentConditions).filter(({ pod }) => pod === null)
    const words = [
      ...conditions.map(({ reason, message }) => `${reason}: ${message}`),
      ...reported.map(({ message }) => shorten(message, 300)),
    ]
    const said = [...new Set(words)].slice(0, 3).join('; ')
    const place = mountPointOf(said)
    if (words.length > 0)
      yield {
        ...(conditions.length > 0 && { severity: 'high' as const }),
        ...seenFirst(`The agent says: ${said.replace(/\.$/, '')}.`),
        ...(place !== null && { steps: [{ id: 'look-on-node', place }, { id: 'advice' }] }),
        evidence: [
          ...conditions.map(({ type, status, reason, message }) =>
            line('node', `condition ${shorten(type, 100)} is ${status}`, `${reason}: ${message}`),
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
