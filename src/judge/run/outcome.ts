/** The outcome of one rule on one node. Unknown is never pass. */

import { messageOf } from '#base/operator-error.ts'
import { mapOf } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { withDeletion } from '#judge/help/deletion.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import { machineImageReason } from '#judge/help/machine-image.ts'
import { memoryRoom } from '#judge/help/memory-reason.ts'
import { amountOf, watchingThresholds } from '#judge/help/thresholds.ts'
import {
  type Failing,
  imageGcThresholds,
  line,
  type NodeRule,
  type RuleOfNodes,
  shorten,
  type Undecided,
} from '#judge/rule.ts'
import {
  type JudgedNode,
  type Need,
  type NodeSubject,
  needFacts,
} from '#judge/subject/node-subject.ts'
import {
  type Cause,
  type Confidence,
  type Evidence,
  type Severity,
  type StepAction,
  severities,
} from '#model/finding.ts'
import { promisedSources, type ReadMode } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { conditionOf, type Signal } from '#model/prediction.ts'

export type Outcome =
  | { state: 'pass' | 'notApplicable' }
  | { state: 'fail'; failing: Failing; apart?: Failing[] }
  | { state: 'unknown'; reason: string }
  | { state: 'error'; message: string }

export const outcomeOf = (rule: NodeRule, subject: NodeSubject, policy: Policy): Outcome =>
  outcomeOrError(() => {
    if (!rule.appliesTo(subject)) return { state: 'notApplicable' }
    const reason = missingNeeds(rule, subject)
    if (reason !== null) return { state: 'unknown', reason }
    const outcome = outcomeOfYields(rule.judge(subject, policy), rule.severity)
    if (outcome.state !== 'fail') return outcome
    const { failing, apart } = outcome
    const inFull = (one: Failing) =>
      withRoomFirst(withMachineImage(one, rule.cause, subject), subject)
    return { ...outcome, failing: inFull(failing), ...(apart && { apart: apart.map(inFull) }) }
  })

/** A rule that throws has the outcome `error`; the other rules still run. */
export function outcomeOrError(judge: () => Outcome): Outcome {
  try {
    return judge()
  } catch (error) {
    return ruleError(error)
  }
}

export function missingNeeds({ needs }: RuleOfNodes, subject: NodeSubject): string | null {
  if (!needs.some(need => subject[need] === null)) return null
  const missing = needs.filter(need => subject[need] === null)
  const reasons = missing.map(need => subject.missing[need] ?? `${need} is not known`)
  return [...new Set(reasons)].join('; ')
}

export const ruleError = (error: unknown): Outcome => ({
  state: 'error',
  message: shorten(messageOf(error)),
})

export function outcomeOfYields(
  yielded: Iterable<Failing | Undecided>,
  severity: Severity,
): Outcome {
  const failings: Failing[] = []
  const reasons: string[] = []
  for (const each of yielded) {
    if ('consequence' in each) failings.push(each)
    else reasons.push(each.unknown)
  }
  if (failings.length > 0) {
    const apart = failings.filter(({ isApart }, index) => isApart && index > 0)
    const joined = joinFailings(
      failings.filter(one => !apart.includes(one)),
      severity,
    )
    return { state: 'fail', failing: joined, ...(apart.length > 0 && { apart }) }
  }
  return reasons.length > 0
    ? { state: 'unknown', reason: shorten([...new Set(reasons)].join('; ')) }
    : { state: 'pass' }
}

/** Merges failings of one rule on one node. The first leads, and the worst severity counts. */
function joinFailings(failings: Failing[], severity: Severity) {
  const [first, ...others] = failings as [Failing, ...Failing[]]
  if (others.length === 0) return first
  return {
    ...first,
    consequence: failings.map(({ consequence }) => consequence).join(' '),
    evidence: failings.flatMap(({ evidence }) => evidence),
    severity: worstSeverity(failings.map(failing => failing.severity ?? severity)),
  }
}

/** Rank 0 is the worst severity. */
export const severityRank = (severity: Severity) => severities.indexOf(severity)

export const worstSeverity = (found: Severity[]): Severity =>
  found.toSorted((a, b) => severityRank(a) - severityRank(b))[0] ?? 'info'

const certainty: readonly Confidence[] = ['possible', 'likely', 'certain']

/** A merged finding is only as certain as its least certain part. */
export const leastCertain = (found: readonly Confidence[]): Confidence =>
  certainty.find(confidence => found.includes(confidence)) ?? 'certain'

/** Whether mode `both` reads a source that a need depends on and this mode does not read. */
export const isEndedByBoth = (needs: readonly Need[], mode: ReadMode) =>
  needs.some(need =>
    needFacts[need].sources?.some(source => !promisedSources[mode].includes(source)),
  )

/* Confidence of a failing, and the source of its settings, from what is known of the node. */

/** A failing is at most `likely` if it rests on another minor's facts or on an unread running configuration. Rules without needs rest on neither. */
export function limitConfidence(
  { needs }: RuleOfNodes,
  { identity, isConfigurationOnDisk }: JudgedNode,
  failing: Failing,
): Failing {
  const isBorrowed = needs.length > 0 && !featuresOf(identity.kubeletVersion).exact
  // A rule that does not need a configuration may still have used it.
  const isUsed =
    needs.some(need => needFacts[need].isOfConfiguration) ||
    failing.evidence.some(({ kind }) => kind === 'configz')
  const isOnDisk = isConfigurationOnDisk && isUsed
  const evidence = failing.evidence.map(entry => sourcedLine(entry, isOnDisk))
  if (!isBorrowed && !isOnDisk) return { ...failing, evidence }
  return {
    ...failing,
    evidence,
    confidence: failing.confidence === 'possible' ? 'possible' : 'likely',
  }
}

function sourcedLine(entry: Evidence, isOnDisk: boolean) {
  if (entry.kind !== 'configz') return entry
  return isOnDisk
    ? line('onDisk', `on disk ${entry.what}`, entry.value)
    : line('configz', `configz ${entry.what}`, entry.value)
}

const ofImageGc: ReadonlySet<string | undefined> = new Set([
  ...imageGcThresholds.fields,
  'imageMaximumGCAge',
])

/** No setting of image GC ends what each new node brings with it. */
function withMachineImage(failing: Failing, usual: Cause, subject: NodeSubject): Failing {
  const { cause = usual } = failing
  const isOfImages =
    (cause.kind === 'setting' && ofImageGc.has(cause.fields[0])) ||
    (cause.kind === 'holder' && (cause.holder === 'images' || cause.holder === 'images-unused'))
  const reason = isOfImages ? machineImageReason(subject) : null
  return reason ? { ...failing, ...reason, confidence: 'likely', fix: undefined } : failing
}

/* A new hard eviction threshold above what is free: the kubelet evicts pods within seconds of its restart. So room comes first. */

/** The failing whose step says that its new threshold evicts at once. */
function withRoomFirst(failing: Failing, subject: NodeSubject): Failing {
  const set = { id: 'set-fields' as const }
  const { fix, steps = [set] } = failing
  const [worst] = Object.entries(mapOf(fix?.config.evictionHard))
    .flatMap(([signal, value]) => shortageOf(signal as Signal, String(value), subject) ?? [])
    .toSorted((a, b) => b.share - a.share)
  if (!worst || !steps.some(({ id }) => id === 'set-fields')) return failing
  const { signal, missing } = worst
  const isCount = signal.endsWith('.inodesFree') || signal === 'pid.available'
  const late: StepAction = isCount ? { ...set, isShort: true } : { ...set, bytes: missing }
  const others = steps.filter(({ id }) => id !== 'set-fields')
  if (conditionOf(signal) === 'MemoryPressure' && others.length === 0)
    return { ...failing, steps: memoryRoom(subject).toSpliced(1, 0, late) }
  // For process ids, and memory with other steps, the rules order the steps.
  if (conditionOf(signal) !== 'DiskPressure')
    return { ...failing, steps: steps.map(step => (step.id === 'set-fields' ? late : step)) }
  const reason = diskReason(subject, signal)
  const { eviction } = subject
  const isWatched = eviction && watchingThresholds(signal, { ...subject, eviction }).length > 0
  const freeing = reason && !isWatched ? withDeletion(reason, subject) : reason
  const room = freeing?.steps.filter(({ id }) => id !== 'set-fields') ?? []
  return { ...failing, steps: [...room.slice(0, 1), late, ...others] }
}

/** Null: enough is free, a threshold of the signal is met already, or the node does not have the signal. */
function shortageOf(signal: Signal, value: string, { eviction }: NodeSubject) {
  const { capacityBytes, availableBytes } = eviction?.signals[signal] ?? {}
  if (!capacityBytes || availableBytes == null) return null
  const needed = amountOf(value, capacityBytes)
  const isMet = eviction?.thresholds.some(one => one.signal === signal && one.met === true)
  if (needed === null || isMet === true || needed <= availableBytes) return null
  return {
    signal,
    /** Bytes or inodes that have to be free before the threshold is set. */
    missing: needed - availableBytes,
    share: (needed - availableBytes) / capacityBytes,
  }
}
