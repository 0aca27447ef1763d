/** Compares configurations by meaning: `1Gi` is `1024Mi`, `5m0s` is `300s`, an absent field is its default, and the order of map keys does not matter. */

import { hash } from 'node:crypto'
import { formatDuration } from '#base/go/duration.ts'
import { oncePerText } from '#base/once.ts'
import { mapOf } from '#base/raw-object.ts'
import { amiDefaults, bottlerocketSettingOf } from '#facts/eks/ami-defaults.ts'
import { isTranslatedForBottlerocket } from '#facts/eks/karpenter.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import {
  canonicalValue,
  comparisonOf,
  configurationDefaults,
  dependsOnSize,
  dropInForm,
  evictionHardDefaults,
  fieldComparisons,
  isMapComparison,
  meaningOfKey,
} from '#facts/kubelet/fields.ts'
import { flagSettings } from '#facts/kubelet/flag-settings.ts'
import { shorten } from '#judge/text.ts'
import type { AmiFamily, KubeletSource, NodeIdentity, NodeOwner } from '#model/input/record.ts'
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
export function writtenSettings(part: Readonly<Record<string, unknown>>) {
  const found: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(part)) {
    const comparison = comparisonOf(field)
    if (!comparison || value === undefined) continue
    if (!isMapComparison(comparison.kind)) found[field] = value
    else
      for (const [key, entry] of Object.entries(mapOf(value)))
        found[`${field}.${shorten(key, 100)}`] = entry
  }
  return found
}

/** Of a shell, Terraform, CloudFormation or a template; or a possible secret that was removed. */
export const isExpression = (text: string) =>
  /[$`]|[{<]%|%\{|\{\{|\(removed\)|\b[A-Za-z]\w* [-+*/] \w/.test(text)

/**
 * False for expressions and removed secrets, because their values are unknown. Also false for
 * empty lists, because configz does not show them.
 */
export const isWrittenOut = (value: unknown) =>
  typeof value === 'string' ? !isExpression(value) : !(Array.isArray(value) && value.length === 0)

/** Upstream's decoder treats null as unset, and its defaulting treats an empty string as unset. */
export const isSet = (value: unknown) => value !== null && value !== undefined && value !== ''

export const shownSetting = (value: unknown) =>
  value === undefined || value === null ? 'none' : shorten(shownValue(value), 100)

type AmiImage = Pick<NodeIdentity, 'amiFamily' | 'kubeletVersion' | 'operatingSystem'>

/**
 * Every compared field by its path. Each key of a map has its own path: `evictionHard.nodefs.available`. Equal configurations of one image share
 * their values.
 */
export const fieldValues = (configuration: KubeletConfiguration, image: AmiImage): FieldValues =>
  runningSettings(configuration, image).values

type FieldValues = Readonly<Record<string, FieldValue>>

interface RunningSettings {
  values: FieldValues
  /** Short. Equal values of equal images have one key. */
  key: string
}

export const runningSettings = (
  configuration: KubeletConfiguration,
  { amiFamily, kubeletVersion, operatingSystem }: AmiImage,
): RunningSettings =>
  sharedSettings(JSON.stringify([configuration, { amiFamily, kubeletVersion, operatingSystem }]))

const sharedSettings = oncePerText(
  (text): RunningSettings => ({
    values: valuesOf(...(JSON.parse(text) as [KubeletConfiguration, AmiImage])),
    key: hash('sha256', text, 'base64'),
  }),
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
    if (isMapComparison(kind)) {
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

export interface DeclaredNode {
  owner: NodeOwner
  group: string
  amiFamily: AmiFamily
  kubeletVersion: string | null
  template: { id: string | null; version: string | null }
  /** The EC2NodeClass that the node was made from, with its hash at that time. */
  nodeClass: { name: string | null; hash: string | null; hashVersion: string | null }
}

export interface DeclaredSetting {
  /** Name as in `writtenSettings`, or the key itself if the key is no field. */
  path: string
  /** Undefined: no longer declared; `before` has the previously declared value. */
  value: unknown
  before?: unknown
  /** The source of the setting: `launch template web version 4`. */
  where: string
  by: 'config' | 'flag'
  /** Why the setting cannot have reached the node, in words. Null: it could. */
  lostBy: string | null
  /** The setting is declared under a name that the kubelet drops. */
  isMisnamed: boolean
}

export interface Declaration {
  settings: DeclaredSetting[]
  undecided: string[]
  /** The source contains a script. Only the settings that the script names are known. */
  hasScript: boolean
  /** The node was made from an older template version or node class, whose content is unknown. */
  older?: Older
}

export interface Older {
  lostBy: string
  version: string | null
  hash: string | null
}

/** @param source `{ config, flags, source }` as in launch templates and user data; without a source, Karpenter puts it where the image reads it */
export function declarationOfSource(
  { config = {}, flags = [], source = '' }: KubeletSource,
  where: string,
  node: DeclaredNode,
): Declaration {
  const from = source || null
  const ofFlags = [...flagSettings(flags).fields].map(([field, value]) => [
    field,
    typeof value === 'bigint' ? formatDuration(value) : value,
  ])
  const all = [
    ...fromConfig(config, { where, by: 'config', source: from }, node),
    ...fromConfig(
      Object.fromEntries(ofFlags),
      { where: `${where} flags`, by: 'flag', source: from },
      node,
    ),
  ]
  const unclear = all.filter(({ value }) => !isWrittenOut(value))
  return {
    settings: all.filter(setting => !unclear.includes(setting)),
    hasScript: from === 'script',
    undecided: unclear.map(({ path }) => `what ${path} in ${where} comes to is not known`),
  }
}

function fromConfig(
  config: Readonly<Record<string, unknown>>,
  { where, by, source }: Pick<DeclaredSetting, 'where' | 'by'> & { source: string | null },
  { kubeletVersion, amiFamily }: DeclaredNode,
): DeclaredSetting[] {
  const features = featuresOf(kubeletVersion)
  return Object.entries(config).flatMap(([key, value]) => {
    if (key === 'kind' || key === 'apiVersion' || value === null || !/^[A-Za-z]\w*$/.test(key))
      return []
    // nodeadm passes a NodeConfig on as a drop-in.
    const { field, ignored } = meaningOfKey(
      key,
      features,
      source === 'nodeadm' ? dropInForm(features) : 'file',
    )
    const lostBy =
      whySourceUnread(amiFamily, source, by) ??
      ignoredWords(key, field, ignored) ??
      withoutSetting(amiFamily, source, key)
    const setting = (path: string, entry: unknown): DeclaredSetting => ({
      path,
      value: entry,
      where,
      by,
      lostBy,
      isMisnamed: ignored !== null,
    })
    if (field === null) return [setting(shorten(key, 100), value)]
    const found = Object.entries(writtenSettings({ [field]: value })).filter(([, entry]) =>
      isSet(entry),
    )
    return found.map(([path, entry]) => setting(path, entry))
  })
}

/** Why a kubelet drops a key, in words. Null: the kubelet does not drop it. */
export function ignoredWords(key: string, field: string | null, ignored: string | null) {
  const written = shorten(key, 80)
  if (ignored === null) return null
  if (ignored === 'minor')
    return `this kubelet's minor does not know ${written}, and drops it in silence`
  if (field === null)
    return `${written} is no field of KubeletConfiguration: the kubelet drops it in silence`
  return `${written} is no field of KubeletConfiguration (${field} is): the kubelet drops it in silence`
}

const families: Partial<Record<AmiFamily, string>> = {
  AL2: 'Amazon Linux 2',
  AL2023: 'Amazon Linux 2023',
}

export const imageName = (family: AmiFamily) => families[family] ?? family

/** Why an image never reads such a source. Sources: amazon-eks-ami nodeadm/doc, templates/al2/runtime/bootstrap.sh; Bottlerocket's README, User data */
function whySourceUnread(family: AmiFamily, source: string | null, by: DeclaredSetting['by']) {
  if (source === null) return null
  const name = families[family]
  if (family === 'AL2023' && (source === 'bootstrap' || (source === 'script' && by === 'flag'))) {
    return `nodeadm on ${name} reads NodeConfig, not ${source === 'bootstrap' ? "bootstrap.sh's --kubelet-extra-args" : 'KUBELET_EXTRA_ARGS'}`
  }
  if (family === 'AL2' && source === 'nodeadm')
    return `bootstrap.sh on ${name} does not read NodeConfig`
  if (name !== undefined && source === 'bottlerocket')
    return `${name} does not read Bottlerocket's settings`
  return family === 'Bottlerocket' && source !== 'bottlerocket'
    ? 'Bottlerocket reads its own settings (TOML), and neither NodeConfig nor scripts'
    : null
}

/** @param source null: the setting comes from a node class or a NodePool */
function withoutSetting(family: AmiFamily, source: string | null, field: string) {
  if (family !== 'Bottlerocket') return null
  if (source === null)
    return isTranslatedForBottlerocket(field)
      ? null
      : `Karpenter does not turn ${field} into a setting of Bottlerocket`
  return bottlerocketSettingOf.has(field) ? null : `Bottlerocket has no setting for ${field}`
}
