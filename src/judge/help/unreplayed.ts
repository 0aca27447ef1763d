/** Of a kubelet that answered, and whose version is not replayed: what it reports and measured. */

import { dayMs, minuteMs } from '#base/units.ts'
import { evictionCause, type NotReadyKind, notReadyKind } from '#facts/kubelet/event-messages.ts'
import { runtimeUnit } from '#facts/kubelet/unpacking.ts'
import { shownTime } from '#judge/events/events.ts'
import {
  allEvictions,
  conditionOfResource,
  diskEvictions,
  evictionReason,
  placeOf,
} from '#judge/events/evictions.ts'
import {
  bytes,
  type Failing,
  line,
  type NodeContext,
  type NodeSubject,
  percent,
  placedPod,
  plural,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import type { FilesystemState, Signal } from '#model/prediction.ts'
import { withDeletion } from './deletion.ts'
import { diskReason } from './disk-reason.ts'
import type { Reason } from './holder-cause.ts'
import { diskUse } from './holder-steps.ts'
import { withMounts } from './host-mounts.ts'
import { memoryDeletion, memoryReason } from './memory-reason.ts'
import { processUse } from './processes.ts'

/* What a Node object says of its pressures. */

type ReportedCondition = NonNullable<NonNullable<NodeSubject['node']['status']>['conditions']>[0]

/** Pressure that the node reports. */
export const conditionsOf = ({ node }: Pick<NodeSubject, 'node'>) =>
  (node.status?.conditions ?? []).flatMap(({ type = '', status }) =>
    status === 'True' && /^(?:Disk|Memory|PID)Pressure$/.test(type) ? [type] : [],
  )

export const sinceOf = ({
  type,
  status,
  lastTransitionTime = 'an unknown time',
}: ReportedCondition) => `${type} is ${status} since ${shownTime(lastTransitionTime)}`

/** The pressure that it reports, with what it measured. */
export function* unreplayedPressure(subject: NodeSubject, title: string): Generator<Failing> {
  const { identity, node, pods } = subject
  const reported = conditionsOf(subject)
  for (const pressure of node.status?.conditions ?? []) {
    const { type = '' } = pressure
    if (!reported.includes(type)) continue
    const evicted = (pods ?? []).filter(
      ({ status }) => conditionOfResource(evictionCause(status?.message ?? '').resource) === type,
    )
    const ended = evicted.length === 0 ? '' : ` ${plural(evicted.length, 'pod')} evicted so far.`
    yield {
      severity: 'critical',
      title,
      ...pressureReason(type, subject),
      consequence: `${sinceOf(pressure)}: the kubelet refuses pods, and evicts while its threshold is met.${ended}`,
      evidence: [
        line('node', `condition ${type}`, sinceOf(pressure)),
        line('node', 'kubelet version', identity.kubeletVersion ?? ''),
      ],
    }
  }
}

/** What uses up the resource of the condition. */
function pressureReason(type: string, subject: NodeSubject): Partial<Reason> {
  const { summary } = subject
  if (type === 'MemoryPressure' && summary) {
    const reason = memoryReason(subject)
    return { ...reason, steps: [...reason.steps, memoryDeletion(reason, subject) ?? []].flat() }
  }
  if (type === 'PIDPressure') {
    const used = Number(summary?.node?.rlimit?.curproc ?? 0)
    const { cause, use, steps } = processUse(subject, used)
    return { cause, steps, ...(use !== null && { seen: use }) }
  }
  if (type === 'DiskPressure') {
    const { reason, isMeasured } = scarcestDisk(subject)
    return isMeasured ? withDeletion(reason, subject) : reason
  }
  return {
    cause: { kind: 'unread', source: 'memory', reason: 'not-asked' },
    steps: [{ id: 'list-memory' }],
  }
}

const freeShare = (disk: FilesystemState | null) =>
  (disk?.availableBytes ?? Infinity) / (disk?.capacityBytes ?? 1)

/** The disk with the smallest free share, and what holds it. */
function scarcestDisk(subject: NodeSubject) {
  const { nodefs, imagefs } = subject.filesystems
  const isImagefs = freeShare(imagefs) < freeShare(nodefs)
  const signal: Signal = isImagefs ? 'imagefs.available' : 'nodefs.available'
  const reason = diskReason(subject, signal)
  const unread: Reason = {
    cause: { kind: 'unread', source: diskUse, reason: 'not-asked' },
    steps: [withMounts({ id: 'look-on-node' }, subject)],
  }
  return {
    name: isImagefs ? 'imagefs' : 'nodefs',
    disk: isImagefs ? imagefs : nodefs,
    reason: reason ?? unread,
    isMeasured: reason !== null,
  }
}

/** A disk for which pods were evicted within a day, or that is nearly full, without pressure now. */
export type UnreplayedDisk = NonNullable<ReturnType<typeof unreplayedDisk>>

/** Free share below which a disk is nearly full, whatever thresholds the kubelet has. */
const leastFree = 0.1

/** Null: it reports pressure, or its disk is in order. */
export function unreplayedDisk(subject: NodeSubject) {
  const { name, disk, reason } = scarcestDisk(subject)
  const evicted = diskEvictions(subject.pods ?? [], subject.at, dayMs)
  const isOrdinary = evicted.length === 0 && freeShare(disk) >= leastFree
  if (isOrdinary || conditionsOf(subject).includes('DiskPressure')) return null
  const { availableBytes = null, capacityBytes: diskBytes = null } = disk ?? {}
  const share = percent(100 * freeShare(disk))
  return {
    reason,
    diskBytes,
    evicted,
    /** `nodefs has 2.7 GiB (13.6 %) free now.` Null: not measured. */
    free:
      availableBytes === null ? null : `${name} has ${bytes(availableBytes)} (${share}) free now.`,
  }
}

export function unreplayedFailing(
  { reason, free, diskBytes, evicted: recorded }: UnreplayedDisk,
  context: NodeContext,
  titles: Record<'evicted' | 'nearlyFull', string>,
): Failing {
  const pods = new Set(recorded.map(({ pod }) => pod))
  const evicted = allEvictions(recorded, context).filter(({ pod }) => pods.has(pod))
  const last = evicted.at(-1)
  const { user } = evictionReason(evicted, { diskBytes, memoryBytes: null })
  const seen = [
    last &&
      `${plural(evicted.length, 'pod')} evicted for ${evictionCause(last.message).resource} within a day, the last ${placedPod(placeOf(last))}${last.time === null ? '' : ` at ${shownTime(last.time)}`}${user === null ? '' : `: ${user}`}.`,
    free,
    reason.seen,
  ].filter(text => typeof text === 'string')
  return {
    ...reason,
    title: last ? titles.evicted : titles.nearlyFull,
    seen: seen.join(' '),
    consequence: [
      ...seen,
      'What holds the disk needs no replay: thresholds are not known here.',
    ].join(' '),
    evidence: [
      ...evicted
        .slice(-5)
        .map(one => line('event', `pod ${one.namespace}/${one.name}`, one.message)),
      line('summary', 'disk', free ?? 'not read'),
    ],
  }
}

/* What a kubelet says of a node that is not ready, and what ends it. */

/** A node that starts is not ready for so long. */
const settledMs = 5 * minuteMs

/** Null: the node is ready, starts or ends, or its kubelet says nothing. */
export function notReadyReason({ node, at }: Pick<NodeSubject, 'node' | 'at'>) {
  const { conditions = [], nodeInfo } = node.status ?? {}
  const ready = conditions.find(({ type, status }) => type === 'Ready' && status === 'False')
  const { reason = '', message = '', lastTransitionTime = '' } = ready ?? {}
  const kind = notReadyKind(message)
  const isSettled = Date.parse(at) - Date.parse(lastTransitionTime) >= settledMs
  if (message === '' || kind === 'shutdown' || !isSettled) return null
  return {
    cause: worldCause('agent-reports', kind),
    steps: stepsOf(kind, runtimeUnit(nodeInfo?.containerRuntimeVersion)),
    seen: `NotReady since ${shownTime(lastTransitionTime)}: ${reason}: ${shorten(message, 300)}.`,
  }
}

/** @param runtime its unit of systemd */
export const hungRuntimeSteps = (runtime: string): StepAction[] => [
  { id: 'read-journal', place: runtime },
  { id: 'restart-daemon', place: runtime, variant: 'hung' },
]

function stepsOf(kind: NotReadyKind, runtime: string): StepAction[] {
  if (kind === 'runtime') return hungRuntimeSteps(runtime)
  return kind === 'network'
    ? [{ id: 'read-pods' }, { id: 'read-journal' }]
    : [{ id: 'read-journal' }, { id: 'replace-node' }]
}
