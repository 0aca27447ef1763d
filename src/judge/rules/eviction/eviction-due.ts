import { by } from '#base/text.ts'
import { mebibyte } from '#base/units.ts'
import { eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { nodeReclaimKinds } from '#facts/kubelet/node-reclaim.ts'
import { evictionSeconds } from '#facts/kubelet/periods.ts'
import { causeKey } from '#judge/causes.ts'
import { shownTime } from '#judge/events/events.ts'
import { drainStep, isOfDaemonSet, podDeletion } from '#judge/help/deletion.ts'
import { diskReason, withMeasurementFirst } from '#judge/help/disk-reason.ts'
import { diskOf, lineOf, type Reason } from '#judge/help/holder-cause.ts'
import { memoryDeletion, memoryReason } from '#judge/help/memory-reason.ts'
import { processUse } from '#judge/help/processes.ts'
import { reservedOf } from '#judge/help/reservations.ts'
import {
  amountLine,
  amountOf,
  defaultAmounts,
  evictablePods,
  imageGcFix,
  isTwin,
  raisedReason,
  raisedThresholds,
  shownAmount,
  thresholdEvidence,
  unobserved,
} from '#judge/help/thresholds.ts'
import {
  bytes,
  type Failing,
  imageGcThresholds,
  kubeletSetting,
  line,
  type NodeSubject,
  nodeRule,
  type Satisfied,
  shorten,
  shortName,
  shortPodName,
  worldCause,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import type { Policy } from '#model/policy.ts'
import {
  conditionOf,
  type EvaluatedThreshold,
  type EvictionPrediction,
  type HolderPart,
  type LedgerLine,
  resourceOf,
  type Signal,
} from '#model/prediction.ts'

/** Upstream's choice among pods of equal rank is undefined, so several victims are shown. */
const shownVictims = 3
/** Image GC that starts here or earlier has time before eviction. */
const earlyGcPercent = 80

const titles = {
  waiting: 'A soft eviction threshold is met: pressure now, evictions after its grace period',
  powerless: 'An eviction threshold is met, and the kubelet can evict no pod',
  unreported: 'A disk is past its eviction threshold, and the node reports no pressure',
}

export const evictionDue = nodeRule({
  id: 'eviction-due',
  family: 'eviction',
  severity: 'critical',
  cause: worldCause('growth'),
  effect: 'eviction',
  steps: ['look-on-node', 'drain'],
  needs: ['eviction'],
  titles,
  title: 'An eviction threshold is met: the kubelet evicts pods',
  why: 'The node is below a threshold now: it reports the condition, is tainted, refuses pods, and evicts one pod after the other until it is above again.',
  fix: 'Make room at once: delete what nobody needs (bytes or files), or drain the node. Then see what grows, and whether the thresholds are right.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
    'pkg/kubelet/eviction/helpers.go thresholdsMet',
  ],

  *judge(subject, policy) {
    const met = subject.eviction.thresholds
      .filter(threshold => threshold.met === true)
      .toSorted(by(({ hard }) => !hard))
    const open = unobservedSignals(subject)
    if (open.length > 0) yield unobserved(subject, open.join(', '))
    if (met.length === 0) return
    const parts = causesOfMet(met, subject, policy)
    for (const [index, part] of parts.entries())
      yield { ...failingOf(part, subject, parts.length === 1), ...(index > 0 && { isApart: true }) }
  },
})

type FoundReason = Pick<Failing, 'cause' | 'steps' | 'fix' | 'seen'>

interface MetPart {
  met: EvaluatedThreshold[]
  raised: ReturnType<typeof raisedThresholds>
  found: FoundReason
}

/** Thresholds that are met, by what ends them: that of one disk leaves the other disk, its inodes, or memory as they are. */
function causesOfMet(
  all: readonly EvaluatedThreshold[],
  subject: Satisfied<'eviction'>,
  policy: Policy,
): MetPart[] {
  const { ledger, filesystems } = subject
  const layout = ledger?.isShared ? 'shared' : filesystems.layout
  const found = [...Map.groupBy(all, ({ signal }) => resourceOf(signal, layout)).values()]
    .map((met): MetPart => {
      const separate = met.filter(threshold => !isTwin(threshold, met))
      // If a hard threshold is met, no soft one is why pods are evicted.
      const raised = raisedThresholds(
        separate.filter(({ hard }) => hard === separate[0]?.hard),
        subject,
      )
      return { met, raised, found: reasonOf(separate, raised, subject, policy) }
    })
    .toSorted(by(part => part.found.cause === undefined))
  const keyOf = ({ cause = found[0]?.found.cause }: FoundReason) =>
    cause === undefined ? '' : causeKey(cause)
  return [...Map.groupBy(found, part => keyOf(part.found)).values()].map(alike => ({
    ...alike[0]!,
    met: alike.flatMap(({ met }) => met),
    raised: alike.flatMap(({ raised }) => raised),
  }))
}

/** Which of several thresholds it is. */
const metText = (met: readonly EvaluatedThreshold[]) =>
  met
    .filter(({ signal }, index) => met.findIndex(other => other.signal === signal) === index)
    .map(one => `${one.signal} is ${belowText(one)}.`)
    .join(' ')

function failingOf(
  { met, raised, found }: MetPart,
  subject: Satisfied<'eviction'>,
  isAlone: boolean,
): Failing {
  const { eviction, conditions, configuration } = subject
  const separate = met.filter(threshold => !isTwin(threshold, met))
  const reported = [...new Set(met.map(({ signal }) => conditionOf(signal)))]
  const isIdle = isUnreported(separate, conditions)
  const reason = isIdle ? found : withoutOwnDeletion(found, subject)
  const isNamed = found.cause?.kind === 'setting' && found.cause.fields[0]?.startsWith(softMap)
  const waiting = waitingText(separate, subject, isNamed === true)
  const powerless = isPowerless(separate, eviction)
  const isActing = isAlone || met.some(({ signal }) => eviction.actsOn.includes(signal))
  const seen =
    waiting === null
      ? [isAlone ? '' : metText(separate), reason.seen].filter(Boolean).join(' ')
      : [waiting, reason.seen].filter(Boolean).join('; ')
  return {
    ...reason,
    ...(seen !== '' && { seen }),
    ...(waiting !== null && { title: titles.waiting }),
    ...(powerless && { title: titles.powerless }),
    ...(isIdle && { title: titles.unreported, steps: withRestartStep(reason.steps ?? []) }),
    consequence: [
      ...(isIdle
        ? [
            'The node still reports no DiskPressure. If the next reading finds the same, this kubelet does not act: its statistics are old, or of another filesystem.',
          ]
        : []),
      ...Map.groupBy(separate, threshold =>
        consequenceOf(threshold, powerless, conditions[conditionOf(threshold.signal)] === 'True'),
      )
        .entries()
        .map(
          ([text, alike]) =>
            `${alike.map(({ signal }) => signal).join(' and ')} ${alike.length > 1 ? 'are' : 'is'} ${text}`,
        ),
      ...(isActing ? reclaimText(eviction) : []),
    ].join(' '),
    evidence: [
      ...separate.flatMap(threshold => [
        thresholdEvidence(threshold, configuration),
        ...computedLines(threshold),
      ]),
      ...(isActing ? victimLines(eviction) : []),
      ...reported.map(condition =>
        line('node', `node condition ${condition}`, conditions[condition] ?? 'not reported'),
      ),
      ...raised.flatMap(({ signal, hard, to }) =>
        hard ? [line('computed', `the kubelet's default of ${signal}`, `${to}, not met`)] : [],
      ),
    ],
  }
}

/** Of what the kubelet deletes by itself now, a restart that makes it do so frees nothing more. */
function withoutOwnDeletion<Found extends Pick<Failing, 'steps'>>(
  found: Found,
  subject: Satisfied<'eviction'>,
): Found {
  const others = found.steps?.filter(({ id }) => id !== 'prune-images') ?? []
  return others.length > 0 && isReclaimEnough(subject) ? { ...found, steps: others } : found
}

/** Whether a disk is past a hard threshold, and the node says that there is no pressure. */
const isUnreported = ([first]: readonly EvaluatedThreshold[], conditions: Record<string, string>) =>
  first?.hard === true &&
  conditionOf(first.signal) === 'DiskPressure' &&
  conditions.DiskPressure === 'False'

/** Whether static and critical pods are all that is left: the kubelet evicts none of them. */
function isPowerless([first]: readonly EvaluatedThreshold[], eviction: EvictionPrediction) {
  const ranking = eviction.rankings?.find(({ signal }) => signal === first?.signal)
  return (
    first?.hard === true &&
    ranking !== undefined &&
    evictablePods(ranking.pods, eviction).length === 0
  )
}

const softMap = 'evictionSoft.'

/**
 * Until when the first soft threshold waits at most, and what it takes first. Null: it is hard, or acts already.
 *
 * @param isNamed the cause names the threshold and its value
 */
function waitingText(
  met: readonly EvaluatedThreshold[],
  subject: Satisfied<'eviction'>,
  isNamed = false,
) {
  const [first] = met
  const waitsMs = gracePeriodLeft(met, subject)
  if (!first || waitsMs === 0) return null
  const { signal, value, margin } = first
  const time = shownTime(new Date(Date.parse(subject.at) + waitsMs).toISOString())
  const [, disk] = /^(nodefs|imagefs)\./.exec(signal) ?? []
  const { layout } = subject.filesystems
  const kinds = disk && layout ? nodeReclaimKinds[layout][disk as 'nodefs' | 'imagefs'] : []
  const images = kinds.includes('images') ? ', on unused images before pods' : ''
  const missing = margin === null ? null : `${shownAmount(first, -margin)} missing`
  const named = `${softMap}${signal} is ${shorten(value)}${missing === null ? '' : ` (${missing})`}`
  const stated = isNamed ? missing : named
  return `${stated === null ? '' : `${stated}: `}the kubelet acts at ${time} at the latest${images}`
}

/** How long the first soft threshold, by the node's condition, still waits at most. 0: it evicts. */
function gracePeriodLeft([first]: readonly EvaluatedThreshold[], { node, at }: NodeSubject) {
  if (!first || first.hard) return 0
  const condition = conditionOf(first.signal)
  const reported = node?.status?.conditions?.find(({ type }) => type === condition)
  const since = reported?.status === 'True' ? Date.parse(reported.lastTransitionTime ?? '') : NaN
  const left = first.gracePeriodMs - (Number.isNaN(since) ? 0 : Date.parse(at) - since)
  return Math.max(0, left)
}

/** What gives room comes first, whether the kubelet acts or not, unless it costs the node. */
function withRestartStep([first, ...others]: readonly StepAction[]): StepAction[] {
  const restart = { id: 'restart-kubelet', variant: 'idle' } as const
  if (!first) return [restart]
  return first.id === 'replace-node' ? [restart, first, ...others] : [first, restart, ...others]
}

/**
 * Signals without an observation. If statistics were not requested, a False condition replaces the
 * observation: the kubelet sets a condition as soon as one of its thresholds is met.
 */
function unobservedSignals({ eviction, summary, unread, conditions }: Satisfied<'eviction'>) {
  const isNotRequested = summary === null && unread.summary === undefined
  const isDenied = (signal: Signal) => isNotRequested && conditions[conditionOf(signal)] === 'False'
  const unobserved = eviction.thresholds
    .filter(({ met, signal }) => met === null && !isDenied(signal))
    .map(({ signal }) => signal)
  return [...new Set(unobserved)]
}

function processReason(subject: Satisfied<'eviction'>) {
  const { capacityBytes = 0, availableBytes = 0 } = subject.eviction.signals['pid.available'] ?? {}
  const usedPids = capacityBytes - availableBytes
  const { cause, use, steps } = processUse(subject, usedPids)
  return {
    cause,
    steps,
    ...(use !== null && { seen: `${usedPids} process ids are in use: ${use}.` }),
  }
}

/** Times the formula of EKS that are reserved where the reserve is the cause. */
const muchReserved = 2

/** The reserve of EKS for as many pods. Null: not much more is reserved. */
function smallerReserve({ configuration, eviction }: Satisfied<'eviction'>) {
  const reserved = configuration ? reservedOf(configuration, 'memory') : null
  const pods = configuration?.maxPods ?? configurationDefaults.maxPods ?? 110
  const usual = eksReservedMemoryMiB(pods) * mebibyte
  if (!configuration || !reserved || reserved.kube < muchReserved * usual) return null
  const memory = `${eksReservedMemoryMiB(pods)}Mi`
  const all = eviction.signals['memory.available']?.capacityBytes ?? 0
  return {
    cause: kubeletSetting('kubeReserved.memory'),
    steps: [{ id: 'set-fields' as const }],
    fix: { config: { kubeReserved: { ...configuration.kubeReserved, memory } } },
    seen: `${bytes(reserved.total)} of ${bytes(all)} are reserved, and pods share the rest; EKS reserves ${bytes(usual)} for ${pods} pods.`,
  }
}

/** A threshold that is wrong comes first; else what holds the disk. Of memory, the pods' own requests. */
function reasonOf(
  met: readonly EvaluatedThreshold[],
  raised: ReturnType<typeof raisedThresholds>,
  subject: Satisfied<'eviction'>,
  policy: Policy,
): FoundReason {
  const [first] = met
  if (!first) return {}
  const held = diskReason(subject, first.signal)
  const wrong = raisedReason(raised, subject)
  if (wrong) return wrong
  const fix = isAboveDefault(first, subject) ? imageGcFix(subject, policy) : undefined
  if (fix && !first.hard && first.signal.endsWith('.available')) {
    const unused = subject.unusedImages()
    const isNamed = waitingText(met, subject) !== null
    const named = isNamed ? [] : [`evictionSoft.${first.signal} is ${shorten(first.value)}`]
    return {
      cause: imageGcThresholds,
      // Image GC that starts below the threshold frees the unused images before it is met.
      steps: [{ id: 'set-fields' }],
      seen: [...named, ...(unused === null ? [] : [unused])].join('; '),
      fix,
    }
  }
  // Image GC would free it, and comes too late: its setting is the cause. Of images whose use is unknown, that is not known.
  const isLate = (subject.imageGC?.highThresholdPercent ?? 100) > earlyGcPercent
  const isOfImages =
    held?.cause.kind === 'holder' &&
    held.cause.freedBy === 'image-gc' &&
    (held.cause.holder !== 'images' || areUnusedKnown(subject))
  const isOfInodes = first.signal.endsWith('.inodesFree')
  const drain = isReclaimEnough(subject) ? [] : [drainStep(subject)]
  if (held?.fix && isOfImages && isOfInodes)
    return {
      cause: kubeletSetting('imageMaximumGCAge'),
      steps: [...held.steps, ...drain],
      fix: held.fix,
      seen: 'image GC starts by bytes, not by inodes: only imageMaximumGCAge makes it delete images earlier',
    }
  if (held && isOfImages && (isOfInodes || !isLate))
    return {
      cause: held.cause,
      steps: [...held.steps, ...(isOfInodes ? [] : [{ id: 'larger-disk' as const }]), ...drain],
    }
  if (held && isOfImages)
    return {
      cause: imageGcThresholds,
      steps: [...held.steps.filter(({ id }) => id !== 'read-on-node'), ...drain],
      ...(held.seen !== undefined && { seen: held.seen }),
    }
  if (held) {
    const ending = isFreedByDrain(held) ? [podDeletion(held.cause, subject) ?? drain].flat() : []
    // The measurement takes seconds. What it shows decides whether a larger disk ends this.
    const isUnsure = withMeasurementFirst(held, subject) !== held
    const steps = held.steps.map(step =>
      isUnsure && step.id === 'larger-disk' ? { ...step, isUnsure } : step,
    )
    return { ...held, steps: [...steps, ...ending] }
  }
  const condition = conditionOf(first.signal)
  if (condition === 'DiskPressure') return {}
  if (condition === 'PIDPressure') return processReason(subject)
  if (first.signal === 'allocatableMemory.available') {
    const reserve = smallerReserve(subject)
    if (reserve) return reserve
  }
  const memory = memoryReason(subject)
  const user = memoryUserText(memory, subject)
  return {
    ...memory,
    ...(user !== null && { seen: [user, memory.seen].filter(Boolean).join(' ') }),
    steps: [...memory.steps, memoryDeletion(memory, subject) ?? drainStep(subject)],
  }
}

/** The pod with most of the memory. Null: the cause names its own holder. */
function memoryUserText({ steps }: Reason, { eviction }: Satisfied<'eviction'>) {
  const { owner, bytes: used } = steps.find(({ id }) => id === 'set-memory') ?? {}
  if (!owner || !('pod' in owner) || owner.pod === null || used === undefined) return null
  const all = eviction.signals['memory.available']?.capacityBytes ?? 0
  const name = shortPodName({ namespace: owner.namespace ?? '', name: owner.pod })
  return `${name} uses ${bytes(used)} of ${bytes(all)} of memory.`
}

/**
 * Whether no threshold is met without the unused images, minimum reclaim included: then the kubelet deletes them and evicts no pod.
 * Upstream: pkg/kubelet/eviction/eviction_manager.go reclaimNodeLevelResources
 */
const isReclaimEnough = ({ eviction, ledger }: Satisfied<'eviction'>): boolean =>
  eviction.nodeReclaim.includes('images') &&
  eviction.thresholds.every(({ signal, met, margin, minReclaim }) => {
    if (margin === null) return met === false
    const name = ledger?.isShared || signal.startsWith('nodefs.') ? 'nodefs' : 'imagefs'
    const disk = ledger && diskOf(ledger, name)
    const unused = disk ? lineOf(disk, 'images-unused') : undefined
    const freed = reclaimedOf(signal, unused, ledger?.isShared === true)
    const capacityBytes = eviction.signals[signal]?.capacityBytes ?? 0
    return margin + freed >= (amountOf(minReclaim, capacityBytes) ?? 0)
  })

/** What the deletion of unused images adds to the signal. */
function reclaimedOf(signal: Signal, unused: LedgerLine | undefined, isShared: boolean): number {
  if (conditionOf(signal) !== 'DiskPressure') return 0
  if (signal.startsWith('containerfs.') && !isShared) return 0
  const freed = signal.endsWith('.inodesFree') ? unused?.inodes : unused?.lowBytes
  return freed ?? 0
}

/**
 * Whether bytes go with the pods that a drain moves: it leaves those of DaemonSets, and what is not of pods. A reboot has a drain of its own,
 * and a larger disk moves the pods. What fills the disk again after each eviction is gone with the pod before it was seen,
 * and so is the only copy of data.
 */
const isFreedByDrain = ({ cause, steps }: Reason): boolean =>
  !steps.some(
    ({ id, variant }) =>
      id === 'reboot' || id === 'larger-disk' || /^(?:needed|data|image)$/.test(variant ?? ''),
  ) &&
  (cause.kind === 'holder'
    ? cause.freedBy !== 'nothing' && cause.freedBy !== 'process-end' && !isOfDaemonSet(cause.owner)
    : cause.kind !== 'unread')

/** Whether the API shows images that no pod of the node uses. */
function areUnusedKnown({ pods, ledger }: Satisfied<'eviction'>): boolean {
  const isRead = pods?.every(
    ({ status }) => status?.phase !== 'Running' || status.containerStatuses !== undefined,
  )
  const isUnusedImage = ({ owner }: HolderPart) =>
    owner?.kind === 'image' && owner.workloads.length === 0
  return isRead === true && ledger?.parts.some(isUnusedImage) === true
}

function computedLines(threshold: EvaluatedThreshold) {
  const { resolved, margin } = threshold
  if (resolved === null) return []
  const computedLine = (what: string, amount: number) =>
    amountLine('computed', threshold, what, amount)
  const limit = computedLine('is met below', resolved)
  if (margin === null) return [limit]
  return [limit, computedLine('now', resolved + margin), computedLine('margin', margin)]
}

const victimLines = (eviction: EvictionPrediction) =>
  nextVictims(eviction).map(({ namespace, name, certainty }) =>
    line(
      'computed',
      certainty === 'certain' ? 'this pass evicts' : 'this pass may evict',
      shortName(`${namespace}/${name}`),
    ),
  )

/** Whether the disk has twice what the default of the hard threshold asks for. */
function isAboveDefault(threshold: EvaluatedThreshold, subject: Satisfied<'eviction'>) {
  const found = defaultAmounts(threshold, subject)
  return found !== null && found.left >= 2 * found.byDefault
}

/**
 * @param powerless no pod is left that the kubelet may evict
 * @param isReported the node has the condition already
 */
function consequenceOf(threshold: EvaluatedThreshold, powerless: boolean, isReported: boolean) {
  const { signal, hard, gracePeriodMs } = threshold
  const below = belowText(threshold)
  return hard
    ? `${below}: ${isReported ? 'the kubelet reports' : `within ${evictionSeconds} s the kubelet reports`} ${conditionOf(signal)} and ${powerless ? 'evicts none: no pod is left that it may evict' : 'evicts, one pod a pass'}.`
    : `${below}: the kubelet reports ${conditionOf(signal)} at once, and evicts if it stays so for ${gracePeriodMs / 1000} s.`
}

function belowText(threshold: EvaluatedThreshold): string {
  const { resolved, margin, value } = threshold
  if (resolved === null || margin === null) return `below ${value}`
  const amountText = (count: number) => shownAmount(threshold, count)
  return `${amountText(resolved + margin)}, below ${amountText(resolved)}`
}

/** Those that stand first by a signal of the pass, as the report's order of eviction has them. */
function nextVictims({ victims, rankings, actsOn }: EvictionPrediction) {
  const all = victims ?? []
  const first = all.filter(({ namespace, name }) =>
    rankings?.some(
      ({ signal, pods }) =>
        actsOn.includes(signal) &&
        pods.some(pod => pod.namespace === namespace && pod.name === name && pod.rank === 0),
    ),
  )
  return (first.length > 0 ? first : all).slice(0, shownVictims)
}

function reclaimText(eviction: EvictionPrediction) {
  const { nodeReclaim, imageDeletions, actsOn } = eviction
  if (actsOn.length === 0) return []
  const images = imageDeletions?.length ?? null
  const deleted = nodeReclaim.includes('images')
    ? [
        `Before that it deletes every unused image${images === null ? '' : `, ${images} as far as is known`}.`,
      ]
    : []
  const victims = nextVictims(eviction)
  const first = victims.map(({ namespace, name }) => `${namespace}/${name}`)
  if (first.length === 0) return deleted
  return [
    ...deleted,
    shorten(
      `${deleted.length === 0 || victims[0]?.certainty === 'certain' ? 'First to go' : 'If that is not enough, first to go'}: ${first.join(' or ')}.`,
    ),
  ]
}
