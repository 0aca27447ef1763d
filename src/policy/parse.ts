/** Parses highwater.yaml into a Policy. One error names all mistakes, with their places. */

import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Node } from 'yaml'
import type * as z from 'zod'
import {
  composeYaml,
  ForeignTextError,
  TextBudget,
  YamlError,
  yamlValue,
} from '#base/foreign-text.ts'
import { inputLimits, textLimits } from '#base/limits.ts'
import { OperatorError } from '#base/operator-error.ts'
import { didYouMean } from '#base/text.ts'
import { type PolicyTerms, policyJsonSchema, policySchema } from '#model/policy/schema.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'

/**
 * @param text  YAML (or JSON, which is YAML)
 * @param file  the file's name, for the messages
 * @throws OperatorError
 */
export function parsePolicy(text: string, file: string, terms: PolicyTerms): Policy {
  const { maxBytes } = inputLimits.policy
  if (Buffer.byteLength(text) > maxBytes)
    throw new OperatorError(`${file} has more than ${maxBytes} bytes: no policy is that long`)
  const lineCounter = new LineCounter()
  const place = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const { document, value } = composePolicy(text, lineCounter, error =>
    mistakesError([
      error instanceof YamlError
        ? `${place(error.offset)}: ${error.detail}`
        : `${file}: ${error.message}`,
    ]),
  )
  const strange = [...strangeKeys(document.contents, [])].map(({ key, path, why }) => ({
    offset: key.range?.[0] ?? 0,
    text: `${path.join('.')}: ${why}`,
  }))
  const parsed = policySchema(terms).safeParse(value ?? {}, { reportInput: true })
  if (parsed.success && strange.length === 0) return policyOf(parsed.data, value)
  const issues = parsed.error?.issues ?? []
  const mistakes = issues
    .slice(0, mostPlaced)
    .map(issue => ({
      offset: offsetOf(document, issue),
      text: `${issue.path.join('.') || 'the file'}: ${wordsOf(issue, terms)}`,
    }))
  throw mistakesError(
    [...strange, ...mistakes]
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, text }) => `${offset < 0 ? file : place(offset)}: ${text}`),
    strange.length + issues.length,
  )
}

/** @throws what `refusal` makes of the first mistake */
function composePolicy(
  text: string,
  lineCounter: LineCounter,
  refusal: (error: ForeignTextError) => OperatorError,
): { document: Document; value: unknown } {
  try {
    const document = composeYaml(text, new TextBudget(textLimits.policy), { lineCounter })
    return { document, value: yamlValue(document) }
  } catch (error) {
    throw error instanceof ForeignTextError ? refusal(error) : error
  }
}

const mostPlaced = 1000
const mostShown = 50
const longestLine = 2000

function mistakesError(lines: readonly string[], count = lines.length) {
  const shown = lines.slice(0, mostShown).map(line => line.slice(0, longestLine))
  const more = count > shown.length ? [`and ${count - shown.length} more mistakes`] : []
  return new OperatorError([...shown, ...more].join('\n'))
}

function policyOf(
  { alertPercent, ...rest }: z.output<ReturnType<typeof policySchema>>,
  written: unknown,
): Policy {
  if ((written as { alertPercent?: unknown } | null)?.alertPercent === undefined)
    return { ...rest, alertPercent: defaultPolicy.alertPercent, isAlertAssumed: true }
  return typeof alertPercent === 'number'
    ? { ...rest, alertPercent }
    : { ...rest, alertPercent: alertPercent.warning, criticalAlertPercent: alertPercent.critical }
}

type Issue = z.core.$ZodIssue

/** The mistake's offset. Unknown key: the key. Missing key: the start of its map. -1: no place is known. */
function offsetOf(document: Document, issue: Issue) {
  const at = issue.path.findLastIndex((_, index) =>
    isNode(document.getIn(issue.path.slice(0, index + 1), true)),
  )
  const node = document.getIn(issue.path.slice(0, at + 1), true)
  if (issue.code === 'unrecognized_keys' && isMap(node)) {
    const { key } = node.items.find(item => String(item.key) === issue.keys[0]) ?? {}
    if (isNode(key) && key.range) return key.range[0]
  }
  return isNode(node) && node.range ? node.range[0] : -1
}

/** Suggests the nearest valid name instead of a list of all names. */
function wordsOf(issue: Issue, terms: PolicyTerms): string {
  const { code, message, path } = issue
  if (code === 'unrecognized_keys') {
    const known = keysAt(policyJsonSchema(terms), path)
    return `${message}.${issue.keys
      .slice(0, mostShown)
      .map(key => didYouMean(key, known))
      .join('')}`
  }
  const isMissing = code === 'invalid_type' && issue.input === undefined
  if (isMissing) return `${String(path.at(-1))} is missing`
  if (code !== 'invalid_value' || issue.values.length <= longestList) return message
  const written = typeof issue.input === 'string' ? issue.input : ''
  return `No such name.${didYouMean(written, issue.values.map(String)) || ' highwater explain lists all rules.'}`
}

const longestList = 20

/** The names that a JSON Schema allows at a path. */
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

/** Finds `__proto__`, which parsers drop silently, and duplicate keys. */
function* strangeKeys(
  value: unknown,
  path: readonly (string | number)[],
): Iterable<{ key: Node; path: readonly (string | number)[]; why: string }> {
  if (isSeq(value))
    for (const [index, item] of value.items.entries()) yield* strangeKeys(item, [...path, index])
  if (!isMap(value)) return
  const seen = new Set<string>()
  for (const { key, value: inner } of value.items) {
    const name = isScalar(key) ? String(key.value) : ''
    const inside = [...path, name]
    if (name === prototypeKey && isNode(key))
      yield { key, path: inside, why: `Unrecognized key: "${prototypeKey}"` }
    if (seen.has(name) && isNode(key)) yield { key, path: inside, why: 'Map keys must be unique' }
    seen.add(name)
    yield* strangeKeys(inner, inside)
  }
}
