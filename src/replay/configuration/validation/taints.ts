/**
 * The taints with which a node registers.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration;  pkg/util/taints/taints.go CheckTaintValidation;
 *               apimachinery/pkg/util/validation  IsQualifiedName, IsValidLabelValue
 * Read at       1.29 to 1.37
 */
import type { LoadedConfiguration, LoadedStruct } from '#replay/configuration/configuration-file.ts'

const namePart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const prefixPart = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const longestPrefix = 253
const effects = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Yields whole texts, because their beginnings differ. */
export function* taintErrors({ registerWithTaints }: LoadedConfiguration): Iterable<string> {
  for (const taint of registerWithTaints ?? []) {
    if (!isValid(taint)) yield `invalid taint: ${shown(taint)}`
    if (taint.timeAdded !== null) yield 'invalid configuration: taint.TimeAdded is not nil'
  }
}

type Taint = LoadedStruct<'Taint'>

const isValid = ({ key, value, effect }: Taint) =>
  isQualifiedName(key) && (value === '' || namePart.test(value)) && effects.includes(effect)

function isQualifiedName(key: string) {
  const [first = '', second, ...more] = key.split('/')
  if (second === undefined) return namePart.test(first)
  return (
    more.length === 0 &&
    first.length <= longestPrefix &&
    prefixPart.test(first) &&
    namePart.test(second)
  )
}

/** The struct as Go's %v prints it upstream. */
const shown = ({ key, value, effect, timeAdded }: Taint) =>
  `{${key} ${value} ${effect} ${timeAdded === null ? '<nil>' : `${new Date(timeAdded).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`}}`
