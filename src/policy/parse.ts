/** highwater.yaml → Policy: all mistakes are named at once, with their place in the file. */

import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { messageOf } from '#model/error-message.ts'
import { inputLimits } from '#model/input-limits.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Policy } from '#model/policy.ts'
import { type PolicyTerms, policySchema } from './schema.ts'

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
  const parsed = policySchema(terms).safeParse(plain(document, file) ?? {})
  if (parsed.success) return parsed.data
  const mistakes = parsed.error.issues.map(issue => {
    const node = document.getIn(issue.path, true)
    const at =
      typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
        ? place(Number(node.range[0]))
        : file
    return `${at}: ${issue.path.join('.') || 'the file'}: ${issue.message}`
  })
  throw new OperatorError(mistakes.join('\n'))
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
