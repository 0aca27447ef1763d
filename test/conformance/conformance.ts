/** Runs the replay against golden vectors: every case's input is answered first, then compared with what upstream answered. */
import { isDeepStrictEqual } from 'node:util'
import type { Family } from './family.ts'

export interface Case {
  name: string
  input: unknown
  expected: unknown
}

export interface Difference extends Case {
  /** Ours; an error's text where the replay threw. */
  answer: unknown
}

/** What differs. Upstream's alternatives (`anyOf`) are a set: ours must be the same one. */
export function differences(
  family: Family<never>,
  version: string,
  cases: readonly Case[],
): Difference[] {
  const found: Difference[] = []
  for (const { name, input, expected } of cases) {
    const answer = answered(family, input, version)
    if (!isSame(answer, plain(expected))) found.push({ name, input, expected, answer })
  }
  return found
}

/** The input is a copy, so that no family can change what the next run would read. */
function answered(family: Family<never>, input: unknown, version: string): unknown {
  try {
    return plain(family.answer(structuredClone(input) as never, version))
  } catch (error) {
    return `threw ${error instanceof Error ? error.stack : String(error)}`
  }
}

/** As JSON would carry it: what is undefined is not there. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

function isSame(answer: unknown, expected: unknown): boolean {
  const ours = alternatives(answer)
  const theirs = alternatives(expected)
  const isAmong = (one: unknown, others: unknown[]) =>
    others.some(other => isDeepStrictEqual(one, other))
  return ours.every(one => isAmong(one, theirs)) && theirs.every(one => isAmong(one, ours))
}

const alternatives = (answer: unknown): unknown[] => {
  const isSet =
    typeof answer === 'object' &&
    answer !== null &&
    'anyOf' in answer &&
    Object.keys(answer).length === 1 &&
    Array.isArray(answer.anyOf)
  return isSet ? (answer as { anyOf: unknown[] }).anyOf : [answer]
}
