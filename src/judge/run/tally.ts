/**
 * Distinct failings and reasons of each rule and subject, each kept once with the names of its nodes. At the end they become findings
 * and unknowns, whose bytes do not depend on the order of the nodes.
 */

import { hash } from 'node:crypto'
import { by, withoutAddresses } from '#base/text.ts'
import { causeKey, holderKey } from '#judge/causes.ts'
import {
  addVariant,
  largestFirst,
  nodeCount,
  sample,
  sampleSize,
  type Variant,
} from '#judge/drift/variants.ts'
import { type Origin, originOf, type Proposal } from '#judge/durable/durable.ts'
import type { Command } from '#judge/garbage/kubectl.ts'
import { withAmounts } from '#judge/help/disk-size.ts'
import {
  type Failing,
  line,
  lines,
  nameLength,
  plural,
  type Rule,
  type RuleOfNodes,
  shorten,
} from '#judge/rule.ts'
import { unlinked } from '#judge/text.ts'
import type {
  Cause,
  EvidenceKind,
  Finding,
  HolderCause,
  StepAction,
  UnknownOutcome,
} from '#model/finding.ts'
import type { NodeIdentity, Subject } from '#model/input/record.ts'
import { leastCertain, severityRank, worstSeverity } from './outcome.ts'

export const evidenceLimit = 24
/** Number of other variants whose evidence is shown where it differs from the largest variant's. */
const otherVariantsShown = 2
/** Number of node names that suffice in long lists. */
export const fewNodes = 5
const consequenceLength = 1000
const fixLength = 4000
const stepLimit = 8
/** Causes of one subject with a finding of their own. Further holders have one for each kind, of many owners. */
const mostCauses = 8

type WorstFirst = (nodes: string[]) => string[]

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
  /** Every node that the finding is about. The first, which its commands name, is nearest to eviction. */
  nodes: readonly string[]
  actions: readonly StepAction[] | null
  /** The rule's own commands. */
  commands: readonly Command[]
}

/** Share that is left of what a node runs out of first. Infinite: unknown. */
export type RoomOf = (cluster: string, node: string) => number

/** Messages that differ only in the nodes' own addresses are alike. Settings with other addresses are not. */
function commonText(text: string, { failing: { evidence, fix } }: NodeFailing) {
  const common = withoutAddresses(text)
  if (common === text) return text
  return common + JSON.stringify([fix, evidence.filter(({ kind }) => ofSettings.has(kind))])
}

const ofSettings: ReadonlySet<EvidenceKind> = new Set([
  'configz',
  'onDisk',
  'declared',
  'layer',
  'policy',
])

/** Steps that differ only in what they end on their node, or in the size of a larger disk, are one. Where no size is known, none is shown. */
const keyOf = ({ lost: _, bytes, usdPerMonth, ...step }: StepAction) =>
  JSON.stringify(
    step.id === 'larger-disk'
      ? { ...step, isUnsized: bytes === undefined }
      : { ...step, bytes, usdPerMonth },
  )

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

  fail(failing: Failing, identity: NodeIdentity) {
    this.#addFailing(identity.name, {
      failing: boundedFailing(failing),
      origin: originOf(identity),
    })
  }

  #addFailing(node: string, value: NodeFailing) {
    addVariant(this.#failings, node, value, commonText)
  }

  #addReason(node: string, reason: string) {
    addVariant(this.#reasons, node, reason, withoutAddresses)
  }

  /** @param isEnded whether mode `both` would decide the outcome */
  addUnknown(node: string, reason: string, isEnded: boolean) {
    this.#addReason(node, shorten(reason))
    if (!isEnded) this.#isEndedByBoth = false
  }

  /** Adds another tally of the same rule. */
  absorb(other: Tally) {
    for (const { value, nodes } of other.#failings.values())
      for (const node of nodes) this.#addFailing(node, value)
    for (const { value, nodes } of other.#reasons.values())
      for (const node of nodes) this.#addReason(node, value)
    if (!other.#isEndedByBoth) this.#isEndedByBoth = false
  }

  /** Steps of the failing on most nodes, then those that other nodes need. What a drain ends is that of the commands' node. */
  #actions(variants: Variant<NodeFailing>[], worstFirst: WorstFirst): readonly StepAction[] | null {
    const own = Map.groupBy(
      variants.flatMap(({ value, nodes }) =>
        (value.failing.steps ?? []).map(step => ({ step, nodes })),
      ),
      ({ step }) => keyOf(step),
    )
    if (own.size > 0) {
      const count = nodeCount(variants)
      return [...own.values()].slice(0, stepLimit).map(alike => {
        const nodes = worstFirst(alike.flatMap(one => one.nodes))
        const { step } = alike.find(one => one.nodes.includes(nodes[0]!))!
        return {
          ...withAmounts([step, ...alike.map(one => one.step)]),
          ...(nodes.length < count && {
            nodes: nodes.slice(0, sampleSize).map(name => shorten(name, nameLength)),
          }),
        }
      })
    }
    const isSettable = variants.some(
      ({ value }) => Object.keys(value.failing.fix?.config ?? {}).length > 0,
    )
    return isSettable ? null : (this.rule.steps?.map(id => ({ id })) ?? null)
  }

  /** One finding, or one for each holder: the steps against one holder end nothing on the nodes of another. Most nodes first. */
  foundFindings(allNodes: boolean, roomOf: RoomOf): FoundFinding[] {
    const worstFirst: WorstFirst = nodes =>
      nodes.toSorted(
        by(
          name => roomOf(this.cluster, name),
          name => name,
        ),
      )
    const leastRoom = ({ nodes }: Variant<NodeFailing>) =>
      Math.min(...nodes.map(name => roomOf(this.cluster, name)))
    // What a holder has is of its node: of the worst, not of most.
    const variants = largestFirst(this.#failings).toSorted(
      by(
        ({ value, nodes }) => (value.failing.cause?.kind === 'holder' ? 0 : -nodes.length),
        leastRoom,
      ),
    )
    const byCause = partsOf(variants, this.rule.cause, cause => holderKey(cause))
    const others = partsOf(
      byCause.slice(mostCauses).flatMap(([, own]) => own.map(withManyOwners)),
      this.rule.cause,
      ({ holder }) => ['many', holder],
    )
    return [...byCause.slice(0, mostCauses), ...others].map(([key, own], index) =>
      this.#found(own, index === 0 ? [] : [key], allNodes, worstFirst),
    )
  }

  #found(
    variants: Variant<NodeFailing>[],
    part: readonly string[],
    allNodes: boolean,
    worstFirst: WorstFirst,
  ): FoundFinding {
    const [main, ...others] = variants as [Variant<NodeFailing>, ...Variant<NodeFailing>[]]
    const all = variants.map(({ value }) => value.failing)
    const { rule, cluster, subject } = this
    const nodes = worstFirst(variants.flatMap(one => one.nodes))
    const finding = findingOf(rule, cluster, subject, {
      ...main.value.failing,
      cause: commonCause(all) ?? rule.cause,
      severity: worstSeverity(all.map(failing => failing.severity ?? rule.severity)),
      confidence: leastCertain(all.map(({ confidence }) => confidence ?? 'certain')),
      nodes: sample(variants, allNodes, sampleSize, nodes[0]),
      evidence: mergedEvidence(main, others),
    })
    return {
      rule,
      cluster,
      subject,
      finding: { ...finding, id: findingId(rule.id, cluster, subject, part) },
      proposals: variants.map(({ value: { origin, failing }, nodes }) => ({
        origin,
        config: failing.fix?.config ?? {},
        nodes,
      })),
      nodes,
      actions: this.#actions(variants, worstFirst),
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

/**
 * Those with equal causes, most nodes first. Silent nodes are apart.
 * @param usual the rule's own cause
 */
function partsOf(
  variants: Variant<NodeFailing>[],
  usual: Cause,
  keyOfHolder: (cause: HolderCause) => unknown[],
) {
  const parts = Map.groupBy(variants, ({ value: { failing } }) =>
    causeKey(failing.cause ?? usual, keyOfHolder),
  )
  return [...parts].toSorted(
    by(
      ([, own]) => -nodeCount(own),
      ([key]) => key,
    ),
  )
}

/** The cause of the first, with a second holder only if all have it. */
function commonCause(failings: readonly Failing[]): Cause | undefined {
  const [cause] = failings.map(failing => failing.cause)
  if (cause?.kind !== 'holder' || !cause.also) return cause
  const { also, ...own } = cause
  const isCommon = failings.every(
    ({ cause: other }) =>
      other?.kind === 'holder' &&
      other.also &&
      JSON.stringify(holderKey(other.also)) === JSON.stringify(holderKey(also)),
  )
  return isCommon ? cause : own
}

function withManyOwners({ value, nodes }: Variant<NodeFailing>): Variant<NodeFailing> {
  const { cause } = value.failing
  if (cause?.kind !== 'holder') return { value, nodes }
  const { kind, holder, filesystem, freedBy, amount } = cause
  const many: HolderCause = {
    kind,
    holder,
    filesystem,
    freedBy,
    amount,
    owner: null,
    owners: 'many',
    place: null,
  }
  return { value: { ...value, failing: { ...value.failing, cause: many } }, nodes }
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

/**
 * A stable id: the same defect on the same subject has the same id in every run. First 64 bits of a SHA-256, in hexadecimal.
 * @param part the holder, if the subject has a finding for another one that holds the disks of more nodes
 */
export const findingId = (
  rule: string,
  cluster: string,
  { kind, namespace, name }: Subject,
  part: readonly string[] = [],
) => hash('sha256', JSON.stringify([rule, cluster, kind, namespace, name, ...part])).slice(0, 16)

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

/** Evidence with words of others: of events, nodes and pods. */
const quotesOthers: ReadonlySet<EvidenceKind> = new Set(['event', 'node', 'object'])

export function boundedFailing<Kind extends Omit<Failing, 'fix'>>(
  failing: Kind & { fix?: Failing['fix'] },
): Kind {
  const { consequence, seen, evidence, fix, title } = failing
  const hidden = evidence.length - evidenceLimit
  return {
    ...failing,
    consequence: unlinked(shorten(consequence, consequenceLength)),
    ...(seen !== undefined && { seen: unlinked(shorten(seen)) }),
    evidence: lines(
      ...evidence
        .slice(0, evidenceLimit)
        .map(({ kind, what, value, bytes }) => ({
          ...line(kind, shorten(what), quotesOthers.has(kind) ? unlinked(value) : value),
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
const ofSubject: ((on: Pick<Finding, 'cluster' | 'subject'>) => string)[] = [
  ({ cluster }) => cluster,
  ({ subject }) => subject.kind,
  ({ subject }) => subject.namespace ?? '',
  ({ subject }) => subject.name,
]

export const byFinding = by<Finding>(
  ({ severity }) => severityRank(severity),
  ({ rule }) => rule,
  ...ofSubject,
  ({ id }) => id,
)

export const byUnknown = by<UnknownOutcome>(
  ({ rule }) => rule,
  ...ofSubject,
  ({ reason }) => reason,
)

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
