/** Tables of facts as shell variables: a node checks what it is sent by the same rows as the planner. */

import { longestValue, plannableForms, valueForms } from '#facts/kubelet/plannable-values.ts'
import { logPatternForm, logrotateDirectives } from '#facts/logrotate.ts'

/** No row has a quote. */
const assigned = (name: string, rows: readonly string[]): string => `${name}='${rows.join('\n')}'\n`

export const scriptTables = {
  /** A row is a field, the form of its value, and the form of its keys or `-`; then the forms by name. */
  plannable:
    assigned(
      'plannable',
      Object.entries(plannableForms).map(
        ([name, { value, key }]) => `${name} ${value} ${key ?? '-'}`,
      ),
    ) +
    assigned(
      'value_forms',
      Object.entries(valueForms).map(([name, form]) => `${name} ${form}`),
    ) +
    assigned('longest_value', [String(longestValue)]),
  /** A row is a directive and the form of its value, or `-` where none may stand. */
  logrotate:
    assigned(
      'directives',
      Object.entries(logrotateDirectives).map(
        ([name, form]) => `${name} ${form === '' ? '-' : form}`,
      ),
    ) + assigned('log_pattern', [logPatternForm]),
} as const
