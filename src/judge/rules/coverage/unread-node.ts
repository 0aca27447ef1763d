import { amountOrNull } from '#base/go/quantity.ts'
import { dayMs } from '#base/units.ts'
import { inspectTargetOf } from '#facts/aws/inspect-targets.ts'
import { evictionCause } from '#facts/kubelet/event-messages.ts'
import { unsupportedReason } from '#facts/kubelet/features.ts'
import { conditionOfResource, largestEvicted, resourceText } from '#judge/events/evictions.ts'
import { diskOf, heldBySignal } from '#judge/help/holder-cause.ts'
import { diskUse } from '#judge/help/holder-steps.ts'
import { withMounts } from '#judge/help/host-mounts.ts'
import { type HeldByWorkload, lostNodeOf, withLastWords } from '#judge/help/last-words.ts'
import { leastMemoryPod } from '#judge/help/memory-reason.ts'
import {
  emptyDirWriters,
  passedPressureFailing,
  passedPressureOf,
} from '#judge/help/passed-pressure.ts'
import {
  conditionsOf,
  notReadyReason,
  sinceOf,
  unreplayedDisk,
  unreplayedFailing,
  unreplayedPressure,
} from '#judge/help/unreplayed.ts'
import {
  bytes,
  contextRule,
  type Failing,
  line,
  type NodeSubject,
  settingIn,
  shorten,
  shortName,
  silence,
} from '#judge/rule.ts'
import { gapsOf } from '#judge/subject/subject.ts'
import type { Cause, StepAction, UnreadReason } from '#model/finding.ts'
import {
  sources as allSources,
  placedWorkload,
  type ReadFailure,
  type Source,
} from '#model/input/record.ts'

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
  noImageFs: 'A kubelet reports no image filesystem: what its images hold is unknown',
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
  starved: 'A node stopped reporting after it ran short of memory, and could not be read',
  evicted: 'Pods were evicted for this disk within a day, by a kubelet that is not replayed',
  nearlyFull: 'A disk is nearly full, of a kubelet that is not replayed',
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

  fact: subject => {
    const isLost = silentCondition(subject) !== null || isSilentlyNotReady(subject)
    const isUnreplayed = unsupportedReason(subject.identity.kubeletVersion) !== null
    return {
      failings: [...judgeNode(subject)],
      /** Null: the node reports, and is ready. */
      lostNode: isLost ? lostNodeOf(subject) : null,
      mainHolder: mainHolder(subject),
      unreplayed: isUnreplayed && subject.disks ? unreplayedDisk(subject) : null,
      passedPressure: passedPressureFact(subject),
      emptyDirWriters: emptyDirWriters(subject),
    }
  },

  ofGroup: facts => ({
    peers: facts.flatMap(({ fact }) => fact.mainHolder ?? []).toSorted((a, b) => b.bytes - a.bytes),
    emptyDirWriters: facts.flatMap(({ fact }) => fact.emptyDirWriters),
  }),

  *judge({ failings, lostNode, unreplayed, passedPressure }, context, _, group) {
    if (unreplayed) yield unreplayedFailing(unreplayed, context, titles)
    const shown =
      passedPressure && passedPressureFailing(passedPressure, context, group().emptyDirWriters)
    if (passedPressure && shown)
      return yield withPassedPressure(failings[0] ?? null, passedPressure, shown)
    for (const each of failings)
      yield lostNode ? withLastWords(each, lostNode, context, group().peers, titles.starved) : each
  },
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
  const isPartly = sources.every(([source]) => openQuestions(source).length > 0)
  const reason = reasonOf({ isDown, isExpected, failure: subject.readFailure, isPartly })
  const isWithoutImageFs = isPartly && gaps.every(({ part }) => part === 'imagefs')
  const isUnreachable = reason.cause?.kind === 'unread' && reason.cause.reason === 'unreachable'
  const shown = !isDown && !summary ? nodeObjectFailing(subject, reason) : null
  const known = shown ? `${shown.seen} ${open}` : open
  yield {
    ...reason,
    ...(isPartly && { severity: 'medium' as const, title: titles.partly }),
    ...(isWithoutImageFs && {
      title: titles.noImageFs,
      cause: { kind: 'unread' as const, source: 'node', reason: 'no-image-filesystem' as const },
      // Another reading gives the same.
      steps: [{ id: 'read-snapshots' as const }],
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

/** Share of a disk from which on its holder explains a peer that is lost. */
const leastShare = 0.25

function mainHolder({ ledger }: NodeSubject): HeldByWorkload | null {
  const [first] = heldBySignal(ledger, 'nodefs.available')
  const owner = first?.owner
  const capacity = ledger && first && diskOf(ledger, first.filesystem)?.capacityBytes
  if (!first || !owner || !capacity || !('workload' in owner) || owner.workload === null)
    return null
  const held = first.largestBytes ?? first.amount.low
  return held < leastShare * capacity
    ? null
    : { workload: shortName(placedWorkload(owner.namespace ?? '', owner.workload)), bytes: held }
}

const nouns = { memory: 'memory', pids: 'process ids' }

/** What holds a disk is seen on the node, too. */
const look = { id: 'look-on-node' as const }

/** A pressure of memory or process ids, of which the mode measures nothing. */
function* unreadPressure(subject: NodeSubject): Generator<Failing> {
  if (unsupportedReason(subject.identity.kubeletVersion) !== null)
    return yield* unreplayedPressure(subject, titles.reported)
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
const silentCondition = ({ node, disks, summary, isKubeletDown }: NodeSubject) =>
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
  const silent = silentCondition(subject)
  if (silent) return silentFailing(sinceOf(silent), steps)
  const reported = conditionsOf({ node })
  const pressure = conditions.find(
    ({ type = '' }) => reported.includes(type) && (disks === null || type !== 'DiskPressure'),
  )
  if (!pressure) return null
  const evictions = (pods ?? [])
    .map(({ status }) => evictionCause(status?.message ?? ''))
    .filter(({ resource }) => conditionOfResource(resource) === pressure.type)
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
    ...(disk !== undefined && withLookStep(reason, pods)),
    ...(user !== null && {
      title: titles.memory,
      cause: settingIn('workload', 'resources.requests.memory'),
      steps: [{ id: 'set-memory' as const, owner: user.owner, bytes: user.bytes }, ...steps],
    }),
    seen: [
      ...(user
        ? [
            `Container ${shorten(user.owner.container, 63)} of ${shortName(`${user.owner.namespace}/${user.owner.pod}`)} used ${bytes(user.bytes)} of memory when it was evicted within the last day.`,
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

/** A disk that is known to be too small explains it. */
const withLookStep = ({ cause, steps = [] }: UnreadCause, pods: NodeSubject['pods']) => ({
  ...(cause?.kind === 'unread' && { cause: { ...cause, source: diskUse } }),
  steps: [...steps.filter(({ id }) => id !== look.id), withMounts(look, { pods })],
})

/** Ready is False, and nothing was measured. */
const isSilentlyNotReady = ({ identity, disks, summary }: NodeSubject) =>
  identity.ready === 'False' && !disks && !summary

/** Null: the node reports pressure or nothing, or was measured. */
function passedPressureFact(subject: NodeSubject) {
  const passed =
    subject.isKubeletDown || conditionsOf(subject).length > 0 ? null : passedPressureOf(subject)
  const sources = unreadSources(subject)
  return (
    passed && {
      ...passed,
      mode: subject.mode,
      look: withMounts(look, { pods: subject.pods }),
      reason: reasonOf({ failure: subject.readFailure, isPartly: sources.length === 0 }),
    }
  )
}

/** What happened says more than what could not be read. */
function withPassedPressure(
  failing: Failing | null,
  { reason, look, mode }: NonNullable<ReturnType<typeof passedPressureFact>>,
  { isWriter, cause, steps, evidence, seen }: NonNullable<ReturnType<typeof passedPressureFailing>>,
): Failing {
  const unread: Failing = failing ?? {
    ...reason,
    consequence: `Mode ${mode} does not measure disks.`,
    evidence: [],
  }
  const others = (unread.steps ?? []).filter(({ id }) => id !== look.id)
  const isPlaced = steps.some(({ id }) => id === look.id)
  return {
    ...unread,
    title: isWriter ? titles.writer : titles.passed,
    ...(isWriter
      ? { cause, steps: [...steps, ...others] }
      : {
          ...(unread.cause?.kind === 'unread' && { cause: { ...unread.cause, source: diskUse } }),
          steps: [...others, ...steps, ...(isPlaced ? [] : [look])],
        }),
    seen,
    consequence: `${seen} ${unread.consequence}`,
    evidence: [...evidence, ...unread.evidence],
  }
}

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

type UnreadCause = Pick<Failing, 'cause' | 'steps'>

const stepsOfFailure: Readonly<Record<ReadFailure, StepAction[]>> = {
  'agent-lost': [{ id: 'restart-agent' }, { id: 'read-again' }],
  cut: [{ id: 'read-again' }],
  forbidden: [{ id: 'grant-rights' }],
  timeout: [{ id: 'read-again' }, { id: 'read-journal' }],
  unreachable: [{ id: 'open-port' }, { id: 'read-again' }],
}

/** Only a missing right needs rights. */
function reasonOf({
  isDown = false,
  isExpected = false,
  isPartly,
  failure,
}: {
  isDown?: boolean
  isExpected?: boolean
  isPartly: boolean
  failure: ReadFailure | null
}): UnreadCause {
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
