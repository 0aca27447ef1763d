/**
 * A fix as text for the source of a node, so that new nodes have the fix, too. Each target writes the text for one kind of source. The
 * targets share how fields are selected, and how values are quoted so that they stay plain values.
 */

import { stringify } from 'yaml'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { firstNames } from '#base/text.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { type FieldFacts, isKnownField } from '#facts/kubelet/fields.ts'
import { companions } from '#judge/fixes/completion.ts'
import { shorten } from '#judge/text.ts'
import type { DurableFix } from '#model/finding.ts'
import type { NodeIdentity, Subject } from '#model/input/record.ts'
import { configurationStructs } from '#model/kubelet/fields.ts'

export interface Origin extends Pick<NodeIdentity, 'owner' | 'isEksctl' | 'amiFamily'> {
  /** `1.34`; null: unknown. */
  kubeletMinor: string | null
}

export interface Proposal {
  origin: Origin
  /** KubeletConfiguration fields; maps are complete. Keys and values may come from the node, so they must not be trusted. */
  config: RawObject
  /** Sentences for the operator: further steps, and why something cannot be set. */
  notes?: readonly string[]
}

export interface DurableRequest extends Proposal {
  group: Subject
}

interface TextLimits {
  /** Why a field cannot be set in the target; null: the field can be set. */
  refusal?(field: string): string | null
  /** The keys that a map may have in the target; undefined: any. */
  keys?(field: string): readonly string[] | undefined
}

const namesShown = 12

/** The fields of a fix that this kubelet knows, the target accepts, and every format can hold. */
export function settableFields(
  { config, origin, notes = [] }: DurableRequest,
  { refusal, keys }: TextLimits = {},
) {
  const set: [field: string, value: unknown][] = []
  const leftOut = new Map<string, string[]>()
  const leaveOut = (name: string, why: string) =>
    leftOut.set(why, [...(leftOut.get(why) ?? []), shorten(name, 60)])
  for (const [field, value] of Object.entries(config)) {
    const why =
      unknownTo(origin, field) ??
      refusal?.(field) ??
      (isPlain(value) ? null : 'no value that a kubelet would read')
    const allowed = keys?.(field)
    if (why !== null) leaveOut(field, why)
    else if (!isRawObject(value) || !allowed) set.push([field, value])
    else {
      const entries = Object.entries(value)
      for (const [key] of entries)
        if (!allowed.includes(key)) leaveOut(`${field} ${key}`, 'no key that can be set there')
      set.push([field, Object.fromEntries(entries.filter(([key]) => allowed.includes(key)))])
    }
  }
  const isLeftOut = (field: string) =>
    Object.hasOwn(config, field) && !set.some(([other]) => other === field)
  for (const [field] of set.filter(([field]) => companionsOf(field).some(isLeftOut)))
    leaveOut(field, 'nothing without its companion')
  const whole = set.filter(([field]) => !companionsOf(field).some(isLeftOut))
  return {
    config: Object.fromEntries(
      whole.filter(([, value]) => !isRawObject(value) || Object.keys(value).length > 0),
    ),
    /** Sentences; the request's own notes come first. */
    leftOut: [
      ...notes,
      ...[...leftOut].map(([why, names]) => `Left out, ${why}: ${firstNames(names, namesShown)}.`),
    ],
  }
}

const companionsOf = (field: string) =>
  companions.flatMap(fields =>
    fields.includes(field) ? fields.filter(other => other !== field) : [],
  )

function unknownTo({ kubeletMinor }: Origin, field: string) {
  const fields: Readonly<Record<string, FieldFacts>> = configurationStructs.KubeletConfiguration
  const facts = Object.hasOwn(fields, field) ? fields[field] : undefined
  if (!facts) return 'no field of the kubelet'
  return isKnownField(facts, featuresOf(kubeletMinor))
    ? null
    : `not known to kubelet ${kubeletMinor ?? 'of this version'}`
}

/** Quantities, percentages, durations, names, paths. No format or shell gives these characters a meaning. */
const plainText = /^[\w.%+:/-]{0,100}$/
const plainKey = /^[A-Za-z][\w.-]{0,62}$/

const isPlainScalar = (value: unknown) =>
  typeof value === 'string'
    ? plainText.test(value)
    : typeof value === 'boolean' || Number.isFinite(value)

/** A scalar, or a list or map of scalars. Rules propose no other forms. */
function isPlain(value: unknown) {
  if (Array.isArray(value)) return value.every(isPlainScalar)
  if (!isRawObject(value)) return isPlainScalar(value)
  return Object.entries(value).every(([key, entry]) => plainKey.test(key) && isPlainScalar(entry))
}

export const isEmpty = (config: RawObject) => Object.keys(config).length === 0

export const comments = (lines: readonly string[]) => lines.map(line => `# ${line}\n`).join('')

/** Quotes every text, and keys as `no`, so that `1e3`, `yes` and `0x1F` stay texts for a reader of YAML 1.1, too. */
export const yaml = (value: unknown) =>
  stringify(value, {
    schema: 'yaml-1.1',
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
    lineWidth: 0,
  })

export const indent = (text: string, columns: number) =>
  text.replace(/^(?=.)/gm, ' '.repeat(columns))

/** A nodegroup's or nodepool's name as a quoted text. The placeholder if AWS or Kubernetes would not accept the name. */
export const quotedName = (name: string, placeholder: string) =>
  JSON.stringify(/^[A-Za-z0-9][\w.-]{0,127}$/.test(name) ? name : placeholder)

export interface DurableTarget {
  target: DurableFix['target']
  isFor(origin: Origin, group: Subject): boolean
  /** Comments in the snippet name the settings that the target cannot hold. */
  snippet(request: DurableRequest): string
}

const targetsShown = 2
const longestSnippet = 2000

const tooLong = `# This fix is too long to be written here: take its fields from fix.config in findings.json.
`

export function originOf({ owner, isEksctl, amiFamily, kubeletVersion }: NodeIdentity): Origin {
  const { minor } = featuresOf(kubeletVersion)
  return { owner, isEksctl, amiFamily, kubeletMinor: minor === null ? null : `1.${minor}` }
}

/**
 * Makes one text per image family and place, from the first proposal for that place.
 * @param targets the first that fits an origin is used @param proposals the one of most nodes first
 */
export function durableFixes(
  targets: readonly DurableTarget[],
  group: Subject,
  proposals: readonly Proposal[],
): DurableFix[] {
  const found = new Map<string, DurableFix>()
  for (const { origin, config, notes = [] } of proposals) {
    const target = targets.find(({ isFor }) => isFor(origin, group))
    const isNothing = Object.keys(config).length === 0
    if (!target || (isNothing && notes.length === 0)) continue
    const place = `${target.target} ${origin.amiFamily}`
    if (found.has(place)) continue
    const snippet = isNothing
      ? comments(['There is nothing to set here.', ...notes])
      : target.snippet({ origin, config, notes, group })
    found.set(place, {
      target: target.target,
      snippet: snippet.length > longestSnippet ? tooLong : snippet,
    })
    if (found.size === targetsShown) break
  }
  return [...found.values()]
}
