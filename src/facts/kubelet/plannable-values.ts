/** The values that a plan may give to plannable fields. A node refuses all others, so its awk must read these forms, too. */
import { textOfValue } from '#base/raw-object.ts'
import { configurationFields, type KubeletField } from '#model/kubelet/fields.ts'
import { isPlannable } from './fields.ts'

/**
 * Forms of values: extended regular expressions that JavaScript and every awk read alike (no classes by backslash,
 * no counts in braces).
 *
 * Source  k8s.io/apimachinery pkg/api/resource quantity.go; pkg/kubelet/eviction/helpers.go parseThresholdStatement;
 *         Go time.ParseDuration
 */
const quantity = '[0-9]+([.][0-9]+)?([EPTGMK]i|[EPTGMkmun]|[eE][0-9]+)?'
export const valueForms = {
  percent: '100|[1-9]?[0-9]',
  integer: '-?[0-9]+',
  boolean: 'true|false',
  duration: '0|([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+',
  quantity,
  threshold: `[0-9]+([.][0-9]+)?%|${quantity}`,
  /** Keys of eviction maps. Source: pkg/kubelet/eviction/api/types.go. */
  signal:
    '(memory|allocatableMemory|nodefs|imagefs|containerfs|pid)[.]available|(nodefs|imagefs|containerfs)[.]inodesFree',
  /** Keys of reservations. Source: cmd/kubelet/app/server.go parseResourceList. */
  resource: 'cpu|memory|ephemeral-storage|pid',
} as const

/** The longest key or value that a plan writes, in characters. */
export const longestValue = 60

type ValueForm = keyof typeof valueForms

export interface PlannableForm {
  value: ValueForm
  /** Form of the map's keys; absent: the field is no map. */
  key?: ValueForm
}

export const plannableForms: Readonly<Record<string, PlannableForm>> = Object.fromEntries(
  Object.entries(configurationFields).flatMap(([name, field]) =>
    isPlannable(name) ? [[name, formOf(field)]] : [],
  ),
)

function formOf(field: KubeletField): PlannableForm {
  const { type, compare, most, plannable } = field
  const isReservation = plannable === 'reservations'
  if (type.startsWith('map')) {
    if (isReservation) return { value: 'quantity', key: 'resource' }
    return { value: compare === 'durations' ? 'duration' : 'threshold', key: 'signal' }
  }
  if (compare === 'duration' || compare === 'quantity') return { value: compare }
  if (type.endsWith('bool')) return { value: 'boolean' }
  return { value: most === 100 ? 'percent' : 'integer' }
}

const isOfForm = (form: ValueForm, text: string) =>
  text.length <= longestValue && new RegExp(`^(${valueForms[form]})$`).test(text)

/** Whether a plan may write this value at this path. @param path `evictionHard.nodefs.available` @param value null removes the value */
export function isPlannableValue(path: string, value: unknown): boolean {
  const at = path.indexOf('.')
  const [name, key] = at < 0 ? [path, null] : [path.slice(0, at), path.slice(at + 1)]
  const form = Object.hasOwn(plannableForms, name) ? plannableForms[name] : undefined
  if (!form) return false
  if (value === null && key === null) return true
  const isKey = form.key === undefined ? key === null : key !== null && isOfForm(form.key, key)
  return isKey && (value === null || isOfForm(form.value, textOfValue(value)))
}
