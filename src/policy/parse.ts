/** highwater.yaml → Policy: all mistakes are named at once, with their place in the file. */

import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type * as z from 'zod'
import { messageOf } from '#model/error-message.ts'
import { inputLimits } from '#model/input-limits.ts'
import { didYouMean } from '#model/nearest.ts'
import { OperatorError } from '#model/operator-error.ts'
import { type PolicyTerms, policyJsonSchema, policySchema } from '#model/policy/schema.ts'
import type { Policy } from '#model/policy.ts'

/**
 * @param text  YAML (or JSON, which is YAML)
 * @param file  its name, for the messages
 * @throws OperatorError
 */
export function parsePolicy(text: string, file: string, terms: PolicyTerms): Policy {
  const { maxBytes } = inputLimits.policy
  if (Buffer.byteLength(text) > maxBytes)
    throw new OperatorError(`${file} has more than ${maxBytes} bytes: no policy is that long`)
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const place = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${file}:${line}:${col}`
  }
  if (document.errors.length > 0)
    throw new OperatorError(
      document.errors.map(error => `${place(error.pos[0])}: ${error.message}`).join('\n'),
    )
  const strange = [...prototypeKeys(document.contents, [])]
  if (strange.length > 0) {
    throw new OperatorError(
      strange
        .map(
          ({ key, path }) =>
            `${place(key.range?.[0] ?? 0)}: ${path.join('.')}: Unrecognized key: "${prototypeKey}"`,
        )
        .join('\n'),
    )
  }
  const parsed = policySchema(terms).safeParse(plain(document, file) ?? {}, { reportInput: true })
  if (parsed.success) return policyOf(parsed.data)
  const mistakes = parsed.error.issues
    .map(issue => ({ issue, offset: offsetOf(document, issue) }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ issue, offset }) => {
      const path = issue.path.join('.') || 'the file'
      return `${offset < 0 ? file : place(offset)}: ${path}: ${wordsOf(issue, terms)}`
    })
  throw new OperatorError(mistakes.join('\n'))
}

function policyOf({ alertPercent, ...rest }: z.output<ReturnType<typeof policySchema>>): Policy {
  return typeof alertPercent === 'number'
    ? { ...rest, alertPercent }
    : { ...rest, alertPercent: alertPercent.warning, criticalAlertPercent: alertPercent.critical }
}

type Issue = z.core.$ZodIssue

/** Where the mistake is: a key that is not known has a place of its own. -1: the file as a whole. */
function offsetOf(document: ReturnType<typeof parseDocument>, issue: Issue): number {
  const node = document.getIn(issue.path, true)
  if (issue.code === 'unrecognized_keys' && isMap(node)) {
    const { key } = node.items.find(item => String(item.key) === issue.keys[0]) ?? {}
    if (isNode(key) && key.range) return key.range[0]
  }
  return isNode(node) && node.range ? node.range[0] : -1
}

/** With the name that was meant, where one is alike, in place of a list of all names. */
function wordsOf(issue: Issue, terms: PolicyTerms): string {
  const { code, message, path } = issue
  if (code === 'unrecognized_keys') {
    const known = keysAt(policyJsonSchema(terms), path)
    return `${message}.${issue.keys.map(key => didYouMean(key, known)).join('')}`
  }
  const isMissing = code === 'invalid_type' && message.endsWith('received undefined')
  if (isMissing) return `${String(path.at(-1))} is missing`
  if (code !== 'invalid_value' || issue.values.length <= longestList) return message
  const written = typeof issue.input === 'string' ? issue.input : ''
  return `No such name.${didYouMean(written, issue.values.map(String)) || ' highwater explain lists all rules.'}`
}

const longestList = 20

/** What a JSON Schema allows there. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  let at = schema
  for (const step of path)
    at =
      typeof step === 'number'
        ? memberOf(at, 'items')
        : (memberOf(memberOf(at, 'properties'), String(step)) ??
          memberOf(at, 'additionalProperties'))
  const names = Object.values(memberOf(memberOf(at, 'propertyNames'), 'enum') ?? {})
  return [...Object.keys(memberOf(at, 'properties') ?? {}), ...names]
}

const memberOf = (value: unknown, key: string): object | undefined => {
  const member: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return typeof member === 'object' && member !== null ? member : undefined
}

const prototypeKey = '__proto__'

/** A key that every JavaScript object has: parsers would drop it silently. */
function* prototypeKeys(
  value: unknown,
  path: readonly (string | number)[],
): Iterable<{ key: Node; path: readonly (string | number)[] }> {
  if (isSeq(value))
    for (const [index, item] of value.items.entries()) yield* prototypeKeys(item, [...path, index])
  if (!isMap(value)) return
  for (const { key, value: inner } of value.items) {
    const name = isScalar(key) ? String(key.value) : ''
    const inside = [...path, name]
    if (name === prototypeKey && isNode(key)) yield { key, path: inside }
    yield* prototypeKeys(inner, inside)
  }
}

/** @throws OperatorError for aliases that multiply without end */
function plain(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new OperatorError(`${file}: ${messageOf(error)}`)
  }
}
