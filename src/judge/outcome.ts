/** The outcome of one rule on one node. Unknown is never pass. */

import { messageOf } from '#model/error-message.ts'
import { type Confidence, type Severity, severities } from '#model/finding.ts'
import type { Policy } from '#model/policy.ts'
import type { NodeSubject } from './node-subject.ts'
import type { Failing, NodeRule, RuleOfNodes, Undecided } from './rule.ts'
import { bounded } from './text.ts'

export type Outcome =
  | { state: 'pass' | 'notApplicable' }
  | { state: 'fail'; failing: Failing }
  | { state: 'unknown'; reason: string }
  | { state: 'error'; message: string }

export const outcomeOf = (rule: NodeRule, subject: NodeSubject, policy: Policy): Outcome =>
  unlessThrown(() => {
    if (!rule.appliesTo(subject)) return { state: 'notApplicable' }
    const reason = missingNeeds(rule, subject)
    return reason === null
      ? fromYields(rule.judge(subject, policy), rule.severity)
      : { state: 'unknown', reason }
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
  const missing = needs.filter(need => subject[need] === null)
  if (missing.length === 0) return null
  const reasons = missing.map(need => subject.missing[need] ?? `${need} is not known`)
  return [...new Set(reasons)].join('; ')
}

export const ruleError = (error: unknown): Outcome => ({
  state: 'error',
  message: bounded(messageOf(error)),
})

export function fromYields(yielded: Iterable<Failing | Undecided>, severity: Severity): Outcome {
  const failings: Failing[] = []
  const reasons = new Set<string>()
  for (const each of yielded) {
    if ('consequence' in each) failings.push(each)
    else reasons.add(each.unknown)
  }
  if (failings.length > 0) return { state: 'fail', failing: joined(failings, severity) }
  return reasons.size > 0
    ? { state: 'unknown', reason: bounded([...reasons].join('; ')) }
    : { state: 'pass' }
}

/** Merges failings of one rule on one node. The first leads, and the worst severity counts. */
function joined(failings: Failing[], severity: Severity): Failing {
  const [first, ...others] = failings as [Failing, ...Failing[]]
  if (others.length === 0) return first
  return {
    ...first,
    consequence: failings.map(({ consequence }) => consequence).join(' '),
    evidence: failings.flatMap(({ evidence }) => evidence),
    severity: worst(failings.map(failing => failing.severity ?? severity)),
  }
}

/** Rank 0 is the worst severity. */
export const severityRank = (severity: Severity): number => severities.indexOf(severity)

export const worst = (found: Severity[]): Severity =>
  found.toSorted((a, b) => severityRank(a) - severityRank(b))[0] ?? 'info'

const certainty: readonly Confidence[] = ['possible', 'likely', 'certain']

/** A merged finding is only as certain as its least certain part. */
export const leastCertain = (found: readonly Confidence[]): Confidence =>
  certainty.find(confidence => found.includes(confidence)) ?? 'certain'
