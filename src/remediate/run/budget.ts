/** PodDisruptionBudgets: which pods a budget covers, and how many of these may be disrupted. */
import * as z from 'zod'
import type { RawObject } from '#model/record.ts'

const requirement = z.object({
  key: z.string().optional().catch(undefined),
  operator: z.string().optional().catch(undefined),
  values: z.array(z.unknown()).catch([]),
})
const selector = z.object({
  matchLabels: z.record(z.string(), z.unknown()).catch({}),
  matchExpressions: z
    .array(requirement.nullable().catch(null))
    .catch([])
    .transform(items => items.filter(item => item !== null)),
})
const schema = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string().catch('') }),
  spec: z.object({ selector: selector.nullable().catch(null) }),
  // A budget that no controller has processed yet allows no disruption.
  status: z.object({ disruptionsAllowed: z.number().catch(0) }).catch({ disruptionsAllowed: 0 }),
})

export interface Budget {
  name: string
  /** Pods that may be disrupted now. */
  allowed: number
  matches(labels: Readonly<Record<string, unknown>>): boolean
}

/** Upstream: api/policy/v1 PodDisruptionBudget; an empty selector matches every pod of the namespace. */
export function budgetOf(item: RawObject): { namespace: string; budget: Budget } | null {
  const { data } = schema.safeParse(item)
  if (data === undefined) return null
  const { metadata, spec, status } = data
  return {
    namespace: metadata.namespace,
    budget: {
      name: metadata.name,
      allowed: status.disruptionsAllowed,
      matches: labels => spec.selector !== null && isSelected(spec.selector, labels),
    },
  }
}

function isSelected(
  { matchLabels, matchExpressions }: z.infer<typeof selector>,
  labels: Readonly<Record<string, unknown>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(expression => isMet(expression, labels))
  )
}

function isMet(
  { key, operator, values }: z.infer<typeof requirement>,
  labels: Readonly<Record<string, unknown>>,
): boolean {
  const value = labels[String(key)]
  const isAmong = values.includes(value)
  if (operator === 'Exists') return value !== undefined
  if (operator === 'DoesNotExist') return value === undefined
  return operator === 'In' ? value !== undefined && isAmong : !isAmong
}
