/** The shelves that the doors (CLI, handlers) hand to the runners: no runner imports its own. */
import { valueMistakes } from '#facts/kubelet/configuration-values.ts'
import { plannableFields } from '#facts/kubelet/fields.ts'
import { explanationOf, type RuleExplanation } from '#judge/explanation.ts'
import { rules } from '#judge/rules/index.ts'
import { embeddedMetrics } from '#report/formats/embedded-metrics.ts'

const ruleIds: readonly string[] = rules.map(({ id }) => id)

/** The form that the service writes into its log, too. */
export const embeddedMetricsName = embeddedMetrics.name

/** What a policy may speak of. */
export const policyTerms = { ruleIds, plannableFields: Object.keys(plannableFields), valueMistakes }

/** Ids and families. */
export const ruleNames: readonly string[] = [
  ...new Set(rules.flatMap(({ id, family }) => [id, family])),
]

/** Rules in full. @param name the rule of that id, else the rules of that family; undefined: every rule */
export function explainedRules(name?: string): RuleExplanation[] {
  const rule = rules.find(({ id }) => id === name)
  if (rule) return [explanationOf(rule)]
  return rules.filter(({ family }) => name === undefined || family === name).map(explanationOf)
}
