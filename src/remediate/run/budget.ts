/** PodDisruptionBudgets: which pods one covers, and how many of them may be disrupted. */
import { isRawObject, type RawObject } from '#model/record.ts'

export interface Budget {
  name: string
  /** Pods that may be disrupted now. */
  allowed: number
  matches(labels: Readonly<Record<string, unknown>>): boolean
}

/** Upstream: api/policy/v1 PodDisruptionBudget; an empty selector matches every pod of the namespace. */
export function budgetOf(item: RawObject): { namespace: string; budget: Budget } | null {
  const { metadata, spec, status } = item
  if (!isRawObject(metadata) || !isRawObject(spec) || typeof metadata.namespace !== 'string')
    return null
  const selector = isRawObject(spec.selector) ? spec.selector : null
  const allowed = isRawObject(status) ? status.disruptionsAllowed : undefined
  return {
    namespace: metadata.namespace,
    budget: {
      name: String(metadata.name ?? ''),
      // A budget that no controller has looked at yet allows none.
      allowed: typeof allowed === 'number' ? allowed : 0,
      matches: labels => selector !== null && isSelected(selector, labels),
    },
  }
}

function isSelected(
  { matchLabels, matchExpressions }: RawObject,
  labels: Readonly<Record<string, unknown>>,
): boolean {
  const pairs = isRawObject(matchLabels) ? Object.entries(matchLabels) : []
  const expressions = Array.isArray(matchExpressions) ? matchExpressions.filter(isRawObject) : []
  return (
    pairs.every(([key, value]) => labels[key] === value) &&
    expressions.every(expression => isMet(expression, labels))
  )
}

function isMet(
  { key, operator, values }: RawObject,
  labels: Readonly<Record<string, unknown>>,
): boolean {
  const value = labels[String(key)]
  const isAmong = Array.isArray(values) && values.includes(value)
  if (operator === 'Exists') return value !== undefined
  if (operator === 'DoesNotExist') return value === undefined
  return operator === 'In' ? value !== undefined && isAmong : !isAmong
}
