/** What is left of a node that no longer reports: its events, its pods, and what its workloads hold of the disks of its peers. */
import { amountOrNull } from '#base/go/quantity.ts'
import { by, byText } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import { evictionCause, isGcShortfall, isOwnMemoryLimit } from '#facts/kubelet/event-messages.ts'
import { isWithinWindow, shownTime } from '#judge/events/events.ts'
import { isOfDisk } from '#judge/events/evictions.ts'
import {
  bytes,
  type Failing,
  line,
  type NodeContext,
  type NodeEvent,
  type NodeSubject,
  plural,
  shortName,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import { type PodHolder, podOwner } from '#model/prediction.ts'
import { ownerName } from './host-mounts.ts'

/** What one workload holds of the disk of a node that was read. */
export interface HeldByWorkload {
  workload: string
  bytes: number
}

export function lostNodeOf({ pods, node }: Pick<NodeSubject, 'pods' | 'node'>) {
  const memoryBytes = amountOrNull(node.status?.capacity?.memory)
  const byWorkload = Map.groupBy(pods ?? [], pod => shortName(ownerName(pod)))
  const promised = [...byWorkload]
    .map(([workload, own]) => promisedMemory(workload, own))
    .toSorted(by(({ excessBytes }) => -excessBytes))[0]
  const isLarge =
    promised !== undefined && promised.excessBytes >= leastPromised * (memoryBytes ?? Infinity)
  return {
    /** `ReplicaSet ingest/gateway`. */
    workloads: [...byWorkload.keys()],
    /** Pods of one owner whose limits of memory exceed their requests by most. Null: none do by much. */
    promised: isLarge ? promised : null,
    memoryBytes,
  }
}

/** Share of the node's memory. */
const leastPromised = 0.25

function promisedMemory(workload: string, all: readonly KubernetesPod[]) {
  const own = all.filter(({ status }) => status?.phase === 'Running')
  const sumOf = (kind: 'limits' | 'requests') =>
    own
      .flatMap(({ spec }) => spec?.containers ?? [])
      // A limit without a request requests as much.
      .map(({ resources: { limits, requests } = {} }) =>
        kind === 'limits' ? limits?.memory : (requests?.memory ?? limits?.memory),
      )
      .reduce((sum, amount) => sum + (amountOrNull(amount) ?? 0), 0)
  const [limitBytes, requestBytes] = [sumOf('limits'), sumOf('requests')]
  return {
    owner: podOwner(own[0] ?? all[0]!, null),
    workload,
    pods: own.length,
    limitBytes,
    requestBytes,
    excessBytes: limitBytes - requestBytes,
  }
}

/** A node that went silent: its last events are the probable reason. */
export function withLastWords(
  failing: Failing,
  { workloads, promised, memoryBytes }: ReturnType<typeof lostNodeOf>,
  { events, at }: Pick<NodeContext, 'events' | 'at'>,
  peers: readonly HeldByWorkload[],
  title: string,
): Failing {
  const ofNode = (events ?? []).filter(
    ({ pod, lastTime }) => pod === null && isWithinWindow(lastTime, at, dayMs),
  )
  const { disk, memory, pids } = shortagesOf(ofNode)
  const reboot = ofNode.findLast(({ reason }) => reason === 'Rebooted')
  const shown = [...disk, ...memory, ...pids]
  const peer = disk.length > 0 && peers.find(({ workload }) => workloads.includes(workload))
  const user = memory.length > 0 && promised
  const before = [
    disk.length > 0 && `Within the last day its disk ran short: ${countsOf(disk)}.`,
    peer && `${peer.workload} ran here; it holds ${bytes(peer.bytes)} of a peer's disk.`,
    memory.length > 0 && `Before that it ran short of memory: ${countsOf(memory)}.`,
    user &&
      `${plural(user.pods, 'pod')} of ${user.workload} may use ${bytes(user.limitBytes)} of memory and request ${bytes(user.requestBytes)}; the node has ${bytes(memoryBytes ?? 0)}.`,
    pids.length > 0 && `Before that it ran short of process ids: ${countsOf(pids)}.`,
    disk.length === 0 && shown.length > 0 && 'It is not the disk, as far as events say.',
    reboot?.lastTime && `It was rebooted at ${shownTime(reboot.lastTime)}.`,
  ].filter(text => typeof text === 'string')
  if (before.length === 0) return failing
  return {
    ...failing,
    ...(memory.length > 0 && disk.length === 0 && { title }),
    ...(user && { steps: withMemory(failing.steps ?? [], user.owner) }),
    seen: [failing.seen, ...before].join(' '),
    consequence: [failing.consequence, ...before].join(' '),
    evidence: [
      ...failing.evidence,
      ...shown.slice(-shownEvents).map(one => line('event', one.reason, one.message)),
    ],
  }
}

/** A new node would get the same pods. */
const withMemory = (steps: readonly StepAction[], owner: PodHolder): StepAction[] => [
  ...steps.slice(0, 1),
  { id: 'set-memory', owner },
  ...steps.slice(1).filter(({ id }) => id !== 'replace-node'),
]

const shownEvents = 3
const diskReasons: ReadonlySet<string> = new Set([
  'FreeDiskSpaceFailed',
  'ImageGCFailed',
  'NodeHasDiskPressure',
])
const memoryReasons: ReadonlySet<string> = new Set(['NodeHasInsufficientMemory', 'SystemOOM'])

function shortagesOf(events: readonly NodeEvent[]) {
  const resourceOf = ({ reason, message }: NodeEvent) =>
    reason === 'EvictionThresholdMet' ? evictionCause(message).resource : null
  const endTime = (reason: string) =>
    events.findLast(event => event.reason === reason)?.lastTime ?? ''
  /** Pressures whose end the kubelet did not report. */
  const unendedEvents = (found: readonly NodeEvent[], end: string) =>
    found.every(({ lastTime }) => (lastTime ?? '') < endTime(end)) ? [] : found
  return {
    disk: events.filter(
      event =>
        // GC fails for other causes, too, such as a kubelet that starts.
        (diskReasons.has(event.reason) &&
          (event.reason !== 'ImageGCFailed' || isGcShortfall(event.message))) ||
        isOfDisk(resourceOf(event)),
    ),
    memory: unendedEvents(
      events.filter(
        event =>
          memoryReasons.has(event.reason) ||
          (event.reason === 'OOMKilling' && !isOwnMemoryLimit(event.message)) ||
          resourceOf(event) === 'memory',
      ),
      'NodeHasSufficientMemory',
    ),
    pids: unendedEvents(
      events.filter(
        event => event.reason === 'NodeHasInsufficientPID' || resourceOf(event) === 'pids',
      ),
      'NodeHasSufficientPID',
    ),
  }
}

/** `EvictionThresholdMet (2 times), last at …`. */
function countsOf(events: readonly NodeEvent[]): string {
  const times = [...Map.groupBy(events, ({ reason }) => reason)].map(
    ([reason, alike]) =>
      `${reason} (${plural(
        alike.reduce((sum, { count }) => sum + count, 0),
        'time',
      )})`,
  )
  const last = events
    .flatMap(({ lastTime }) => lastTime ?? [])
    .toSorted(byText)
    .at(-1)
  return `${times.join(', ')}${last === undefined ? '' : `, last at ${shownTime(last)}`}`
}
