import {
  isMemoryCgroupRefused,
  isNoSpace,
  isOfPull,
  mountPointOf,
  placeWithoutSpace,
} from '#facts/kubelet/event-messages.ts'
import { agentConditions, agentReportOf, isDiskProblem } from '#facts/kubelet/event-reasons.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import { eventEvidence, recentEvents, startReasons, unreadEvents } from '#judge/events/events.ts'
import { waitingContainers } from '#judge/events/pulls.ts'
import {
  bytes,
  contextRule,
  isLinux,
  line,
  lines,
  type NodeSubject,
  plural,
  seenFirst,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import type { FilesystemState } from '#model/prediction/prediction.ts'

const shown = 5
/** Free share of bytes and of inodes above which a file can be written. */
const least = { bytes: 0.1, inodes: 0.05 }

export const noSpaceElsewhere = contextRule({
  id: 'no-space-elsewhere',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('no-space-elsewhere'),
  steps: ['read-limits'],
  needs: ['pods'],
  title: 'Containers fail with "no space left on device", and every disk has room',
  why: 'The kernel has the same error for other limits: inotify watches, mounts, cgroups, a project quota, a small tmpfs, a full volume of the pod, or the free space of an XFS filesystem in pieces too small for new inodes. No image GC, no eviction and no larger disk ends it.',
  fix: 'Look which limit it is, and raise it, or end what uses it up. XFS with free space in small pieces: replace the node, and end what writes so many small files.',
  sources: [
    'inotify_add_watch(2) ENOSPC',
    'kernel.org Documentation/admin-guide/sysctl/fs.rst mount-max',
    'awslabs/amazon-eks-ami#1224',
  ],
  appliesTo: isLinux,

  fact: ({ pods, filesystems, recentStarts }) => ({
    waiting: pods
      .flatMap(waitingContainers)
      .filter(({ reason, message }) => isElsewhere(message) && !pullErrors.has(reason))
      .slice(0, shown),
    startedPods: Object.keys(recentStarts()),
    disks: roomOf(filesystems),
  }),

  *judge({ waiting, disks, startedPods }, context) {
    if (disks === null) return
    const refused = recentEvents(context.events, context.at, startReasons).filter(
      ({ reason, message, pod }) =>
        isElsewhere(message) &&
        !(reason === 'Failed' && isOfPull(reason, message)) &&
        !startedPods.includes(`${pod?.namespace}/${pod?.name}`),
    )
    const pods = new Set([
      ...waiting.map(({ pod }) => pod),
      ...refused.map(({ pod }) => `${pod?.namespace}/${pod?.name}`),
    ])
    const [first] = pods
    if (first === undefined) return yield* unreadEvents(context)
    const message = [...waiting, ...refused].find(one => placeWithoutSpace(one.message) !== null)
    const place = message && placeWithoutSpace(message.message)
    yield {
      ...seenFirst(
        `${plural(pods.size, 'pod')} cannot start, the first ${shorten(first, 300)}: "no space left on device"${place == null ? '' : ` in ${shorten(place, 200)}`}. The fullest disk has ${bytes(disks.leastBytes)} and inodes free.`,
        'Another limit of the node is reached: nothing that frees disk space ends it.',
      ),
      evidence: lines(
        ...waiting.map(({ pod, reason, message }) =>
          line('object', shorten(`pod ${pod} ${reason}`, 300), message),
        ),
        ...eventEvidence(refused, context.at),
        line('summary', 'free bytes of the fullest disk', disks.leastBytes),
      ),
    }
  },
})

const isElsewhere = (message: string) => isNoSpace(message) && !isMemoryCgroupRefused(message)

/** Null: a disk is short of bytes or inodes, or was not read. */
function roomOf({ nodefs, imagefs }: NodeSubject['filesystems']): { leastBytes: number } | null {
  const disks = [nodefs, imagefs].filter(disk => disk !== null)
  if (nodefs === null || !disks.every(hasRoom)) return null
  return { leastBytes: Math.min(...disks.map(({ availableBytes }) => availableBytes ?? 0)) }
}

function hasRoom({ availableBytes, capacityBytes, inodesFree, inodes }: FilesystemState): boolean {
  if (availableBytes === null || capacityBytes === null) return false
  if (availableBytes < least.bytes * capacityBytes) return false
  return inodesFree === null || inodes === null || inodesFree >= least.inodes * inodes
}

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
