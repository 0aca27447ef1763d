/** A rule in full, as `highwater explain` shows it. */

import type { Family, RuleDocs, Severity } from '#model/finding.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { byText } from '#model/text-order.ts'
import type { Rule } from './rule.ts'
import { needsOf } from './rules-document.ts'

export interface RuleExplanation {
  id: string
  family: Family
  severity: Severity
  /** Whether it compares the nodes of a nodegroup or nodepool with each other. */
  comparesNodes: boolean
  docs: RuleDocs
  /** What must have been read, else its outcome is unknown; in Markdown. */
  needs: string[]
  /** Keys of highwater.yaml that it reads, each with its default. `severities` and `waivers` concern every rule. */
  policy: { key: string; default: unknown }[]
}

export function explanationOf(rule: Rule): RuleExplanation {
  const { id, family, severity, kind, docs } = rule
  return {
    id,
    family,
    severity,
    comparesNodes: kind === 'cohort',
    docs,
    needs: needsOf(rule),
    policy: policyKeys(rule).map(key => ({ key, default: defaultPolicy[key] })),
  }
}

const isPolicyKey = (key: string): key is keyof Policy => Object.hasOwn(defaultPolicy, key)
/** Words that can only be keys. */
const camelCase = /\b[a-z]+[A-Z]\w*/g

function policyKeys({ kind, docs, policy = [] }: Rule): (keyof Policy)[] {
  const named = `${docs.why} ${docs.fix}`.match(camelCase)?.filter(isPolicyKey) ?? []
  const ofKind: (keyof Policy)[] = kind === 'cluster' ? ['clusterGarbage'] : []
  return [...new Set([...named, ...policy, ...ofKind])].toSorted(byText)
}
