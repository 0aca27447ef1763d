/** Changed values for fields of the running configuration. They are parsed as the kubelet would parse them, as if always set. */

import { OperatorError } from '#base/operator-error.ts'
import { mapOf, parsedJson, type RawObject } from '#base/raw-object.ts'
import {
  elementOf,
  type FieldFacts,
  fieldsOf,
  isStruct,
  nearestName,
} from '#facts/kubelet/fields.ts'
import type { NodeInput } from '#model/input/record.ts'
import { readConfiguration } from '#model/kubelet/configuration.ts'
import { configurationStructs } from '#model/kubelet/fields.ts'
import type { Refusal } from '#model/kubelet/refusal.ts'
import type { ConfigurationChange } from '#model/plan.ts'
import { validateKubeletConfiguration } from './config-validation.ts'

/**
 * `imageGCHighThresholdPercent=70`, `evictionHard.nodefs.available=15%`, `evictionSoft=null`: for a map the rest of the path is the key.
 *
 * @throws OperatorError with the mistake and a correct form
 */
export function parseChange(text: string): ConfigurationChange {
  const at = text.indexOf('=')
  if (at < 1)
    throw new OperatorError(
      `A change is written FIELD=VALUE, like imageGCHighThresholdPercent=70; not ${text}`,
    )
  const written = text.slice(0, at)
  const value = text.slice(at + 1)
  const { path, type } = placeOf(written)
  return { path, value: value === 'null' ? undefined : readValue(value, type, written) }
}

function placeOf(written: string) {
  const parts = written.split('.')
  const path: string[] = []
  let fields: Readonly<Record<string, FieldFacts>> = configurationStructs.KubeletConfiguration
  for (const [index, name] of parts.entries()) {
    const facts = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!facts) throw new OperatorError(unknownField(written, name, fields))
    path.push(name)
    const type = elementOf(facts.type, '*') ?? facts.type
    const rest = parts.slice(index + 1)
    if (rest.length === 0) return { path, type }
    const entry = elementOf(type, 'map[string]')
    if (entry !== null) return { path: [...path, rest.join('.')], type: entry }
    if (!isStruct(type))
      throw new OperatorError(
        `${written}: ${path.join('.')} has no fields of its own, it is ${shownType(type)}`,
      )
    fields = fieldsOf(type)
  }
  throw new OperatorError(`${written} names no field`)
}

function unknownField(written: string, name: string, fields: object) {
  const alike = nearestName(name, Object.keys(fields))
  return `No field of KubeletConfiguration is called ${written}${alike === null ? '; names are those that configz shows' : `: did you mean ${alike}?`}`
}

const numberForms: Readonly<Record<string, RegExp>> = {
  int32: /^-?\d{1,10}$/,
  int64: /^-?\d{1,15}$/,
  float64: /^-?\d+(\.\d+)?$/,
}

function readValue(text: string, type: string, written: string): unknown {
  const typeError = () =>
    new OperatorError(`${written} takes ${shownType(type)}, not ${text === '' ? 'nothing' : text}`)
  const number = numberForms[type]
  if (number) {
    if (!number.test(text)) throw typeError()
    return Number(text)
  }
  if (type === 'bool') {
    if (text !== 'true' && text !== 'false') throw typeError()
    return text === 'true'
  }
  if (type === '[]string' && !text.startsWith('[')) return text === '' ? [] : text.split(',')
  const isText =
    !isStruct(type) && elementOf(type, '[]') === null && elementOf(type, 'map[string]') === null
  if (isText) return text
  const parsed = parsedJson(text)
  if (parsed === undefined || Array.isArray(parsed) !== type.startsWith('[]')) throw typeError()
  return parsed
}

const typeNames: Readonly<Record<string, string>> = {
  int32: 'a whole number',
  int64: 'a whole number',
  float64: 'a number',
  bool: 'true or false',
  string: 'text',
  Duration: 'a duration like 2m0s',
}

function shownType(type: string) {
  const known = typeNames[type]
  if (known !== undefined) return known
  if (type.startsWith('[]')) return 'a list in JSON'
  return isStruct(type) || type.startsWith('map[string]') ? 'a map in JSON' : 'text'
}

/** The input with these changes in its running configuration. Unchanged if the configuration was not read. */
export function withChanges(input: NodeInput, changes: readonly ConfigurationChange[]): NodeInput {
  const running = input.configuration?.printed ?? null
  if (changes.length === 0 || !running) return input
  return {
    ...input,
    configuration: readConfiguration(
      changes.reduce((printed, { path, value }) => setValue(printed, path, value), running),
    ),
  }
}

function setValue(raw: RawObject, [key, ...rest]: readonly string[], value: unknown) {
  if (key === undefined) return raw
  const entries = new Map(Object.entries(raw))
  const inner = entries.get(key)
  if (rest.length > 0) entries.set(key, setValue(mapOf(inner), rest, value))
  else if (value === undefined) entries.delete(key)
  else entries.set(key, value)
  return Object.fromEntries(entries)
}

/** Empty: a kubelet would start with this configuration. */
export function refusalsOf(printed: RawObject | null, kubeletVersion: string | null): Refusal[] {
  if (!printed) return []
  const { loadError, errors, startup } = validateKubeletConfiguration(printed, kubeletVersion)
  if (loadError) return [loadError]
  // If validation stops the kubelet, it never reaches the later checks.
  return errors && errors.length > 0
    ? errors
    : Object.values(startup ?? {}).filter(error => error !== null)
}
