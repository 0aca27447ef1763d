/** One text for equal documents, so that equal content has an equal hash. */
import { createHash } from 'node:crypto'
import { isRawObject } from '#base/raw-object.ts'
import type { Plan } from '#model/plan.ts'

/** Keys are sorted by UTF-16 units at every depth; undefined values are left out. */
export function canonicalJson(value: unknown, indent?: number) {
  return JSON.stringify(sortKeys(value), null, indent)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isRawObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, sortKeys(value[key])]),
  )
}

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Digest of everything in a plan but its id and the digest itself. */
export function digestOf(plan: Omit<Plan, 'id' | 'digest'>) {
  const { id: _id, digest: _digest, ...body } = plan as Plan
  return sha256(canonicalJson(body))
}
