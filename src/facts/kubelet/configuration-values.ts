/**
 * Valid values of each KubeletConfiguration field on its own: type and bounds with which a kubelet starts. If minors differ, the
 * bounds of the newest minor apply.
 *
 * Sources  model/kubelet/fields.ts;  pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration;  pkg/kubelet/eviction/helpers.go
 *          ParseThresholdConfig;  pkg/kubelet/logs/container_log_manager.go parseMaxSize;  cmd/kubelet/app/server.go parseResourceList
 */

import { durationOrNull, parseDuration } from '#base/go/duration.ts'
import { parseFloat32 } from '#base/go/go-text.ts'
import { asInt64, parseQuantity, quantityOrNull, signOf } from '#base/go/quantity.ts'
import { isRawObject, textOfValue } from '#base/raw-object.ts'
import { configurationFields } from '#model/kubelet/fields.ts'
import { gateHistory } from './feature-gates.ts'
import { elementOf, fieldsOf, isStruct } from './fields.ts'

export interface ValueMistake {
  /** Path from the field downwards: `['evictionHard', 'nope']`. */
  path: string[]
  wanted: string
}

/** Empty if a kubelet accepts the value. Null is accepted, because it means an unset field. */
export function valueMistakes(field: string, value: unknown): ValueMistake[] {
  const facts = Object.hasOwn(configurationFields, field) ? configurationFields[field] : undefined
  if (!facts) return [{ path: [field], wanted: 'a KubeletConfiguration field' }]
  const ofType = [...typeMistakes(value, facts.type, [field])]
  return ofType.length > 0 || value === null ? ofType : [...boundMistakes(field, value)]
}

const int32Limit = 2 ** 31

const scalarTypes: Readonly<
  Record<string, { wanted: string; holds: (value: unknown) => boolean }>
> = {
  bool: { wanted: 'true or false', holds: value => typeof value === 'boolean' },
  int32: {
    wanted: 'a whole number',
    holds: value => Number.isInteger(value) && Math.abs(Number(value)) < int32Limit,
  },
  int64: { wanted: 'a whole number', holds: value => Number.isSafeInteger(value) },
  float64: { wanted: 'a number', holds: value => Number.isFinite(value) },
  VerbosityLevel: {
    wanted: 'a whole number from 0',
    holds: value => Number.isInteger(value) && Number(value) >= 0,
  },
  Duration: {
    wanted: 'a duration like 2m0s',
    holds: value => typeof value === 'string' && durationOrNull(value) !== null,
  },
  FlushFrequency: {
    wanted: 'a duration like 5s',
    holds: value =>
      Number.isSafeInteger(value) || (typeof value === 'string' && durationOrNull(value) !== null),
  },
  Quantity: {
    wanted: 'a quantity like 1Gi',
    holds: value => typeof value === 'number' || (typeof value === 'string' && isQuantity(value)),
  },
}
const text = { wanted: 'text', holds: (value: unknown) => typeof value === 'string' }

function* typeMistakes(value: unknown, type: string, path: string[]): Iterable<ValueMistake> {
  const target = elementOf(type, '*') ?? type
  const ofList = elementOf(target, '[]')
  const ofMap = elementOf(target, 'map[string]')
  if (value === null) return
  if (ofList !== null) {
    if (!Array.isArray(value)) yield { path, wanted: 'a list' }
    else
      for (const [index, item] of value.entries())
        yield* typeMistakes(item, ofList, [...path, String(index)])
  } else if (ofMap !== null || isStruct(target)) {
    if (!isRawObject(value)) yield { path, wanted: 'a map' }
    else
      for (const [key, entry] of Object.entries(value)) {
        const inner =
          ofMap ??
          (isStruct(target) && Object.hasOwn(fieldsOf(target), key)
            ? fieldsOf(target)[key]?.type
            : undefined)
        if (inner === undefined) yield { path: [...path, key], wanted: `a field of ${target}` }
        else yield* typeMistakes(entry, inner, [...path, key])
      }
  } else {
    const { wanted, holds } = scalarTypes[target] ?? text
    if (!holds(value)) yield { path, wanted }
  }
}

const textForms: Readonly<Record<string, { wanted: string; holds: (value: string) => boolean }>> = {
  containerLogMaxSize: {
    wanted: 'a whole quantity of bytes like 10Mi',
    holds: value => isWholeQuantity(value),
  },
  reservedSystemCPUs: {
    wanted: 'CPUs like 0-1,4',
    holds: value => /^(\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*)?$/.test(value),
  },
}

const signals =
  /^(memory\.available|allocatableMemory\.available|(nodefs|imagefs|containerfs)\.(available|inodesFree)|pid\.available)$/
const resources = /^(cpu|memory|ephemeral-storage|pid)$/

interface EntryForm {
  key: { wanted: string; form: RegExp }
  wanted: string
  holds: (value: string) => boolean
}
const ofSignal = { wanted: 'an eviction signal', form: signals }
const threshold: EntryForm = {
  key: ofSignal,
  wanted: 'a percentage up to 100%, or a quantity above 0',
  holds: value => isAmountInRange(value, { zeroPercent: true, zero: false }),
}
const reservation: EntryForm = {
  key: {
    wanted: 'a resource that can be reserved (cpu, memory, ephemeral-storage, pid)',
    form: resources,
  },
  wanted: 'a quantity that is not negative',
  holds: value => isQuantity(value) && signOf(parseQuantity(value)) >= 0,
}
const entryForms: Readonly<Record<string, EntryForm>> = {
  evictionHard: threshold,
  evictionSoft: threshold,
  evictionSoftGracePeriod: {
    key: ofSignal,
    wanted: 'a duration that is not negative',
    holds: value => (durationOrNull(value) ?? -1n) >= 0n,
  },
  evictionMinimumReclaim: {
    key: ofSignal,
    wanted: 'a percentage above 0%, or a quantity that is not negative',
    holds: value => isAmountInRange(value, { zeroPercent: false, zero: true }),
  },
  kubeReserved: reservation,
  systemReserved: reservation,
}

function* boundMistakes(field: string, value: unknown): Iterable<ValueMistake> {
  const path = [field]
  const { least, most } = configurationFields[field] ?? {}
  if (typeof value === 'number' && typeof least === 'number') {
    const isOutside = value < least || (most !== undefined && value > most)
    const upTo = most === undefined ? '' : ` to ${most}`
    if (isOutside) yield { path, wanted: `a number from ${least}${upTo}` }
  }
  if (typeof value === 'string') yield* textMistakes(field, value)
  if (Array.isArray(value)) yield* listMistakes(field, value)
  if (isRawObject(value)) yield* entryMistakes(field, value)
}

function* textMistakes(field: string, value: string): Iterable<ValueMistake> {
  const { oneOf: allowed, least, orZero } = configurationFields[field] ?? {}
  const form = textForms[field]
  // An empty text gets the default, so it is valid.
  if (allowed && value !== '' && !allowed.includes(value))
    yield { path: [field], wanted: `one of ${allowed.join(', ')}` }
  if (form && value !== '' && !form.holds(value)) yield { path: [field], wanted: form.wanted }
  if (typeof least === 'string') yield* durationMistakes(field, value, least, orZero === true)
}

function* durationMistakes(
  field: string,
  value: string,
  least: string,
  orZero: boolean,
): Iterable<ValueMistake> {
  const duration = durationOrNull(value) ?? 0n
  if (duration >= parseDuration(least) || (orZero && duration === 0n)) return
  const atLeast =
    least === '0s' ? 'a duration that is not negative' : `a duration of ${least} or more`
  yield { path: [field], wanted: orZero ? `0s, or ${atLeast}` : atLeast }
}

function* listMistakes(field: string, items: unknown[]): Iterable<ValueMistake> {
  const allowed = configurationFields[field]?.oneOf
  for (const [index, item] of items.entries()) {
    if (allowed && !allowed.includes(String(item)))
      yield { path: [field, String(index)], wanted: `one of ${allowed.join(', ')}` }
    else if (allowed && items.indexOf(item) < index)
      yield { path: [field, String(index)], wanted: 'each value once' }
  }
}

function* entryMistakes(field: string, map: Record<string, unknown>): Iterable<ValueMistake> {
  const form = entryForms[field]
  for (const [key, value] of Object.entries(map)) {
    const path = [field, key]
    if (field === 'featureGates' && !Object.hasOwn(gateHistory, key))
      yield { path, wanted: 'a feature gate of a kubelet' }
    if (!form) continue
    if (!form.key.form.test(key)) yield { path, wanted: form.key.wanted }
    else if (value !== null && !form.holds(textOfValue(value))) yield { path, wanted: form.wanted }
  }
}

const isQuantity = (value: string) => quantityOrNull(value) !== null

const isWholeQuantity = (value: string) =>
  isQuantity(value) && asInt64(parseQuantity(value)) !== null

function isAmountInRange(
  value: string,
  { zeroPercent, zero }: { zeroPercent: boolean; zero: boolean },
) {
  if (!value.endsWith('%'))
    return isQuantity(value) && signOf(parseQuantity(value)) >= (zero ? 0 : 1)
  try {
    const percent = parseFloat32(value.replace(/(?<!%)%+$/, ''))
    return percent <= 100 && (zeroPercent ? percent >= 0 : percent > 0)
  } catch {
    return false
  }
}
