/** Runs the rules on a cluster's objects. Each rule yields few findings, never one per object. */

import { by } from '#base/text.ts'
import { sample } from '#judge/drift/variants.ts'
import { ageText, nameList, sharesText } from '#judge/garbage/garbage.ts'
import {
  type ClusterEvidence,
  type ClusterFailing,
  type ClusterRule,
  line,
  lines,
  plural,
  shorten,
} from '#judge/rule.ts'
import type { ClusterPrediction } from '#model/cluster-garbage.ts'
import type { Subject } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { leastCertain, type Outcome, ruleError, worstSeverity } from './outcome.ts'
import { boundedFailing, evidenceLimit, type FoundFinding, findingOf } from './tally.ts'

/** If one rule fails for more subjects than this in a cluster, they become one cluster finding. */
export const mostSubjects = 25

export interface JudgedCluster {
  outcome: Outcome
  failings: ClusterFailing[]
  /** Why more failings may exist than the listed ones. Null: the list is complete. */
  open: string | null
}

export function judgeCluster(
  rule: ClusterRule,
  cluster: ClusterPrediction,
  policy: Policy,
): JudgedCluster {
  const { enabled, kinds } = policy.clusterGarbage
  if (!enabled || rule.needs.some(need => !kinds.includes(need)))
    return settledCluster({ state: 'notApplicable' })
  const reasons = rule.needs.flatMap(need => cluster.missing[need] ?? [])
  if (reasons.length > 0) return undecidedCluster(reasons)
  if (rule.needs.some(need => cluster[need] === null))
    return settledCluster({ state: 'notApplicable' })
  try {
    const yields = [...rule.judge(cluster, policy.clusterGarbage)]
    const failings = yields.filter(yielded => 'consequence' in yielded)
    const [first] = failings
    const reasons = [
      ...yields.flatMap(yielded => ('unknown' in yielded ? [yielded.unknown] : [])),
      ...rule.needs.flatMap(need => cluster.doubts[need] ?? []),
    ]
    if (first)
      return {
        outcome: { state: 'fail', failing: first },
        failings,
        open: reasons.length > 0 ? joinReasons(reasons) : null,
      }
    return reasons.length > 0 ? undecidedCluster(reasons) : settledCluster({ state: 'pass' })
  } catch (error) {
    return settledCluster(ruleError(error))
  }
}

const settledCluster = (outcome: Outcome): JudgedCluster => ({ outcome, failings: [], open: null })
const joinReasons = (reasons: readonly string[]) => shorten([...new Set(reasons)].join('; '))

function undecidedCluster(reasons: readonly string[]): JudgedCluster {
  const reason = joinReasons(reasons)
  return { outcome: { state: 'unknown', reason }, failings: [], open: reason }
}

/** @param isOwn whether a subject keeps its own finding, because a waiver names the subject */
export function gatherSubjects(
  rule: ClusterRule,
  cluster: string,
  failings: readonly ClusterFailing[],
  isOwn: (subject: Subject) => boolean,
  allNodes: boolean,
): FoundFinding[] {
  const own = failings.filter(({ subject }) => isOwn(subject))
  const others = failings.filter(({ subject }) => !isOwn(subject)).toSorted(byWeight)
  const merged =
    others.length > mostSubjects ? [...own, gatherFailings(rule, cluster, others)] : failings
  return merged.map(failing => ({
    rule,
    cluster,
    subject: failing.subject,
    finding: findingOf(rule, cluster, failing.subject, {
      ...boundedFailing(failing),
      nodes: sample([{ value: null, nodes: [...(failing.nodes ?? [])] }], allNodes),
    }),
    proposals: [],
    nodes: failing.nodes?.toSorted() ?? [],
    actions: (rule.steps ?? []).map(id => ({ id })),
    commands: failing.commands,
  }))
}

const byWeight = by<ClusterFailing>(
  ({ count }) => -count,
  ({ subject }) => subject.namespace ?? '',
  ({ subject }) => subject.name,
)

/** Merges failings of one rule in many places into one finding, with their number, confidence and sums. */
const placesShown = 14
const reasonsShown = 3
const commandsShown = 3

/** @param sorted at least one failing; the failing with most objects comes first */
function gatherFailings(
  rule: ClusterRule,
  cluster: string,
  sorted: readonly ClusterFailing[],
): ClusterFailing {
  const [first] = sorted as [ClusterFailing]
  const nouns = Map.groupBy(sorted, ({ noun }) => noun)
  const noun = nouns.size === 1 ? first.noun : 'object'
  const totals = [...nouns]
    .map(([each, failings]) => [countIn(failings), each] as const)
    .toSorted(([a], [b]) => b - a)
  const all = totals.map(([count, each]) => plural(count, each)).join(' and ')
  const confidences = sorted.map(({ confidence }) => confidence ?? 'certain')
  const totalLines = [
    line('places', 'places', sorted.length),
    ...confidenceEvidence(confidences),
    ...mergeEvidence(
      sorted.flatMap(({ evidence }) => evidence),
      noun,
    ),
  ]
  // One evidence line is reserved for the number of places that are not shown.
  const shown = sorted.slice(0, Math.min(placesShown, evidenceLimit - totalLines.length - 1))
  return {
    subject: { kind: 'Cluster', namespace: null, name: cluster },
    count: countIn(sorted),
    places: sorted.length,
    noun,
    severity: worstSeverity(sorted.map(({ severity }) => severity ?? rule.severity)),
    confidence: leastCertain(confidences),
    consequence: `${first.consequence} The same is true in ${sorted.length} places, ${all} in total; this sentence describes the first.`,
    evidence: lines(
      ...totalLines,
      ...shown.map(({ subject, count: here, noun }) =>
        line('object', `${subject.kind} ${subject.name}`, plural(here, noun)),
      ),
      sorted.length > shown.length &&
        line('omitted', 'not shown', `${sorted.length - shown.length} more`),
    ),
    commands: shown.slice(0, commandsShown).flatMap(({ commands }) => commands.slice(0, 1)),
  }
}

const countIn = (failings: readonly ClusterFailing[]) =>
  failings.reduce((sum, { count }) => sum + count, 0)

/** Evidence of the places by confidence. Empty if all are equal: the finding states it itself. */
function confidenceEvidence(confidences: readonly string[]): ClusterEvidence[] {
  const shares = Map.groupBy(confidences, confidence => confidence)
  if (shares.size === 1) return []
  return [
    line(
      'object',
      'places by confidence',
      sharesText(new Map([...shares].map(([confidence, { length }]) => [confidence, length]))),
    ),
  ]
}

/** Merges evidence over all places: most frequent reasons, largest shares, earliest times, sums of amounts. */
function mergeEvidence(evidence: readonly ClusterEvidence[], noun: string): ClusterEvidence[] {
  const byWhat = [...Map.groupBy(evidence, ({ what }) => what)]
  /** What a property of some lines is together, for each text that has such lines. */
  const mergeLines = <Part, Sum>(
    partOf: (line: ClusterEvidence) => Part | undefined,
    sumOf: (parts: [Part, ...Part[]]) => Sum,
  ) =>
    byWhat.flatMap(([what, ones]): (readonly [string, Sum])[] => {
      const [first, ...others] = ones.flatMap(one => partOf(one) ?? [])
      return first === undefined ? [] : [[what, sumOf([first, ...others])]]
    })
  const reasons = mergeLines(
    ({ reasonCount }) => reasonCount,
    counts => counts.reduce((sum, count) => sum + count),
  )
  const shares = mergeLines(
    ({ shares }) => shares,
    maps => {
      const all = new Map<string, number>()
      for (const [who, count] of maps.flatMap(map => [...map]))
        all.set(who, (all.get(who) ?? 0) + count)
      return all
    },
  )
  const firsts = mergeLines(
    ({ since }) => since,
    times => times.reduce((a, b) => (b.firstMs < a.firstMs ? b : a)),
  )
  const totals = mergeLines(
    ({ total }) => total,
    all =>
      all.reduce((sum, { amounts, textOf }) => ({
        textOf,
        amounts: amounts.map((amount, index) => amount + (sum.amounts[index] ?? 0)),
      })),
  )
  const names = mergeLines(
    ({ names }) => names,
    lists => [...new Set(lists.flat().map(({ name }) => name))].map(name => ({ name })),
  )
  const sorted = reasons.toSorted(
    by(
      ([, count]) => -count,
      ([reason]) => reason,
    ),
  )
  const rest = sorted.slice(reasonsShown).reduce((sum, [, count]) => sum + count, 0)
  return lines(
    ...sorted
      .slice(0, reasonsShown)
      .map(([what, count]) => line('object', what, plural(count, noun))),
    rest > 0 && line('object', 'other reasons', plural(rest, noun)),
    ...totals.map(([what, { amounts, textOf }]) => line('object', what, textOf(amounts))),
    ...shares.map(([what, all]) => line('object', what, sharesText(all))),
    ...firsts.map(([what, { firstMs, at }]) => line('object', what, ageText(firstMs, at))),
    ...names.map(([what, all]) => line('object', what, nameList(all))),
  )
}
