/**
 * Configuration fields that the flags of a command line set.
 *
 * Follows       component-base/cli/flag  langle_separated_map_string_string.go,
 *               map_string_string.go, map_string_bool.go;  pkg/util/flag IPVar;  spf13/pflag  the kinds of flags, Parse
 * Read at       1.29 to 1.37
 * Kept exactly  a map's flag adds to what it said before; a list's likewise; the first flag that cannot be parsed is named, and no other
 * Left out      flags that are no fields, and whether the kubelet knows them; lists with quotes
 */

import { parseDuration } from '#base/go/duration.ts'
import { goQuote, parseInt64, parseUint32 } from '#base/go/go-text.ts'
import { messageOf } from '#base/operator-error.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { StructName } from '#model/kubelet/fields.ts'
import { configurationFlags, elementOf, type FlagFacts, fieldsOf, isStruct } from './fields.ts'

export interface FlagSettings {
  fields: ReadonlyMap<string, unknown>
  /** The kubelet's error text; null: no mistake. */
  error: string | null
}

export function flagSettings(commandLine: readonly string[]): FlagSettings {
  const fields = new Map<string, unknown>()
  for (const given of givenFlags(commandLine)) {
    if (given.value === undefined)
      return { fields, error: `flag needs an argument: --${given.name}` }
    const { facts, type } = given.flag
    try {
      fields.set(
        facts.field,
        extendValue(fields.get(facts.field), parseFlagValue(given.value, type, facts)),
      )
    } catch (error) {
      const why = messageOf(error)
      const flag = given.name === 'v' ? '-v, --v' : `--${given.name}`
      return {
        fields,
        error: `invalid argument ${goQuote(given.value)} for ${goQuote(flag)} flag: ${why}`,
      }
    }
  }
  return { fields, error: null }
}

function extendValue(before: unknown, value: unknown) {
  if (Array.isArray(value)) return [...(Array.isArray(before) ? before : []), ...value]
  return isRawObject(value) ? { ...(isRawObject(before) ? before : {}), ...value } : value
}

/** The last value of a flag; null: the flag is not on the command line. */
export function flagValue(commandLine: readonly string[], flag: string): string | null {
  let value: string | null = null
  for (const [at, argument] of commandLine.entries()) {
    if (argument === '--') break
    const [name = '', ...given] = argument.split('=')
    if (name.replaceAll('_', '-') === `--${flag}`)
      value = given.length > 0 ? given.join('=') : (commandLine[at + 1] ?? '')
  }
  return value
}

/** `max-pods` of `--max_pods=29`. Null: no long flag. */
export const flagName = (argument: string): string | null =>
  /^--([A-Za-z][\w-]*)/.exec(argument)?.[1]?.replaceAll('_', '-') ?? null

/** The field that a flag sets. */
export function fieldOfFlag(argument: string): string | null {
  const name = flagName(argument) ?? ''
  return Object.hasOwn(configurationFlags, name) ? (configurationFlags[name]?.field ?? null) : null
}

/** The flag that sets each field, without dashes. */
export const flagOfField: ReadonlyMap<string, string> = new Map(
  Object.entries(configurationFlags).map(([flag, { field }]) => [field, flag]),
)

/** The arguments that set a field. A field without a flag has none. */
export function argumentsFor(field: string, value: unknown): string[] {
  const flag = flagOfField.get(field)
  if (flag === undefined) return []
  if (!isRawObject(value)) return [`--${flag}=${value}`]
  const form = configurationFlags[flag]?.form
  const separator = form === 'less-than' ? '<' : '='
  const pairs = Object.entries(value).map(([key, entry]) => `${key}${separator}${entry}`)
  return (form === 'one-pair' ? pairs : [pairs.join(',')]).map(text => `--${flag}=${text}`)
}

interface KnownFlag {
  facts: FlagFacts
  type: string
}

interface GivenFlag {
  name: string
  flag: KnownFlag
  /** Undefined: the flag is the last argument. */
  value: string | undefined
}

/** Index of the last character before the value of `-v4` or `-v=4`; -1: no value. */
const endOfShort = (argument: string, value: string) =>
  value === '' ? -1 : argument.length - value.length - 1

/** Flags before `--` that set a field: `--flag=value` or `--flag value`, `_` counting as `-`. */
function* givenFlags(commandLine: readonly string[]): Iterable<GivenFlag> {
  for (let at = 0; at < commandLine.length; at++) {
    const argument = commandLine[at] ?? ''
    if (argument === '--') return
    const short = /^-v=?(.*)$/s.exec(argument)
    const equals = short ? endOfShort(argument, short[1] ?? '') : argument.indexOf('=')
    const name = short
      ? 'v'
      : argument.slice(2, equals < 0 ? undefined : equals).replaceAll('_', '-')
    const flag = short || argument.startsWith('--') ? knownFlag(name) : null
    if (!flag) continue
    if (equals >= 0) yield { name, flag, value: argument.slice(equals + 1) }
    else yield { name, flag, value: flag.type === 'bool' ? 'true' : commandLine[++at] }
  }
}

function knownFlag(name: string): KnownFlag | null {
  const facts = Object.hasOwn(configurationFlags, name) ? configurationFlags[name] : undefined
  if (!facts) return null
  let struct: StructName = 'KubeletConfiguration'
  let type = ''
  for (const part of facts.field.split('.')) {
    const field = fieldsOf(struct)[part]?.type ?? ''
    type = elementOf(field, '*') ?? field
    if (isStruct(type)) struct = type
  }
  return { facts, type }
}

function parseFlagValue(text: string, type: string, { form }: FlagFacts): unknown {
  if (type === 'bool') return parseBool(text)
  if (type === 'int32' || type === 'int64')
    return Number(parseInt64(text, type === 'int32' ? 32 : 64))
  if (type === 'VerbosityLevel') return Number(parseUint32(text))
  if (type === 'Duration' || type === 'FlushFrequency') return parseDuration(text)
  if (type === '[]string') return text === '' ? [] : text.split(',')
  if (elementOf(type, 'map[string]') !== null) return parsePairs(text, type, form)
  if (form === 'ip' && !ipForm.test(text))
    throw new Error(`${goQuote(text)} is not a valid IP address`)
  return text
}

/** Matches every valid IP address, and some invalid IPv6 addresses. */
const ipForm = /^(?:0*(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$|^[\da-fA-F]*:[\da-fA-F:.]*$/

function parsePairs(text: string, type: string, form: FlagFacts['form']): RawObject {
  const separator = form === 'less-than' ? '<' : '='
  const isGate = type === 'map[string]bool'
  const pairs: [string, unknown][] = []
  for (const pair of form === 'one-pair' ? [text] : text.split(',').filter(part => part !== '')) {
    const at = pair.indexOf(separator)
    if (at < 0)
      throw new Error(`malformed pair, expect string${separator}${isGate ? 'bool' : 'string'}`)
    const key = pair.slice(0, at).trim()
    const value = pair.slice(at + 1).trim()
    pairs.push([key, isGate ? parseGate(key, value) : value])
  }
  return Object.fromEntries(pairs)
}

function parseGate(key: string, text: string) {
  try {
    return parseBool(text)
  } catch (error) {
    throw new Error(`invalid value of ${key}: ${text}, err: ${messageOf(error)}`)
  }
}

function parseBool(text: string) {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false
  throw new Error(`strconv.ParseBool: parsing ${goQuote(text)}: invalid syntax`)
}
