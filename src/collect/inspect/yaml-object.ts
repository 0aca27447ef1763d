import { ForeignTextError, parseYaml, type TextBudget } from '#base/foreign-text.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'

/**
 * Parses a configuration file as the kubelet does: YAML 1.1, which includes JSON. Duplicate keys are refused, because nothing shows which one counts.
 * Aliases are refused, because they can expand a small text. The kubelet's reader also ends a line at a lone CR, so a CR becomes an LF here. A text
 * with one of three line ends beyond ASCII is refused: such a character may be part of a value.
 *
 * Source: go.yaml.in/yaml/v2 yamlprivateh.go is_break
 * @param budget what all files of the node may still cost
 */
export function parseYamlObject(
  text: string,
  budget: TextBudget,
): { value: RawObject; reason: '' } | { value: null; reason: string } {
  if (/[\u0085\u2028\u2029]/.test(text))
    return {
      value: null,
      reason: 'it has ends of line beyond CR and LF, which not every reader takes for such',
    }
  try {
    const parsed = parseYaml(text.replace(/\r\n?/g, '\n'), budget, kubeletForm)
    const value: unknown = JSON.parse(JSON.stringify(parsed) ?? 'null')
    return isRawObject(value)
      ? { value, reason: '' }
      : { value: null, reason: 'its YAML is no object' }
  } catch (error) {
    if (!(error instanceof ForeignTextError)) throw error
    return { value: null, reason: error.message }
  }
}

const kubeletForm = {
  version: '1.1',
  hasUniqueKeys: true,
  hasAliases: false,
  isFirstDocumentOnly: true,
} as const
