/** Rules and terms that CLI and handlers pass to the runners. */
import { valueMistakes } from '#facts/kubelet/configuration-values.ts'
import { plannableFields } from '#facts/kubelet/fields.ts'
import { rules } from '#judge/rules/index.ts'
import { explanationOf } from '#judge/run/explanation.ts'

const ruleIds: readonly string[] = rules.map(({ id }) => id)

/** The names that a policy may use. */
export const policyTerms = { ruleIds, plannableFields: Object.keys(plannableFields), valueMistakes }

/** Ids and families of the rules. */
export const ruleNames: readonly string[] = [
  ...new Set(rules.flatMap(({ id, family }) => [id, family])),
]

/** Explains rules in full. @param name the rule of that id, else the rules of that family; undefined: every rule */
export function explainedRules(name?: string) {
  const rule = rules.find(({ id }) => id === name)
  if (rule) return [explanationOf(rule)]
  return rules.filter(({ family }) => name === undefined || family === name).map(explanationOf)
}
