import { amountOrNull } from '#base/go/quantity.ts'
import { by, byText } from '#base/text/text-order.ts'
import { dayMs } from '#base/units.ts'
import { inspectTargetOf } from '#facts/aws/inspect-targets.ts'
import { evictionCause, isShortfall, signalsOfResource } from '#facts/kubelet/event-messages.ts'
import { unsupportedReason } from '#facts/kubelet/features.ts'
import { isWithinWindow, shownTime } from '#judge/events/events.ts'
import {
  diskEvictions,
  isOfDisk,
  largestEvicted,
  leastWritten,
  namedThreshold,
  resourceText,
} from '#judge/events/evictions.ts'
import { withDeletion } from '#judge/help/deletion.ts'
import { diskOf, heldBySignal, type Reason } from '#judge/help/holder-cause.ts'
import { diskReason, diskUse } from '#judge/help/holders.ts'
import { unlimitedPods, withMounts } from '#judge/help/host-mounts.ts'
import { leastMemoryPod, memoryDeletion, memoryReason } from '#judge/help/memory-reason.ts'
import { notReadyReason } from '#judge/help/not-ready.ts'
import { processUse } from '#judge/help/processes.ts'
import {
  bytes,
  contextRule,
  type Failing,
  kubeletSetting,
  line,
  type NodeSubject,
  nameLength,
  plural,
  settingIn,
  shorten,
  silence,
  worldCause,
} from '#judge/rule.ts'
import type { NodeEvent } from '#judge/subject/node-subject.ts'
import { gapsOf } from '#judge/subject/subject.ts'
import type { Cause, StepAction, UnreadReason } from '#model/finding/cause.ts'
import { controllerOf, placedWorkload } from '#model/input/kubernetes.ts'
import { sources as allSources, type ReadFailure, type Source } from '#model/input/record.ts'
import { conditionOf } from '#model/prediction/prediction.ts'

const unsaid: Record<Source, string> = {
  node: 'what it is',
  pods: 'which pods would be evicted',
  configz: 'which thresholds it runs with',
  summary: 'how full its disks are',
  host: 'what its files, flags, disks and logs are',
  runtime: 'which images and containers it has',
}

const titles = {
  partly: 'A node was only partly read',
  readOnNode: 'A kubelet does not report what was read on the node itself',
  limitedKind: 'A node of this kind cannot be read in full',
  kubeletDown: 'A kubelet does not answer: nothing listens on port 10250',
  unreachable: 'A kubelet cannot be reached: nothing answers on its port 10250',
  silent: 'A node stopped reporting, and could not be read',
  pressure: 'A node reports pressure, and what uses it up could not be read',
  passed: 'Pods were evicted for a full disk, and what held it could not be read',
  writer: 'Pods were evicted for a full disk, and one had written much of it',
  memory: 'A node runs short of memory: its evictions name what used it',
  reported: 'A node reports pressure: the kubelet evicts pods',
}

interface UnreadFact {
  failings: Failing[]
  /** Workloads of a silent node. Null: the node reports. */
  lost: string[] | null
  /** What one workload holds of the disk of a node that was read. */
  held: Held | null
}

interface Held {
  workload: string
  bytes: number
}

export const unreadNode = contextRule({
  id: 'unread-node',
  family: 'coverage',
  severity: 'high',
  cause: { kind: 'unread', source: 'node', reason: 'other' },
  steps: ['read-again'],
  titles,
  title: 'A node could not be read in full',
  why: 'What was not read was not judged. Each rule that needed it is unknown here, which is not a pass.',
  fix: 'If the kubelet does not answer, look at its journal on the node (journalctl -u kubelet). If a right is missing, grant what highwater doctor names: get nodes/proxy, or the rights of the modes ssm and kubelet.',
  sources: ['staging/src/k8s.io/api core/v1 nodes/proxy', 'pkg/kubelet/server/server.go'],

  fact: (subject): UnreadFact => {
    const failings = [...judgeNode(subject)]
    const isSilent = silenceOf(subject) !== null
    return { failings, lost: isSilent ? workloadsOf(subject) : null, held: heldByOne(subject) }
  },

  ofGroup: facts =>
    facts.flatMap(({ fact }) => fact.held ?? []).toSorted((a, b) => b.bytes - a.bytes),

  judge: ({ failings, lost }, { events, at }, _, group) =>
    failings.map(each =>
      lost ? withLastEvents(each, lost, diskEventsOf(events ?? [], at), group()) : each,
    ),
})

function* judgeNode(subject: NodeSubject): Generator<Failing> {
  const { identity, configuration, isConfigurationOnDisk, summary, host, disks } = subject
  const sources = unreadSources(subject)
  if (sources.length === 0) return yield* unreadPressure(subject)
  const stoodIn = {
    ...(isConfigurationOnDisk &&
      configuration !== null && {
        configz: 'whether the kubelet was restarted since its files were written',
      }),
    ...(disks !== null &&
      host?.filesystems !== undefined && { summary: 'what its pods use of its disks and memory' }),
  }
  const gaps = gapsOf(subject)
  const openQuestions = (source: Source) =>
    gaps.filter(gap => gap.source === source).map(gap => gap.open)
  const said: Readonly<Record<Source, string>> = { ...unsaid, ...stoodIn }
  // If no source gave a configuration, the running settings are unknown too.
  const isWithoutThresholds =
    configuration === null && !sources.some(([source]) => source === 'configz')
  const unknown = sources.flatMap(([source]) =>
    openQuestions(source).length > 0 ? openQuestions(source) : [said[source]],
  )
  const open = `Not known of this node: ${[...(isWithoutThresholds ? [unsaid.configz] : []), ...unknown].join(', ')}.`
  const isDown = subject.isKubeletDown
  // Data read on the node replaces most data of the kubelet's endpoints.
  const isStoodIn = !isDown && sources.every(([source]) => Object.hasOwn(stoodIn, source))
  // If no mode can read the rest of this kind of node, the operator cannot fix the gap.
  const isLimited = !inspectTargetOf(identity).isReachable || identity.amiFamily === 'Bottlerocket'
  const hasRest = configuration !== null && !isConfigurationOnDisk && summary !== null
  const isExpected =
    isLimited && hasRest && sources.every(([source]) => source === 'host' || source === 'runtime')
  const reason = reasonOf({
    isDown,
    isExpected,
    failure: subject.readFailure,
    isPartly: sources.every(([source]) => openQuestions(source).length > 0),
  })
  const isUnreachable = reason.cause?.kind === 'unread' && reason.cause.reason === 'unreachable'
  const shown = !isDown && !summary ? nodeObjectFailing(subject, reason) : null
  const known = shown ? `${shown.seen} ${open}` : open
  yield {
    ...reason,
    ...(sources.every(([source]) => openQuestions(source).length > 0) && {
      severity: 'medium' as const,
      title: titles.partly,
    }),
    ...(isStoodIn && { severity: 'low' as const, title: titles.readOnNode }),
    ...(isExpected && { severity: 'info' as const, title: titles.limitedKind }),
    ...(isDown && { title: titles.kubeletDown }),
    // Its pods are evicted by taint, whatever else other nodes have.
    ...(isDown && identity.ready !== 'True' && { severity: 'critical' as const }),
    ...(isUnreachable && { title: titles.unreachable }),
    ...(!isDown &&
      !isUnreachable &&
      subject.readFailure !== 'forbidden' &&
      notReadyReason(subject)),
    ...shown,
    consequence: isDown
      ? `${open} The connection to port 10250 was refused: the kubelet does not run, or does not listen. A configuration that it refuses at start is a common cause; look at journalctl -u kubelet.`
      : known,
    evidence: [
      ...sources.map(([source, reason]) => line('unread', source, reason)),
      line('node', 'node condition Ready', identity.ready ?? 'not reported'),
    ],
  }
}

/** Without those whose answer only a supported kubelet's rules can read. */
function unreadSources({ identity, unread }: NodeSubject) {
  const version = unsupportedReason(identity.kubeletVersion)
  return allSources.flatMap(source => {
    const why = unread[source]
    return why === undefined || why === version ? [] : [[source, why] as const]
  })
}

/** Of a lost node only its events and its pods are left: what they say of its disk, and which of its workloads fill the disks of its peers. */
function withLastEvents(
  failing: Failing,
  lost: readonly string[],
  events: readonly NodeEvent[],
  peers: readonly Held[],
): Failing {
  if (events.length === 0) return failing
  const times = [...Map.groupBy(events, ({ reason }) => reason)].map(
    ([reason, alike]) => `${reason} (${eventCount(alike)})`,
  )
  const last = events
    .flatMap(({ lastTime }) => lastTime ?? [])
    .toSorted(byText)
    .at(-1)
  const peer = peers.find(({ workload }) => lost.includes(workload))
  const before = [
    `Within the last day its disk ran short: ${times.join(', ')}${last === undefined ? '' : `, last at ${shownTime(last)}`}.`,
    ...(peer ? [`${peer.workload} ran here; it holds ${bytes(peer.bytes)} of a peer's disk.`] : []),
  ].join(' ')
  return {
    ...failing,
    seen: `${failing.seen} ${before}`,
    consequence: `${failing.consequence} ${before}`,
    evidence: [
      ...failing.evidence,
      ...events.slice(-shownEvents).map(one => line('event', one.reason, one.message)),
    ],
  }
}

const shownEvents = 3
const diskReasons: ReadonlySet<string> = new Set([
  ...['FreeDiskSpaceFailed', 'ImageGCFailed', 'NodeHasDiskPressure', 'EvictionThresholdMet'],
])

const diskEventsOf = (events: readonly NodeEvent[], at: string) =>
  events.filter(
    ({ reason, pod, message, lastTime }) =>
      pod === null &&
      diskReasons.has(reason) &&
      // GC fails for other causes, too, such as a kubelet that starts.
      (reason !== 'ImageGCFailed' || isShortfall(message)) &&
      isWithinWindow(lastTime, at, dayMs) &&
      (reason !== 'EvictionThresholdMet' || isOfDisk(evictionCause(message).resource)),
  )

const eventCount = (alike: readonly NodeEvent[]) =>
  plural(
    alike.reduce((sum, { count }) => sum + count, 0),
    'time',
  )

/** `ReplicaSet ingest/gateway`. */
const workloadsOf = ({ pods }: NodeSubject) => [
  ...new Set(
    (pods ?? []).flatMap(pod => {
      const workload = controllerOf(pod)
      return workload === null
        ? []
        : [shorten(placedWorkload(pod.metadata?.namespace ?? '', workload), nameLength)]
    }),
  ),
]

/** Share of a disk from which on its holder explains a peer that is lost. */
const leastShare = 0.25

function heldByOne({ ledger }: NodeSubject): Held | null {
  const [first] = heldBySignal(ledger, 'nodefs.available')
  const owner = first?.owner
  const capacity = ledger && first && diskOf(ledger, first.filesystem)?.capacityBytes
  if (!first || !owner || !capacity || !('workload' in owner) || owner.workload === null)
    return null
  const held = first.largestBytes ?? first.amount.low
  return held < leastShare * capacity
    ? null
    : {
        workload: shorten(placedWorkload(owner.namespace ?? '', owner.workload), nameLength),
        bytes: held,
      }
}

const nouns = { memory: 'memory', pids: 'process ids' }

/** What holds a disk is seen on the node, too. */
const look = { id: 'look-on-node' as const }

/** Pressure that the node reports. */
const conditionsOf = ({ node }: Pick<NodeSubject, 'node'>) =>
  (node.status?.conditions ?? []).flatMap(({ type = '', status }) =>
    status === 'True' && /^(?:Disk|Memory|PID)Pressure$/.test(type) ? [type] : [],
  )

/** A kubelet that answered, and whose version is not replayed: the pressure that it reports, with what it measured. */
function* judgeUnreplayed(subject: NodeSubject): Generator<Failing> {
  const { identity, node, pods } = subject
  const reported = conditionsOf(subject)
  for (const pressure of node.status?.conditions ?? []) {
    const { type = '' } = pressure
    if (!reported.includes(type)) continue
    const evicted = (pods ?? []).filter(({ status }) =>
      isScarce(evictionCause(status?.message ?? '').resource ?? '', pressure),
    )
    const ended = evicted.length === 0 ? '' : ` ${plural(evicted.length, 'pod')} evicted so far.`
    yield {
      severity: 'critical',
      title: titles.reported,
      ...pressureReason(type, subject),
      consequence: `${sinceOf(pressure)}: the kubelet refuses pods, and evicts while its threshold is met.${ended}`,
      evidence: [
        line('node', `condition ${type}`, sinceOf(pressure)),
        line('node', 'kubelet version', identity.kubeletVersion ?? ''),
      ],
    }
  }
}

/** What uses up what the condition is about. */
function pressureReason(type: string, subject: NodeSubject): Partial<Reason> {
  const { summary, filesystems } = subject
  if (type === 'MemoryPressure' && summary) {
    const reason = memoryReason(subject)
    return { ...reason, steps: [...reason.steps, memoryDeletion(reason, subject) ?? []].flat() }
  }
  if (type === 'PIDPressure') {
    const used = Number(summary?.node?.rlimit?.curproc ?? 0)
    const { isOutside, use, steps } = processUse(subject, used)
    return {
      cause: isOutside ? worldCause('processes-outside-pods') : kubeletSetting('podPidsLimit'),
      steps,
      ...(use !== null && { seen: use }),
    }
  }
  const free = (name: 'nodefs' | 'imagefs') =>
    (filesystems[name]?.availableBytes ?? Infinity) / (filesystems[name]?.capacityBytes ?? 1)
  const signal = free('imagefs') < free('nodefs') ? 'imagefs.available' : 'nodefs.available'
  const reason = type === 'DiskPressure' ? diskReason(subject, signal) : null
  if (reason) return withDeletion(reason, subject)
  const source = type === 'DiskPressure' ? diskUse : 'memory'
  return {
    cause: { kind: 'unread', source, reason: 'not-asked' },
    steps: [type === 'DiskPressure' ? withMounts(look, subject) : { id: 'list-memory' }],
  }
}

/** A pressure of memory or process ids, of which the mode measures nothing. */
function* unreadPressure(subject: NodeSubject): Generator<Failing> {
  if (unsupportedReason(subject.identity.kubeletVersion) !== null)
    return yield* judgeUnreplayed(subject)
  const steps = [{ id: 'read-again' as const }]
  const shown = subject.summary ? null : nodeObjectFailing(subject, { steps })
  const what = conditionsOf(subject).includes('MemoryPressure') ? 'memory' : 'pids'
  const cause: Cause = { kind: 'unread', source: what, reason: 'not-asked' }
  if (shown)
    yield {
      cause,
      steps,
      ...shown,
      consequence: `${shown.seen} Mode ${subject.mode} does not read what uses the ${nouns[what]}.`,
      evidence: [line('node', 'node condition', shown.seen)],
    }
}

/** Of a node whose kubelet posts no status, and of which nothing was measured: its condition Ready. Null: another node. */
const silenceOf = ({ node, disks, summary, isKubeletDown }: NodeSubject) =>
  isKubeletDown || summary || disks
    ? null
    : (node.status?.conditions?.find(
        ({ type, status }) => type === 'Ready' && status === 'Unknown',
      ) ?? null)

/** What the Node object and its pods show of resources that were not measured. Null: the node reports no pressure, and its kubelet reports. */
function nodeObjectFailing(subject: NodeSubject, reason: UnreadCause) {
  const { steps = [] } = reason
  const { node, pods, disks, at } = subject
  const { conditions = [], capacity } = node.status ?? {}
  const silent = silenceOf(subject)
  if (silent) return silentFailing(sinceOf(silent), steps)
  const reported = conditionsOf({ node })
  const pressure = conditions.find(
    ({ type = '' }) => reported.includes(type) && (disks === null || type !== 'DiskPressure'),
  )
  if (!pressure) return disks ? null : passedOf(subject, reason)
  const evictions = (pods ?? [])
    .map(({ status }) => evictionCause(status?.message ?? ''))
    .filter(({ resource }) => resource !== null && isScarce(resource, pressure))
  const { threshold = null, resource = null } =
    evictions.findLast(({ threshold }) => threshold !== null) ?? {}
  // Upstream: pkg/kubelet/eviction/eviction_manager.go Admit
  const isOfMemoryAlone = reported.every(type => type === 'MemoryPressure')
  const refused = isOfMemoryAlone ? 'new pods without requests and limits (BestEffort)' : 'new pods'
  const disk = pressure.type === 'DiskPressure' ? capacity?.['ephemeral-storage'] : undefined
  const leastBytes = leastMemoryPod * (amountOrNull(capacity?.memory) ?? 0)
  const user =
    pressure.type === 'MemoryPressure'
      ? largestEvicted('memory', pods ?? [], at, leastBytes, dayMs)
      : null
  return {
    severity: 'critical' as const,
    title: titles.pressure,
    ...(disk !== undefined && withLook(reason, pods)),
    ...(user !== null && {
      title: titles.memory,
      cause: settingIn('workload', 'resources.requests.memory'),
      steps: [{ id: 'set-memory' as const, ...user }, ...steps],
    }),
    seen: [
      ...(user
        ? [
            `Container ${shorten(user.owner.container, 63)} of ${shorten(`${user.owner.namespace}/${user.owner.pod}`, nameLength)} used ${bytes(user.bytes)} of memory when it was evicted within the last day.`,
          ]
        : []),
      `${sinceOf(pressure)}${disk === undefined ? '' : `, on a disk of ${resourceText(disk)}`}: the kubelet refuses ${refused}, and evicts while its threshold is met.`,
      ...(threshold
        ? [
            `An eviction named ${resourceText(threshold.available, resource)} available, below ${resourceText(threshold.quantity, resource)}.`,
          ]
        : []),
    ].join(' '),
  }
}

const sinceOf = ({ type, status, lastTransitionTime = 'an unknown time' }: NodeCondition) =>
  `${type} is ${status} since ${shownTime(lastTransitionTime)}`

/** A disk that is known to be too small explains it. */
const withLook = ({ cause, steps = [] }: UnreadCause, pods: NodeSubject['pods']) => ({
  ...(cause?.kind === 'unread' && { cause: { ...cause, source: diskUse } }),
  steps: [...steps.filter(({ id }) => id !== look.id), withMounts(look, { pods })],
})

/** A right that is missing explains no silence, and a node that is off answers on no port. */
const silentFailing = (since: string, steps: readonly StepAction[]) => ({
  severity: 'critical' as const,
  title: titles.silent,
  cause: { kind: 'unread' as const, source: silence, reason: 'timeout' as const },
  seen: `${since}: the kubelet stopped posting its status.`,
  steps: [
    { id: 'check-instance' as const },
    ...steps.filter(({ id }) => id !== 'open-port' && id !== 'grant-rights'),
    { id: 'replace-node' as const },
  ],
})

/** A disk that was full within a day: the kubelet evicted pods for it, and nothing was measured. Null: no such pod is left. */
function passedOf({ node, pods, at }: NodeSubject, reason: UnreadCause) {
  const { capacity, conditions = [] } = node.status ?? {}
  const isOver = conditions.some(
    ({ type, status }) => type === 'DiskPressure' && status === 'False',
  )
  const evicted = diskEvictions(pods ?? [], at, dayMs).toSorted(by(({ time }) => time ?? ''))
  const disk = capacity?.['ephemeral-storage']
  const most = largestEvicted('ephemeral-storage', pods ?? [], at, 1, dayMs)
  const last = evicted.at(-1)
  const unlimited = unlimitedPods(pods)
  const threshold = namedThreshold(evicted, { thresholds: [], diskBytes: amountOrNull(disk) })
  if (!isOver || last?.time == null) return null
  const isWriter = most !== null && most.bytes >= leastWritten * (amountOrNull(disk) ?? 0)
  return {
    title: isWriter ? titles.writer : titles.passed,
    ...(isWriter
      ? {
          cause: settingIn('workload', 'resources.requests.ephemeral-storage'),
          steps: [{ id: 'move-to-volume' as const, ...most }, ...(reason.steps ?? [])],
        }
      : withLook(reason, pods)),
    seen: [
      `The kubelet evicted ${plural(evicted.length, 'pod')} for ${evictionCause(last.message).resource} within a day, the last ${shorten(`${last.namespace}/${last.name}`, 130)} at ${shownTime(last.time)}${threshold === null ? '' : `, with ${threshold}`}${disk === undefined ? '' : `, on a disk of ${resourceText(disk)}`}.`,
      ...(most
        ? [
            `The largest container that they name, ${shorten(most.owner.container, 63)}, was using ${bytes(most.bytes)}${isWriter ? '' : ' of layer and logs, emptyDirs not counted'}.`,
          ]
        : []),
      `What ${isWriter ? 'else ' : ''}held the disk was not measured.`,
      ...(isWriter || unlimited.length === 0
        ? []
        : [`Pods with an emptyDir without sizeLimit: ${shorten(unlimited.join(', '), 150)}.`]),
    ].join(' '),
  }
}

const isScarce = (resource: string, { type }: NodeCondition) =>
  signalsOfResource[resource]?.some(signal => conditionOf(signal) === type) === true

type NodeCondition = NonNullable<NonNullable<NodeSubject['node']['status']>['conditions']>[0]
type UnreadCause = Pick<Failing, 'cause' | 'steps'>

interface Gap {
  isDown: boolean
  isExpected: boolean
  isPartly: boolean
  failure: ReadFailure | null
}

const stepsOfFailure: Readonly<Record<ReadFailure, StepAction[]>> = {
  'agent-lost': [{ id: 'restart-agent' }, { id: 'read-again' }],
  cut: [{ id: 'read-again' }],
  forbidden: [{ id: 'grant-rights' }],
  timeout: [{ id: 'read-again' }, { id: 'read-journal' }],
  unreachable: [{ id: 'open-port' }, { id: 'read-again' }],
}

/** Only a missing right needs rights. */
function reasonOf({ isDown, isExpected, isPartly, failure }: Gap): UnreadCause {
  const unreadCause = (reason: UnreadReason): Cause => ({ kind: 'unread', source: 'node', reason })
  if (isDown) return { cause: unreadCause('refused'), steps: [{ id: 'read-journal' }] }
  if (isExpected) return { cause: unreadCause('unsupported'), steps: [{ id: 'look-on-node' }] }
  if (isPartly)
    return {
      cause: unreadCause(failure === 'cut' ? failure : 'incomplete'),
      steps: [{ id: 'read-again' }],
    }
  if (failure !== null) return { cause: unreadCause(failure), steps: stepsOfFailure[failure] }
  return { cause: unreadCause('other'), steps: [{ id: 'read-again' }] }
}
