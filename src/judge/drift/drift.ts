/** Compares configurations by meaning: `1Gi` is `1024Mi`, `5m0s` is `300s`, an absent field is its default, and the order of map keys does not matter. */

import { oncePerText } from '#base/once.ts'
import { mapOf } from '#base/raw-object.ts'
import { amiDefaults } from '#facts/eks/ami-defaults.ts'
import {
  canonicalValue,
  comparisonOf,
  configurationDefaults,
  dependsOnSize,
  evictionHardDefaults,
  fieldComparisons,
  isMap,
} from '#facts/kubelet/fields.ts'
import { shorten } from '#judge/text.ts'
import type { NodeIdentity } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { Comparison } from '#model/kubelet/fields.ts'

export interface FieldValue {
  /** Values with the same meaning have the same text here. */
  canonical: string
  shown: string
  isDefault: boolean
  /** Distance from the default, if both are numbers of one unit; otherwise null. */
  fromDefault: number | null
}

export const absentValue = (path: string): FieldValue => ({
  canonical: '',
  shown: 'none',
  isDefault: !dependsOnSize(path),
  fromDefault: null,
})

/** The compared fields of some settings, with paths as in `fieldValues` and values as written. */
export function writtenSettings(part: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(part)) {
    const comparison = comparisonOf(field)
    if (comparison === undefined || value === undefined) continue
    if (!isMap(comparison.kind)) found[field] = value
    else
      for (const [key, entry] of Object.entries(mapOf(value)))
        found[`${field}.${shorten(key, 100)}`] = entry
  }
  return found
}

/** Of a shell, Terraform, CloudFormation or a template; or a possible secret that was removed. */
export const isExpression = (text: string): boolean =>
  /[$`]|[{<]%|%\{|\{\{|\(removed\)|\b[A-Za-z]\w* [-+*/] \w/.test(text)

/**
 * False for expressions and removed secrets, because their values are unknown. Also false for
 * empty lists, because configz does not show them.
 */
export const isWrittenOut = (value: unknown): boolean =>
  typeof value === 'string' ? !isExpression(value) : !(Array.isArray(value) && value.length === 0)

/** Upstream's decoder treats null as unset, and its defaulting treats an empty string as unset. */
export const isSet = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== ''

export const shownSetting = (value: unknown): string =>
  value === undefined || value === null ? 'none' : shorten(shownValue(value), 100)

type AmiImage = Pick<NodeIdentity, 'amiFamily' | 'kubeletVersion' | 'operatingSystem'>

/**
 * Every compared field by its path. Each key of a map has its own path: `evictionHard.nodefs.available`. Equal configurations of one image share
 * their values.
 */
export const fieldValues = (
  configuration: KubeletConfiguration,
  { amiFamily, kubeletVersion, operatingSystem }: AmiImage,
): FieldValues =>
  sharedValues(JSON.stringify([configuration, { amiFamily, kubeletVersion, operatingSystem }]))

type FieldValues = Readonly<Record<string, FieldValue>>

const sharedValues = oncePerText(
  (text): FieldValues => valuesOf(...(JSON.parse(text) as [KubeletConfiguration, AmiImage])),
  16_384,
  256,
)

function valuesOf(configuration: KubeletConfiguration, identity: AmiImage): FieldValues {
  const defaults: KubeletConfiguration = {
    ...configurationDefaults,
    evictionHard: evictionHardDefaults(identity.kubeletVersion, identity.operatingSystem),
    ...amiDefaults(identity.amiFamily, identity.kubeletVersion),
  }
  const values: Record<string, FieldValue> = {}
  for (const [field, { kind }] of fieldComparisons) {
    if (isMap(kind)) {
      const map = mapOf(configuration[field])
      const version =
        kind === 'gates' && switchesMany.some(gate => map[gate] === true)
          ? null
          : identity.kubeletVersion
      addMap(values, { field, kind, version }, map, mapOf(defaults[field]))
    } else {
      // The kubelet fills absent fields with its own defaults, not with the image's.
      const value = configuration[field] ?? configurationDefaults[field]
      values[field] = fieldValue(
        { field, kind, version: identity.kubeletVersion },
        field,
        value,
        defaults[field],
      )
    }
  }
  return values
}

/** If one of these gates is on, other gates no longer have their usual defaults. */
const switchesMany = ['AllAlpha', 'AllBeta']

interface ComparedField {
  field: keyof KubeletConfiguration
  kind: Comparison
  version: string | null
}

function addMap(
  values: Record<string, FieldValue>,
  compared: ComparedField,
  map: Record<string, unknown>,
  defaults: Record<string, unknown>,
) {
  for (const key of new Set([...Object.keys(map), ...Object.keys(defaults)])) {
    const path = `${compared.field}.${shorten(key, 100)}`
    values[path] = fieldValue(compared, path, map[key], defaults[key])
  }
}

function fieldValue(
  { field, kind, version }: ComparedField,
  path: string,
  value: unknown,
  preset: unknown,
): FieldValue {
  const isSizeDependent = dependsOnSize(field)
  const canonical = canonicalValue(kind, value, path, version)
  const canonicalPreset = canonicalValue(kind, preset, path, version)
  return {
    canonical,
    shown: shownSetting(value),
    isDefault: !isSizeDependent && canonical === canonicalPreset,
    fromDefault: isSizeDependent ? null : distance(canonical, canonicalPreset),
  }
}

function shownValue(value: unknown) {
  if (Array.isArray(value)) return `[${value.join(', ')}]`
  if (value === '') return 'none'
  return String(typeof value === 'object' ? JSON.stringify(value) : value)
}

function distance(a: string, b: string) {
  if (a === '' || b === '' || a.endsWith('%') !== b.endsWith('%')) return null
  const found = Math.abs(Number(a.replace('%', '')) - Number(b.replace('%', '')))
  return Number.isFinite(found) ? found : null
}
