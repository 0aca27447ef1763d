import { minuteMs } from '#base/units.ts'
import { mountPointOf } from '#facts/kubelet/event-messages.ts'
import {
  agentConditions,
  agentReportOf,
  isOfDaemon,
  isOfKubelet,
  isProblem,
  isReadOnly,
} from '#facts/kubelet/event-reasons.ts'
import {
  eventEvidence,
  type PullFailure,
  pullFailures,
  recentEvents,
  unknownEvents,
} from '#judge/events/events.ts'
import { notReadyReason } from '#judge/help/unreplayed.ts'
import {
  contextRule,
  type Failing,
  line,
  plural,
  seenFirst,
  shorten,
  shortPodName,
  worldCause,
} from '#judge/rule.ts'

/** The timestamp of a deletion has the grace period in it. */
const overdueMs = 5 * minuteMs
const titles = {
  readOnly: 'A filesystem of the node has become read-only',
  notReady: 'A node is not ready, and its kubelet says why',
  contradicted: 'A detector calls a kubelet unhealthy that is Ready and answers',
}

export const nodeAgentReports = contextRule({
  id: 'node-agent-reports',
  family: 'kernel',
  severity: 'medium',
  cause: worldCause('agent-reports'),
  steps: ['look-on-node', 'advice'],
  titles,
  title: 'An agent on the node reports a problem of disks, processes or memory',
  why: 'The node monitoring agent of EKS and problem detectors see what no statistic of the kubelet has: errors of the kernel, a volume such as /var/log that no threshold watches. Most reports of the EKS agent are events: node auto repair does nothing about them.',
  fix: 'Read the words of the agent, and what its documentation says of them. Its condition lasts until the cause is gone, or the node is repaired or replaced.',
  sources: [
    'aws/eks-node-monitoring-agent pkg/manager/node_exporter.go',
    'aws/eks-node-monitoring-agent docs/node-health-issues.adoc',
    'kubernetes/node-problem-detector pkg/types/types.go Condition',
  ],

  fact: ({ node, pods, conditions, summary, at }) => ({
    notReady: notReadyReason({ node, at }),
    isAnswering: conditions.Ready === 'True' && summary !== null,
    detectors: (pods ?? [])
      .filter(({ metadata }) => metadata?.name?.includes('problem-detector'))
      .map(({ metadata }) => shortPodName(metadata)),
    deleted: (pods ?? []).flatMap(({ metadata }) =>
      metadata?.deletionTimestamp === undefined
        ? []
        : { pod: shortPodName(metadata), since: metadata.deletionTimestamp },
    ),
    conditions: (node.status?.conditions ?? []).flatMap(
      ({ type = '', status, reason = '', message = '' }) =>
        (agentConditions.includes(type) && status === 'False' && agentReportOf(reason) !== null) ||
        (isProblem(type) && status === 'True')
          ? [{ type, status, reason: shorten(reason, 100), message: shorten(message, 300) }]
          : [],
    ),
  }),

  *judge({ conditions, deleted, notReady, isAnswering, detectors }, context) {
    const { events, at } = context
    const reported = recentEvents(events, at, agentConditions).filter(({ pod }) => pod === null)
    const words = [
      ...conditions.map(({ reason, message }) => `${reason}: ${message}`),
      ...reported.map(({ message }) => shorten(message, 300)),
    ]
    const said = [...new Set(words)].slice(0, 3).join('; ')
    const place = mountPointOf(said)
    const isReadOnlyNow = conditions.some(({ type }) => isReadOnly(type))
    const stuck = isReadOnlyNow
      ? deleted.filter(({ since }) => Date.parse(at) - Date.parse(since) > overdueMs)
      : []
    const [first] = stuck
    if (notReady)
      yield {
        severity: 'critical',
        title: titles.notReady,
        ...notReady,
        ...(isOfNetwork(notReady) && ofSandbox(pullFailures(events, at))),
        consequence: `${notReady.seen} It gets no pods, and its pods are evicted by its taint if they do not tolerate it.`,
        evidence: [line('node', 'condition Ready is False', notReady.seen)],
      }
    const isContradicted =
      isAnswering && conditions.length > 0 && conditions.every(({ type }) => isOfKubelet(type))
    if (words.length > 0)
      yield {
        ...(conditions.length > 0 && { severity: 'high' as const }),
        ...seenFirst(
          `${conditions.some(({ status }) => status === 'True') ? (detectors[0] ?? 'A problem detector') : 'The agent'} says: ${said.replace(/\.$/, '')}${first ? `; ${plural(stuck.length, 'pod')} hang in Terminating, the first ${first.pod}` : ''}.`,
          isReadOnlyNow
            ? 'The node stays Ready and gets pods, which can neither start nor end.'
            : '',
        ),
        ...(conditions.length > 0 &&
          conditions.every(({ type }) => isOfDaemon(type)) && {
            steps: [{ id: 'read-journal' }, { id: 'advice' }],
          }),
        ...(isContradicted && {
          steps: [{ id: 'advice' }],
          severity: 'medium' as const,
          title: titles.contradicted,
          ...seenFirst(
            `${detectors[0] ?? 'A problem detector'} says ${said.replace(/\.$/, '')}, and the kubelet is Ready and answered: look at the detector, whose check may not reach systemctl or port 10248 of the host.`,
          ),
        }),
        ...(isReadOnlyNow && {
          title: titles.readOnly,
          cause: worldCause('read-only'),
          steps: [{ id: 'replace-failed-disk' }],
        }),
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
    yield* unknownEvents(context)
  },
})

const isOfNetwork = ({ cause }: NonNullable<ReturnType<typeof notReadyReason>>) =>
  cause.kind === 'world' && cause.subject === 'network'

/** Pods of the network plugin do not start without a sandbox: its image is the cause, which pull-failing-now explains. Null: no sandbox image is missing. */
function ofSandbox(failures: readonly PullFailure[]): Partial<Failing> | null {
  const image = failures.find(one => one.isOfSandbox && !one.isPulledSince)?.image
  if (image == null) return null
  return {
    severity: 'high',
    cause: worldCause('image-missing', shorten(image, 200)),
    steps: [{ id: 'read-pods' }],
  }
}
