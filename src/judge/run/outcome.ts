/** The outcome of one rule on one node. Unknown is never pass. */

import { createHash } from 'node:crypto'
import { messageOf } from '#base/operator-error.ts'
import { mapOf } from '#base/raw-object.ts'
import { byText } from '#base/text/text-order.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import {
  add,
  largestFirst,
  nodeCount,
  sample,
  sampleSize,
  type Variant,
} from '#judge/drift/variants.ts'
import { type Origin, originOf, type Proposal } from '#judge/durable/durable.ts'
import type { Command } from '#judge/garbage/kubectl.ts'
import { withDeletion } from '#judge/help/deletion.ts'
import { withAmounts } from '#judge/help/disk-size.ts'
import { diskReason } from '#judge/help/holders.ts'
import { amountOf } from '#judge/help/thresholds.ts'
import {
  type Failing,
  line,
  lines,
  type NodeRule,
  nameLength,
  plural,
  type Rule,
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
import type { StepAction } from '#model/finding/cause.ts'
import {
  type ClusterResult,
  type Confidence,
  type Evidence,
  type Finding,
  type FindingsDocument,
  type NotAudited,
  type Severity,
  severities,
  type UnknownOutcome,
} from '#model/finding/finding.ts'
import type { GarbageOverview } from '#model/finding/garbage-overview.ts'
import {
  type NodeIdentity,
  promisedSources,
  type ReadMode,
  type Subject,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { conditionOf, type Signal, sisterOf } from '#model/prediction/prediction.ts'

export type Outcome =
  | { state: 'pass' | 'notApplicable' }
  | { state: 'fail'; failing: Failing }
  | { state: 'unknown'; reason: string }
  | { state: 'error'; message: string }

export const outcomeOf = (rule: NodeRule, subject: NodeSubject, policy: Policy): Outcome =>
  unlessThrown(() => {
    if (!rule.appliesTo(subject)) return { state: 'notApplicable' }
    const reason = missingNeeds(rule, subject)
    if (reason !== null) return { state: 'unknown', reason }
    const outcome = fromYields(rule.judge(subject, policy), rule.severity)
    return outcome.state === 'fail'
      ? { ...outcome, failing: withRoomFirst(outcome.failing, subject) }
      : outcome
  })

/** A rule that throws has the outcome `error`; the other rules still run. */
export function unlessThrown(judge: () => Outcome): Outcome {
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

export function fromYields(yielded: Iterable<Failing | Undecided>, severity: Severity): Outcome {
  const failings: Failing[] = []
  const reasons: string[] = []
  for (const each of yielded) {
    if ('consequence' in each) failings.push(each)
    else reasons.push(each.unknown)
  }
  if (failings.length > 0) return { state: 'fail', failing: joinFailings(failings, severity) }
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
export const severityRank = (severity: Severity): number => severities.indexOf(severity)

export const worstSeverity = (found: Severity[]): Severity =>
  found.toSorted((a, b) => severityRank(a) - severityRank(b))[0] ?? 'info'

const certainty: readonly Confidence[] = ['possible', 'likely', 'certain']

/** A merged finding is only as certain as its least certain part. */
export const leastCertain = (found: readonly Confidence[]): Confidence =>
  certainty.find(confidence => found.includes(confidence)) ?? 'certain'

/** Whether mode `both` reads a source that a need depends on and this mode does not read. */
export const isEndedByBoth = (needs: readonly Need[], mode: ReadMode): boolean =>
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

/* A new hard eviction threshold above what is free: the kubelet evicts pods within seconds of its restart. So room comes first. */

interface Shortage {
  signal: Signal
  /** Bytes or inodes that have to be free before the threshold is set. */
  missing: number
  share: number
}

/** The failing whose step says that its new threshold evicts at once. */
function withRoomFirst(failing: Failing, subject: NodeSubject): Failing {
  const set = { id: 'set-fields' as const }
  const { fix, steps = [set] } = failing
  const [worst] = Object.entries(mapOf(fix?.config.evictionHard))
    .flatMap(([signal, value]) => shortageOf(signal as Signal, String(value), subject) ?? [])
    .toSorted((a, b) => b.share - a.share)
  if (worst === undefined || !steps.some(({ id }) => id === 'set-fields')) return failing
  const { signal, missing } = worst
  const isCount = signal.endsWith('.inodesFree') || signal === 'pid.available'
  const late: StepAction = isCount ? { ...set, isShort: true } : { ...set, bytes: missing }
  // Of memory and process ids, the rules order the steps.
  if (conditionOf(signal) !== 'DiskPressure')
    return { ...failing, steps: steps.map(step => (step.id === 'set-fields' ? late : step)) }
  const reason = diskReason(subject, signal)
  const isWatched = subject.eviction?.thresholds.some(
    one => one.signal === signal || one.signal === sisterOf(signal),
  )
  const freeing = reason && !isWatched ? withDeletion(reason, subject) : reason
  const room = freeing?.steps.filter(({ id }) => id !== 'set-fields') ?? []
  const others = steps.filter(({ id }) => id !== 'set-fields')
  return { ...failing, steps: [...room.slice(0, 1), late, ...others] }
}

/** Null: enough is free, a threshold of the signal is met already, or the node does not have the signal. */
function shortageOf(signal: Signal, value: string, { eviction }: NodeSubject): Shortage | null {
  const { capacityBytes, availableBytes } = eviction?.signals[signal] ?? {}
  if (!capacityBytes || availableBytes == null) return null
  const needed = amountOf(value, capacityBytes)
  const isMet = eviction?.thresholds.some(one => one.signal === signal && one.met === true)
  if (needed === null || isMet === true || needed <= availableBytes) return null
  return {
    signal,
    missing: needed - availableBytes,
    share: (needed - availableBytes) / capacityBytes,
  }
}

/*
 * Distinct failings and reasons of each rule and subject, each kept once with the names of its nodes. At the end they become findings
 * and unknowns, whose bytes do not depend on the order of the nodes.
 */

/** A rule that threw. That is a defect of ours, so the run fails. */
export interface RuleError {
  rule: string
  cluster: string
  node: string
  message: string
}

export interface JudgementResult {
  clusters: ClusterResult[]
  findings: Finding[]
  waived: Finding[]
  unknowns: UnknownOutcome[]
  notAudited: NotAudited[]
  /** Empty here: history decides which findings are new or resolved. */
  delta: { new: string[]; resolved: string[] }
  ruleErrors: RuleError[]
  /** Sorted by cluster; only clusters that were searched for garbage. */
  garbage: GarbageOverview[]
}

/** The same result as one judgement of all clusters. @param results of different clusters, each with every node listed */
export const mergedJudgements = (results: readonly JudgementResult[]): JudgementResult => ({
  clusters: results.flatMap(({ clusters }) => clusters).toSorted((a, b) => byText(a.name, b.name)),
  findings: results.flatMap(({ findings }) => findings).toSorted(byFinding),
  waived: results.flatMap(({ waived }) => waived).toSorted(byFinding),
  unknowns: results.flatMap(({ unknowns }) => unknowns).toSorted(byUnknown),
  notAudited: withoutRepeats(results.flatMap(({ notAudited }) => notAudited)),
  delta: { new: [], resolved: [] },
  ruleErrors: inOrder(results.flatMap(({ ruleErrors }) => ruleErrors)),
  garbage: results
    .flatMap(({ garbage }) => garbage)
    .toSorted((a, b) => byText(a.cluster, b.cluster)),
})

export const withoutRepeats = (entries: readonly NotAudited[]): NotAudited[] =>
  [...new Map(entries.map(entry => [JSON.stringify(entry), entry])).values()].toSorted(
    (a, b) =>
      byText(a.cluster, b.cluster) ||
      byText(a.node ?? '', b.node ?? '') ||
      byText(a.reason, b.reason),
  )

export const inOrder = (errors: readonly RuleError[]): RuleError[] =>
  errors.toSorted(
    (a, b) =>
      byText(a.rule, b.rule) ||
      byText(a.cluster, b.cluster) ||
      byText(a.node, b.node) ||
      byText(a.message, b.message),
  )

/** If a document has more findings than this, each names fewer nodes, so that reports stay short. */
export const manyFindings = 300

type NamedSample = Pick<FindingsDocument, 'findings' | 'waived' | 'unknowns'>

/** Gives the same names as a judgement without `allNodes`. */
export function withShownNames({ findings, waived, unknowns }: NamedSample): NamedSample {
  const size = findings.length + waived.length > manyFindings ? fewNodes : sampleSize
  const cut = <Entry extends Finding | UnknownOutcome>(entry: Entry, names: number): Entry => ({
    ...entry,
    nodes: { ...entry.nodes, sample: entry.nodes.sample.slice(0, names) },
  })
  return {
    findings: findings.map(finding => cut(finding, size)),
    waived: waived.map(finding => cut(finding, size)),
    unknowns: unknowns.map(unknown => cut(unknown, fewNodes)),
  }
}

export const evidenceLimit = 24
/** Number of other variants whose evidence is shown where it differs from the largest variant's. */
const otherVariantsShown = 2
/** Number of node names that suffice in long lists. */
export const fewNodes = 5
const consequenceLength = 1000
const fixLength = 4000
const stepLimit = 8

interface NodeFailing {
  failing: Failing
  origin: Origin
}

/** A finding before policy and fixes. */
export interface FoundFinding {
  rule: Rule
  cluster: string
  subject: Subject
  finding: Finding
  /** The intended configuration for each variant of failing nodes, most nodes first. */
  proposals: (Proposal & { nodes: string[] })[]
  /** Every node that the finding is about. */
  nodes: readonly string[]
  actions: readonly StepAction[] | null
  /** The rule's own commands. */
  commands: readonly Command[]
}

/** The node that the commands of a finding name. */
export const commandNode = (nodes: readonly string[]): string | undefined => nodes.toSorted()[0]

/** Steps that differ only in what they end on their node, or in the size of a larger disk, are one. */
const keyOf = ({ lost: _, bytes, usdPerMonth, ...step }: StepAction) =>
  JSON.stringify(step.id === 'larger-disk' ? step : { ...step, bytes, usdPerMonth })

export class Tally {
  readonly rule: RuleOfNodes
  readonly cluster: string
  readonly subject: Subject
  readonly #failings = new Map<string, Variant<NodeFailing>>()
  readonly #reasons = new Map<string, Variant<string>>()
  #isEndedByBoth = true

  constructor(rule: RuleOfNodes, cluster: string, subject: Subject) {
    this.rule = rule
    this.cluster = cluster
    this.subject = subject
  }

  fail(failing: Failing, identity: NodeIdentity): void {
    add(this.#failings, identity.name, {
      failing: boundedFailing(failing),
      origin: originOf(identity),
    })
  }

  /** @param isEnded whether mode `both` would decide the outcome */
  addUnknown(node: string, reason: string, isEnded: boolean): void {
    add(this.#reasons, node, shorten(reason))
    if (!isEnded) this.#isEndedByBoth = false
  }

  /** Adds another tally of the same rule. */
  absorb(other: Tally): void {
    for (const { value, nodes } of other.#failings.values())
      for (const node of nodes) add(this.#failings, node, value)
    for (const { value, nodes } of other.#reasons.values())
      for (const node of nodes) add(this.#reasons, node, value)
    if (!other.#isEndedByBoth) this.#isEndedByBoth = false
  }

  /** Steps of the failing on most nodes, then those that other nodes need. What a drain ends is that of the commands' node. */
  #actions(variants: readonly Variant<NodeFailing>[]): readonly StepAction[] | null {
    const all = variants.map(({ value }) => value.failing)
    const own = Map.groupBy(
      all.flatMap(({ steps = [] }) => steps),
      keyOf,
    )
    if (own.size > 0) {
      const first = commandNode(variants.flatMap(({ nodes }) => nodes))
      const named = variants.find(({ nodes }) => nodes.some(name => name === first))
      const ofNode = new Map(named?.value.failing.steps?.map(step => [keyOf(step), step]))
      return [...own].slice(0, stepLimit).map(([key, alike]) => {
        const { lost: _, ...step } = alike[0]!
        return withAmounts([ofNode.get(key) ?? step, ...alike])
      })
    }
    const isSettable = all.some(({ fix }) => Object.keys(fix?.config ?? {}).length > 0)
    return isSettable ? null : (this.rule.steps?.map(id => ({ id })) ?? null)
  }

  foundFinding(allNodes: boolean): FoundFinding | null {
    const variants = largestFirst(this.#failings)
    const [main, ...others] = variants
    if (!main) return null
    const all = variants.map(({ value }) => value.failing)
    const { rule, cluster, subject } = this
    return {
      rule,
      cluster,
      subject,
      finding: findingOf(rule, cluster, subject, {
        ...main.value.failing,
        severity: worstSeverity(all.map(failing => failing.severity ?? rule.severity)),
        confidence: leastCertain(all.map(({ confidence }) => confidence ?? 'certain')),
        nodes: sample(variants, allNodes),
        evidence: mergedEvidence(main, others),
      }),
      proposals: variants.map(({ value: { origin, failing }, nodes }) => ({
        origin,
        config: failing.fix?.config ?? {},
        nodes,
      })),
      nodes: [...this.#failings.values()].flatMap(({ nodes }) => nodes),
      actions: this.#actions(variants),
      commands: [],
    }
  }

  unknownOutcome(allNodes: boolean): UnknownOutcome | null {
    const [main, ...others] = largestFirst(this.#reasons)
    if (!main) return null
    return {
      rule: this.rule.id,
      cluster: shorten(this.cluster),
      subject: boundedSubject(this.subject),
      nodes: sample([main, ...others], allNodes, fewNodes),
      reason:
        others.length === 0
          ? main.value
          : `${main.value} (and ${plural(others.length, 'more reason')})`,
      ...(this.#isEndedByBoth && { endedBy: 'mode-both' }),
    }
  }
}

/** A finding without policy, steps and fix. */
export const findingOf = (
  rule: Rule,
  cluster: string,
  subject: Subject,
  {
    severity = rule.severity,
    confidence = 'certain',
    nodes,
    places,
    title = rule.docs.title,
    consequence,
    evidence,
    cause = rule.cause,
    seen,
  }: Omit<Failing, 'fix'> & Pick<Finding, 'nodes' | 'places'>,
): Finding => ({
  id: findingId(rule.id, cluster, subject),
  rule: rule.id,
  family: rule.family,
  severity,
  confidence,
  cluster: shorten(cluster),
  subject: boundedSubject(subject),
  nodes,
  ...(places !== undefined && { places }),
  title,
  consequence,
  evidence,
  cause,
  ...(seen !== undefined && { seen }),
  steps: [],
  fix: { config: {}, durable: [] },
  since: null,
  waived: null,
  docs: rule.docs,
})

/** A stable id: the same defect on the same subject has the same id in every run. First 64 bits of a SHA-256, in hexadecimal. */
export function findingId(
  rule: string,
  cluster: string,
  { kind, namespace, name }: Subject,
): string {
  return createHash('sha256')
    .update(JSON.stringify([rule, cluster, kind, namespace, name]))
    .digest('hex')
    .slice(0, 16)
}

/** The largest variant's evidence, then differing evidence of the next variants, then the number of further variants. */
function mergedEvidence(main: Variant<NodeFailing>, others: Variant<NodeFailing>[]) {
  const same = new Set(main.value.failing.evidence.map(entry => JSON.stringify(entry)))
  const shown = others.slice(0, otherVariantsShown)
  const hidden = others.slice(otherVariantsShown)
  const differing = shown.flatMap(({ value, nodes }) =>
    value.failing.evidence
      .filter(entry => !same.has(JSON.stringify(entry)))
      .map(entry => ({ ...entry, what: `${entry.what} on ${plural(nodes.length, 'other node')}` })),
  )
  const rest =
    hidden.length === 0
      ? []
      : [
          line(
            'omitted',
            `and ${plural(hidden.length, 'more variant')}`,
            `on ${plural(nodeCount(hidden), 'node')}`,
          ),
        ]
  return [...main.value.failing.evidence, ...differing, ...rest]
}

export function boundedFailing<Kind extends Omit<Failing, 'fix'>>(
  failing: Kind & { fix?: Failing['fix'] },
): Kind {
  const { consequence, seen, evidence, fix, title } = failing
  const hidden = evidence.length - evidenceLimit
  return {
    ...failing,
    consequence: shorten(consequence, consequenceLength),
    ...(seen !== undefined && { seen: shorten(seen) }),
    evidence: lines(
      ...evidence
        .slice(0, evidenceLimit)
        .map(({ kind, what, value, bytes }) => ({
          ...line(kind, shorten(what), value),
          ...(bytes !== undefined && { bytes }),
        })),
      hidden > 0 && line('omitted', 'not shown', plural(hidden, 'further line')),
    ),
    // A longer configuration is no real fix: it is unbounded input inside a map.
    fix: fix && JSON.stringify(fix).length <= fixLength ? fix : undefined,
    title: title === undefined ? undefined : shorten(title),
  }
}

const boundedSubject = ({ kind, namespace, name }: Subject): Subject => ({
  kind,
  namespace: namespace === null ? null : shorten(namespace, nameLength),
  name: shorten(name, nameLength),
})

/** Worst first, then in the order that readers look for. The id decides between shortened names. */
export const byFinding = (a: Finding, b: Finding): number =>
  severityRank(a.severity) - severityRank(b.severity) ||
  byText(a.rule, b.rule) ||
  bySubject(a, b) ||
  byText(a.id, b.id)

export const byUnknown = (a: UnknownOutcome, b: UnknownOutcome): number =>
  byText(a.rule, b.rule) || bySubject(a, b) || byText(a.reason, b.reason)

type OnSubject = Pick<UnknownOutcome, 'cluster' | 'subject'>
const bySubject = (a: OnSubject, b: OnSubject) =>
  byText(a.cluster, b.cluster) ||
  byText(a.subject.kind, b.subject.kind) ||
  byText(a.subject.namespace ?? '', b.subject.namespace ?? '') ||
  byText(a.subject.name, b.subject.name)

/** If one rule has an outcome on more ungrouped nodes than this in a cluster, they become one cluster finding. */
export const mostLooseNodes = 25

/**
 * @param open creates the tally of a rule on a whole cluster
 * @param isOwn whether a tally must stay a subject of its own, because a waiver names it
 */
export function gatherLooseNodes(
  tallies: readonly Tally[],
  open: (rule: Tally['rule'], cluster: string, subject: Subject) => Tally,
  isOwn: (tally: Tally) => boolean,
): Tally[] {
  const loose = Map.groupBy(
    tallies.filter(tally => tally.subject.kind === 'Node' && !isOwn(tally)),
    ({ rule, cluster }) => JSON.stringify([rule.id, cluster]),
  )
  const many = [...loose.values()].filter(group => group.length > mostLooseNodes)
  const gathered = many.map(group => {
    const [{ rule, cluster }] = group as [Tally]
    const whole = open(rule, cluster, { kind: 'Cluster', namespace: null, name: cluster })
    for (const tally of group) whole.absorb(tally)
    return whole
  })
  const absorbed = new Set(many.flat())
  return [...tallies.filter(tally => !absorbed.has(tally)), ...gathered]
}
