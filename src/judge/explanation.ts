/** A rule in full, as `highwater explain` tells it: what its documentation says, and what shows when it is tried on its own examples. */

import type { Family, RuleDocs, Severity } from '#model/finding.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'
import { byText } from '#model/text-order.ts'
import { judgeCluster } from './cluster-rules.ts'
import { Cohorts } from './cohorts.ts'
import { Contexts } from './contexts.ts'
import { type ContextExample, exampleContext, exampleSubject } from './example.ts'
import { exampleCluster } from './garbage/example-cluster.ts'
import type { NodeSubject } from './node-subject.ts'
import { outcomeOf } from './outcome.ts'
import type { ClusterRule, Rule, RuleOfNodes } from './rule.ts'
import { needsOf } from './rules-document.ts'
import { bounded, bytes } from './text.ts'

/** Where the bad and the good example differ: what it is in each; null: nothing. */
export interface ExampleDifference {
  what: string
  bad: string | null
  good: string | null
}

export interface RuleExplanation {
  id: string
  family: Family
  severity: Severity
  /** Whether it compares the nodes of a nodegroup or nodepool with each other. */
  comparesNodes: boolean
  docs: RuleDocs
  /** What must have been read, else its outcome is unknown; in Markdown. */
  needs: string[]
  /** Keys of highwater.yaml that it looks at, each with its default. `severities` and `waivers` concern every rule. */
  policy: { key: string; default: unknown }[]
  /** Of a node that fails it and one that passes, what differs. */
  examples: ExampleDifference[]
}

export function explanationOf(rule: Rule): RuleExplanation {
  const { id, family, severity, kind, docs } = rule
  const { keys, examples } = rule.kind === 'cluster' ? triedOnClusters(rule) : triedOnNodes(rule)
  return {
    id,
    family,
    severity,
    comparesNodes: kind === 'cohort',
    docs,
    needs: needsOf(rule),
    policy: keys.map(key => ({ key, default: defaultPolicy[key] })),
    examples,
  }
}

function triedOnNodes(rule: RuleOfNodes) {
  const [bad, good] = casesOf(rule)
  const keys = policyKeys(rule, policy => {
    for (const cases of [bad, good]) judgeAll(rule, cases, policy)
  })
  return { keys, examples: differences(shownNodes(bad), shownNodes(good)) }
}

function triedOnClusters(rule: ClusterRule) {
  const [bad, good] = [rule.examples.bad, rule.examples.good].map(exampleCluster)
  const keys = policyKeys(rule, policy => {
    for (const cluster of [bad, good]) if (cluster) judgeCluster(rule, cluster, policy)
  })
  return { keys, examples: differences(bad, good) }
}

/** A node of an example, and what its cluster says of it. */
interface Case {
  subject: NodeSubject
  example: ContextExample
}

/** The nodes of the bad example, and of the good one. */
function casesOf({ examples }: RuleOfNodes): [Case[], Case[]] {
  const built = (given: ContextExample | ContextExample[]) =>
    [given]
      .flat()
      .map((example, index) => ({ subject: exampleSubject(example, `node-${index}`), example }))
  return [built(examples.bad), built(examples.good)]
}

const isPolicyKey = (key: string | symbol): key is keyof Policy =>
  typeof key === 'string' && Object.hasOwn(defaultPolicy, key)
/** Words that can only be keys. */
const camelCase = /\b[a-z]+[A-Z]\w*/g

/** The keys that it asks for while it judges its examples, and those that its documentation names: an example need not go every way. */
function policyKeys(rule: Rule, judgeExamples: (policy: Policy) => void): (keyof Policy)[] {
  const asked = new Set(`${rule.docs.why} ${rule.docs.fix}`.match(camelCase)?.filter(isPolicyKey))
  const watched = new Proxy(defaultPolicy, {
    get(policy, key) {
      if (isPolicyKey(key)) asked.add(key)
      return Reflect.get(policy, key)
    },
  })
  judgeExamples(watched)
  return [...asked].toSorted(byText)
}

function judgeAll(rule: RuleOfNodes, cases: Case[], policy: Policy): void {
  if (rule.kind === 'node') for (const { subject } of cases) outcomeOf(rule, subject, policy)
  else if (rule.kind === 'cohort') {
    const cohorts = new Cohorts(rule)
    for (const { subject } of cases) cohorts.take(subject)
    Array.from(cohorts.outcomes(policy))
  } else {
    for (const { subject, example } of cases) {
      const contexts = new Contexts(rule)
      contexts.take(subject)
      Array.from(contexts.outcomes(() => exampleContext(example), policy))
    }
  }
}

/** What of the nodes is worth comparing, thresholds by their signal. */
function shownNodes(cases: Case[]): unknown {
  const shown = cases.map(
    ({ subject: { missing: _missing, coverage: _coverage, eviction, ...subject }, example }) => {
      const { thresholds, ...passed } = eviction ?? { thresholds: [] }
      const { events, eks, nodegroups, launchTemplates, objects } = example
      return {
        ...subject,
        events,
        eks,
        nodegroups,
        launchTemplates,
        objects,
        threshold: Object.fromEntries(thresholds.map(shownThreshold)),
        eviction: passed,
      }
    },
  )
  return shown.length === 1
    ? shown[0]
    : Object.fromEntries(shown.map((subject, index) => [`node ${index + 1}`, subject]))
}

function shownThreshold({
  signal,
  value,
  hard,
  gracePeriodMs,
  minReclaim,
  met,
}: EvaluatedThreshold): [string, string] {
  const parts = [
    `< ${value}`,
    hard ? '' : `for ${gracePeriodMs / 1000} s`,
    minReclaim === '0' ? '' : `minimum reclaim ${minReclaim}`,
  ]
  return [
    `${signal}${hard ? '' : ' (soft)'}`,
    [...parts, met ? 'met' : ''].filter(part => part !== '').join(', '),
  ]
}

/** In the order of the bad example; what only the good one has comes last. */
function differences(bad: unknown, good: unknown, path: string[] = []): ExampleDifference[] {
  if (canDescend(bad) && canDescend(good) && Array.isArray(bad) === Array.isArray(good)) {
    // Lists of another length share no places: entry 3 of one is nothing to entry 3 of the other.
    const isSameShape =
      !Array.isArray(bad) ||
      (Object.keys(bad).length === Object.keys(good).length && !bad.every(isPlain))
    if (isSameShape)
      return [...new Set([...Object.keys(bad), ...Object.keys(good)])].flatMap(key =>
        differences(bad[key], good[key], [...path, key]),
      )
  }
  const [shownBad, shownGood] = [bad, good].map(value => shownValue(path, value))
  return shownBad === shownGood
    ? []
    : [{ what: path.join('.'), bad: shownBad ?? null, good: shownGood ?? null }]
}

const canDescend = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
const isPlain = (value: unknown) => !canDescend(value)
const longestList = 120

function shownValue(path: string[], value: unknown): string | null {
  if (value === undefined || value === null) return null
  // Counts of inodes and pids stand in the fields of bytes, under their signal's name.
  const isBytes =
    /^bytes|Bytes$/.test(path.at(-1) ?? '') && !path.some(key => /^pid\.|inodes/.test(key))
  if (typeof value === 'number' && isBytes) return bytes(value)
  if (!Array.isArray(value))
    return bounded(canDescend(value) ? JSON.stringify(value) : String(value))
  const text = value.every(isPlain) ? value.join(', ') : JSON.stringify(value)
  if (value.length === 0) return null
  return value.length > 1 && text.length > longestList ? `${value.length} entries` : bounded(text)
}
