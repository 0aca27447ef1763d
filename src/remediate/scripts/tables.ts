/** Tables of facts as shell variables: a node checks its input by the same rows as the planner. */

import {
  bottlerocketKeys,
  bottlerocketSettings,
  plannableSettings,
} from '#facts/eks/bottlerocket-settings.ts'
import { longestValue, plannableForms, valueForms } from '#facts/kubelet/plannable-values.ts'
import { logPatternForm, logrotateDirectives, noLogForm } from '#facts/logrotate.ts'

/** No row contains a quote. */
const assigned = (name: string, rows: readonly string[]): string => `${name}='${rows.join('\n')}'\n`

/** Row of a setting: its name, the form of its value, and its keys or `-`. */
function settingRow(setting: string): string {
  const form = plannableForms[bottlerocketSettings[setting]?.[0] ?? '']
  if (form === undefined) throw new Error(`${setting} has no form`)
  return `${setting} ${form.value} ${bottlerocketKeys[setting]?.join('|') ?? '-'}`
}

const forms =
  assigned(
    'value_forms',
    Object.entries(valueForms).map(([name, form]) => `${name} ${form}`),
  ) + assigned('longest_value', [String(longestValue)])

export const scriptTables = {
  /** A row is a field, the form of its value, and the form of its keys or `-`; then the forms by name. */
  plannable:
    assigned(
      'plannable',
      Object.entries(plannableForms).map(
        ([name, { value, key }]) => `${name} ${value} ${key ?? '-'}`,
      ),
    ) + forms,
  /** The same for Bottlerocket's settings; here keys are literal, between bars. */
  settings: assigned('settable', plannableSettings.map(settingRow)) + forms,
  /** A row is a directive and the form of its value, or `-` if the directive takes no value. */
  logrotate:
    assigned(
      'directives',
      Object.entries(logrotateDirectives).map(
        ([name, form]) => `${name} ${form === '' ? '-' : form}`,
      ),
    ) +
    assigned('log_pattern', [logPatternForm]) +
    assigned('no_log', [noLogForm]),
} as const
