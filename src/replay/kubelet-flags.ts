/**
 * Command-line flags that take the place of fields of the configuration file.
 *
 * Replays       cmd/kubelet/app/options/options.go AddKubeletConfigFlags;  component-base/cli/flag  langle_separated_map_string_string.go,
 *               map_string_string.go, map_string_bool.go
 * Read at       1.24 to 1.37
 * Kept exactly  a map's flag replaces the whole map at its first use and adds to it after; feature gates are merged with the file's
 * Left out      every other flag; numbers that are not decimal
 */
import type { RawObject } from '#model/record.ts'
import { goQuote } from './go-text.ts'
import { objectAt } from './untrusted.ts'

type FlagKind = 'less-than' | 'equals' | 'percent' | 'gates'

const flags: Readonly<Record<string, { field: string; kind: FlagKind }>> = {
  'eviction-hard': { field: 'evictionHard', kind: 'less-than' },
  'eviction-soft': { field: 'evictionSoft', kind: 'less-than' },
  'eviction-soft-grace-period': { field: 'evictionSoftGracePeriod', kind: 'equals' },
  'eviction-minimum-reclaim': { field: 'evictionMinimumReclaim', kind: 'equals' },
  'image-gc-high-threshold': { field: 'imageGCHighThresholdPercent', kind: 'percent' },
  'image-gc-low-threshold': { field: 'imageGCLowThresholdPercent', kind: 'percent' },
  'feature-gates': { field: 'featureGates', kind: 'gates' },
}

export interface FlaggedConfiguration {
  raw: RawObject
  /** Upstream's texts for flags that it could not parse. */
  errors: string[]
}

/** The file's fields with those that the command line sets in their place. */
export function withFlags(raw: RawObject, commandLine: readonly string[]): FlaggedConfiguration {
  const flagged: RawObject = { ...raw }
  const errors: string[] = []
  const begun = new Set<string>()
  for (const { name, value } of givenFlags(commandLine)) {
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (!flag) continue
    const { field, kind } = flag
    try {
      if (kind === 'percent') flagged[field] = parsePercent(value)
      else {
        const before = begun.has(field) || kind === 'gates' ? objectAt(flagged, field) : null
        flagged[field] = { ...before, ...parsePairs(value, kind) }
        begun.add(field)
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      errors.push(`invalid argument ${goQuote(value)} for ${goQuote(`--${name}`)} flag: ${why}`)
    }
  }
  return { raw: flagged, errors }
}

/** `--flag=value` and `--flag value`, underscores as dashes, until `--`. */
function* givenFlags(commandLine: readonly string[]): Iterable<{ name: string; value: string }> {
  for (let at = 0; at < commandLine.length; at++) {
    const argument = commandLine[at] ?? ''
    if (argument === '--') return
    if (!argument.startsWith('--')) continue
    const equals = argument.indexOf('=')
    const name = argument.slice(2, equals < 0 ? undefined : equals).replaceAll('_', '-')
    if (equals >= 0) yield { name, value: argument.slice(equals + 1) }
    else if (Object.hasOwn(flags, name) && at + 1 < commandLine.length) yield { name, value: commandLine[++at] ?? '' }
  }
}

function parsePairs(text: string, kind: FlagKind): Record<string, string | boolean> {
  const separator = kind === 'less-than' ? '<' : '='
  const pairs: [string, string | boolean][] = []
  for (const pair of text.split(',')) {
    if (pair === '') continue
    const at = pair.indexOf(separator)
    if (at < 0) throw new Error(`malformed pair, expect string${separator}${kind === 'gates' ? 'bool' : 'string'}`)
    const key = pair.slice(0, at).trim()
    const value = pair.slice(at + 1).trim()
    pairs.push([key, kind === 'gates' ? parseBoolean(key, value) : value])
  }
  return Object.fromEntries(pairs)
}

function parseBoolean(key: string, text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false
  throw new Error(`invalid value of ${key}: ${text}, err: strconv.ParseBool: parsing ${goQuote(text)}: invalid syntax`)
}

function parsePercent(text: string): number {
  if (!/^[+-]?\d{1,9}$/.test(text)) throw new Error(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`)
  return Number(text)
}
