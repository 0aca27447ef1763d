import { type Document, isScalar, parseDocument, visit } from 'yaml'
import { inputLimits } from '#model/input-limits.ts'
import { isRawObject, type RawObject } from '#model/record.ts'

/**
 * Parses a configuration file as the kubelet does: YAML 1.1, which includes JSON. Duplicate keys are refused, because nothing shows which one counts.
 * Aliases are refused, because they can expand a small text. The kubelet's reader also ends a line at a lone CR, so a CR becomes an LF here. A text
 * with one of three line ends beyond ASCII is refused: such a character may be part of a value.
 *
 * Source: go.yaml.in/yaml/v2 yamlprivateh.go is_break
 */
export function parseYamlObject(
  text: string,
): { value: RawObject; reason: '' } | { value: null; reason: string } {
  if (text.length > inputLimits.yaml.maxBytes)
    return {
      value: null,
      reason: `it has ${text.length} characters: no configuration is that long`,
    }
  try {
    if (/[\u0085\u2028\u2029]/.test(text))
      return {
        value: null,
        reason: 'it has ends of line beyond CR and LF, which not every reader takes for such',
      }
    const document = parseDocument(text.replace(/\r\n?/g, '\n'), {
      version: '1.1',
      // The library's own check of keys takes quadratic time.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    })
    const code = document.errors[0]?.code ?? (hasTwinKeys(document) ? 'DUPLICATE_KEY' : null)
    if (code !== null) return { value: null, reason: `it is no YAML that is read here (${code})` }
    const value: unknown = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 0 })) ?? 'null')
    return isRawObject(value)
      ? { value, reason: '' }
      : { value: null, reason: 'its YAML is no object' }
  } catch {
    // The library's message would quote the text, so it is replaced.
    return { value: null, reason: 'it is no YAML that is read here' }
  }
}

function hasTwinKeys(document: Document): boolean {
  let isFound = false
  visit(document, {
    Map: (_, { items }) => {
      const keys = items.flatMap(({ key }) => (isScalar(key) ? [key.value] : []))
      isFound ||= new Set(keys).size < keys.length
    },
  })
  return isFound
}
