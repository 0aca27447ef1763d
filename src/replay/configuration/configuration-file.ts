/**
 * Loads a KubeletConfiguration as the kubelet does: decodes it and sets defaults.
 *
 * Replays       cmd/kubelet/app/server.go loadConfigFile;  pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration;
 *               pkg/kubelet/kubeletconfig/configfiles/configfiles.go resolveRelativePaths;
 *               cmd/kubelet/app/options/options.go NewKubeletConfiguration, applyLegacyDefaults;  component-base/logs/api/v1/options.go
 * Read at       1.29 to 1.37; evictionHard gets defaults only with a file, since 1.32 defaulting depends on feature gates
 * Kept exactly  zero means unset if the field is no pointer; evictionHard gets its defaults here, once, before drop-ins and flags
 * Left out      a main file that has neither kind nor apiVersion, which upstream refuses
 */

import { formatDuration, parseDuration } from '#base/go/duration.ts'
import { cleanPath } from '#base/go/go-text.ts'
import { canonicalText, parseQuantity, type Quantity } from '#base/go/quantity.ts'
import { oncePerText } from '#base/once.ts'
import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import {
  dependenciesOfGates,
  type GateSettings,
  gateState,
  isGateOn,
} from '#facts/kubelet/feature-gates.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import {
  elementOf,
  evictionHardDefaults,
  fieldDefault,
  fieldListOf,
  isKnownField,
  isStruct,
} from '#facts/kubelet/fields.ts'
import type { configurationStructs, StructName } from '#model/kubelet/fields.ts'
import type { Refusal } from '#model/kubelet/refusal.ts'
import {
  DecodeError,
  decodeConfiguration,
  type FlushFrequency,
  kindError,
  kubeletConfigurationKind,
} from './configuration-decoder.ts'

type Structs = typeof configurationStructs

interface NamedValues {
  bool: boolean
  int32: number
  int64: number
  float64: number
  VerbosityLevel: number
  Duration: bigint
  FlushFrequency: FlushFrequency
  Quantity: Quantity
}

type ValueOf<Type extends string> = Type extends `*${infer Target}`
  ? ValueOf<Target> | null
  : Type extends `[]${infer Item}`
    ? ValueOf<Item>[] | null
    : Type extends `map[string]${infer Entry}`
      ? Record<string, ValueOf<Entry>> | null
      : Type extends StructName
        ? LoadedStruct<Type>
        : Type extends keyof NamedValues
          ? NamedValues[Type]
          : string

type Loaded<Facts extends { type: string }> = Facts extends { gate: string }
  ? ValueOf<Facts['type']>
  : Facts extends { default: unknown }
    ? NonNullable<ValueOf<Facts['type']>>
    : Facts extends { defaults: Readonly<Record<number, infer Default>> }
      ? NonNullable<ValueOf<Facts['type']>> | Extract<Default, null>
      : ValueOf<Facts['type']>

export type LoadedStruct<Struct extends StructName> = {
  -readonly [Name in keyof Structs[Struct]]: Structs[Struct][Name] extends { type: string }
    ? Loaded<Structs[Struct][Name]>
    : never
}

/** Every field. Durations are in nanoseconds; null is Go's nil. Fields that the minor does not have hold their defaults. */
export type LoadedConfiguration = LoadedStruct<'KubeletConfiguration'>

/** The kubelet would not start. */
export class LoadError extends Error {
  readonly refusal: Refusal

  constructor(message: string, fields: Refusal['fields'] = []) {
    super(message)
    this.refusal = { fields, message }
  }
}

export type OperatingSystem = 'linux' | 'windows'

export interface LoadOptions {
  kubeletVersion: string | null
  operatingSystem: OperatingSystem
  /** The file's own path; `<file>` if it has none. */
  path?: string
}

/** The main file. @throws LoadError */
export function loadConfigFile(raw: RawObject, options: LoadOptions): LoadedConfiguration {
  const { kubeletVersion, operatingSystem, path = '<file>' } = options
  const features = featuresOf(kubeletVersion)
  const configuration = setDefaults(decodedOrRefused(raw, features, path), features)
  resolveRelativePaths(
    configuration,
    'KubeletConfiguration',
    path.slice(0, Math.max(0, path.lastIndexOf('/'))),
  )
  const defaults = evictionHardDefaults(kubeletVersion, operatingSystem)
  const isMerged =
    features.has('mergeDefaultEvictionSettings') && configuration.mergeDefaultEvictionSettings
  if (!configuration.evictionHard) configuration.evictionHard = defaults
  else if (isMerged) configuration.evictionHard = { ...defaults, ...configuration.evictionHard }
  return configuration
}

function decodedOrRefused(raw: RawObject, features: KubeletFeatures, path: string) {
  const loadError = (why: string, fields?: Refusal['fields']) =>
    new LoadError(
      `failed to load Kubelet config file ${path}, error failed to decode: ${why}`,
      fields,
    )
  const isKindChecked = raw.kind !== undefined || raw.apiVersion !== undefined
  const error = isKindChecked ? kindError(raw) : null
  if (error !== null) throw loadError(error)
  try {
    return decodeConfiguration(raw, features, 'file')
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw loadError(error.message, error.fields)
  }
}

/** The initial configuration of a kubelet without `--config`. Upstream: NewKubeletConfiguration. */
export function flagsOnlyConfiguration(kubeletVersion: string | null): LoadedConfiguration {
  const configuration = setDefaults({}, featuresOf(kubeletVersion))
  configuration.authentication.anonymous.enabled = true
  configuration.authentication.webhook.enabled = false
  configuration.authorization.mode = 'AlwaysAllow'
  configuration.readOnlyPort = 10255
  return configuration
}

/** Upstream: SetDefaults_KubeletConfiguration. @throws LoadError if upstream crashes */
export function setDefaults(decoded: RawObject, features: KubeletFeatures): LoadedConfiguration {
  const gates = (decoded.featureGates ?? null) as GateSettings
  const gateError = features.has('gatesReadWhileDefaulting')
    ? featureGateError(gates, features)
    : null
  if (gateError !== null) {
    throw new LoadError(
      `panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, error: ${gateError}`,
      ['featureGates'],
    )
  }
  const configuration = defaultedStruct(decoded, 'KubeletConfiguration', {
    features,
    gates,
  }) as LoadedConfiguration
  if (!isSet(decoded.nodeStatusReportFrequency) && isSet(decoded.nodeStatusUpdateFrequency)) {
    configuration.nodeStatusReportFrequency = configuration.nodeStatusUpdateFrequency
  }
  if (configuration.podPidsLimit < 0) configuration.podPidsLimit = -1
  if (decoded.serializeImagePulls === undefined)
    configuration.serializeImagePulls = (configuration.maxParallelImagePulls ?? 0) < 2
  return configuration
}

const isSet = (duration: unknown) => typeof duration === 'bigint' && duration !== 0n

interface Defaulting {
  features: KubeletFeatures
  gates: GateSettings
}

/** The fields of a minor by name, a struct of which none is given, and the names of those that depend on more than their own value. */
const typedFields = oncePerText((key: `${StructName}/${number}`) => {
  const [struct, minor] = key.split('/') as [StructName, string]
  const fields = fieldListOf(struct).map(([name, facts]) => {
    const { type, gate } = facts
    const zero = zeroOf(type)
    const standard = parsedDefault(fieldDefault(facts, featuresOf(`1.${minor}`)), type)
    const ofStruct = isStruct(type) ? type : null
    const isPointer = elementOf(type, '*') !== null
    return [name, { type, gate, zero, standard, ofStruct, isPointer }] as const
  })
  return {
    byName: new Map(fields),
    unset: Object.fromEntries(fields.map(([name, { standard, zero }]) => [name, standard ?? zero])),
    always: fields.flatMap(([name, { gate, ofStruct }]) => ((gate ?? ofStruct) ? [name] : [])),
  }
})

function defaultedStruct(decoded: RawObject, struct: StructName, defaulting: Defaulting) {
  const { features, gates } = defaulting
  const { byName, unset, always } = typedFields(`${struct}/${features.rulesOfMinor}`)
  const configuration: RawObject = { ...unset }
  for (const name of [...always, ...Object.keys(decoded)]) {
    const field = byName.get(name)
    if (!field) continue
    const { type, gate, zero, standard, ofStruct, isPointer } = field
    const value = decoded[name]
    const isGiven = gate === undefined || isGateOn(gate, gates, features)
    if (ofStruct !== null) configuration[name] = defaultedStruct(mapOf(value), ofStruct, defaulting)
    else if (value === undefined || (!isPointer && isZero(value)))
      configuration[name] = (isGiven ? standard : undefined) ?? value ?? zero
    else configuration[name] = fillZeros(value, type)
  }
  return configuration
}

/**
 * The value with all fields of its structs; unset fields are zero, as in Go. Structs in lists and
 * behind pointers have no defaults.
 */
export function fillZeros(value: unknown, type: string): unknown {
  if (value === undefined) return isStruct(type) ? fillZeros({}, type) : zeroOf(type)
  if (isStruct(type) && isRawObject(value)) {
    return Object.fromEntries(
      fieldListOf(type).map(([name, field]) => [name, fillZeros(value[name], field.type)]),
    )
  }
  const target = elementOf(type, '*')
  if (target !== null && value !== null) return fillZeros(value, target)
  const item = elementOf(type, '[]')
  return item !== null && Array.isArray(value) ? value.map(one => fillZeros(one, item)) : value
}

/** Whether the value is Go's zero. Empty lists and maps are not. */
function isZero(value: unknown) {
  if (mapOf(value).nanoseconds === 0n) return true
  return value === 0 || value === '' || value === 0n || value === false
}

function parsedDefault(value: unknown, type: string) {
  if (typeof value !== 'string') return value
  const kind = elementOf(type, '*') ?? type
  if (kind === 'Duration') return parseDuration(value)
  if (kind === 'Quantity') return parseQuantity(value)
  return kind === 'FlushFrequency' ? { nanoseconds: parseDuration(value), isText: true } : value
}

const zeros: Readonly<Record<string, unknown>> = {
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  VerbosityLevel: 0,
  Duration: 0n,
}

function zeroOf(type: string): unknown {
  if (/^(\*|\[\]|map\[)/.test(type)) return null
  return zeros[type] ?? ''
}

/** The fields that are paths, or structs with such fields. */
const pathFieldsOf = oncePerText(
  (struct: StructName): ReturnType<typeof fieldListOf> =>
    fieldListOf(struct).filter(
      ([, { type, isPath }]) => isPath || (isStruct(type) && pathFieldsOf(type).length > 0),
    ),
)

function resolveRelativePaths(configuration: RawObject, struct: StructName, folder: string) {
  for (const [name, { type, isPath }] of pathFieldsOf(struct)) {
    const value = configuration[name]
    if (isPath && typeof value === 'string' && value !== '' && !value.startsWith('/'))
      configuration[name] = cleanPath(`${folder}/${value}`)
    if (isStruct(type) && isRawObject(value)) resolveRelativePaths(value, type, folder)
  }
}

/*
 * The configuration that `/configz` shows for a running kubelet.
 *
 * Replays       cmd/kubelet/app/server.go setConfigz, convertToVersionedKubeletConfig;  encoding/json Marshal of k8s.io/kubelet/config/v1beta1
 * Read at       1.29 to 1.37; kind and apiVersion since 1.36
 * Kept exactly  zeros, nils and empty values are omitted, except structs, durations and zeros behind a pointer; durations and quantities
 *               as Go prints them; logging.flushFrequency in text or in nanoseconds, as given
 */

export function configzOf(
  configuration: LoadedConfiguration,
  features: KubeletFeatures,
): RawObject {
  return {
    ...(features.has('configzNamesItsKind') ? kubeletConfigurationKind : {}),
    ...versionedConfiguration(configuration, features),
  }
}

/** The configuration without kind, the form into which drop-ins are merged. */
export function versionedConfiguration(
  configuration: LoadedConfiguration,
  features: KubeletFeatures,
): RawObject {
  return encodedStruct(configuration, 'KubeletConfiguration', features)
}

function encodedStruct(value: RawObject, struct: StructName, features: KubeletFeatures) {
  const encoded: RawObject = {}
  for (const [name, facts] of fieldListOf(struct)) {
    if (!isKnownField(facts, features)) continue
    const shown = encodedValue(value[name], facts.type, features)
    if (facts.isAlwaysShown || !isEmpty(shown, facts.type)) encoded[name] = shown
  }
  return encoded
}

function encodedValue(value: unknown, type: string, features: KubeletFeatures): unknown {
  if (value === null || value === undefined) return null
  const target = elementOf(type, '*')
  if (target !== null) return encodedValue(value, target, features)
  if (isStruct(type)) return isRawObject(value) ? encodedStruct(value, type, features) : {}
  const item = elementOf(type, '[]')
  if (item !== null)
    return Array.isArray(value) ? value.map(one => encodedValue(one, item, features)) : null
  const entry = elementOf(type, 'map[string]')
  if (entry !== null && isRawObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, encodedValue(one, entry, features)]),
    )
  }
  if (type === 'Quantity') return canonicalText(value as Quantity)
  if (type === 'FlushFrequency') {
    const { nanoseconds, isText } = value as FlushFrequency
    return isText ? formatDuration(nanoseconds) : Number(nanoseconds)
  }
  return typeof value === 'bigint' ? formatDuration(value) : value
}

/** Whether `omitempty` omits the value. */
function isEmpty(shown: unknown, type: string) {
  if (shown === null) return true
  if (isStruct(type) || elementOf(type, '*') !== null) return false
  if (Array.isArray(shown)) return shown.length === 0
  if (isRawObject(shown)) return Object.keys(shown).length === 0
  return shown === '' || shown === 0 || shown === false
}

/*
 * Feature gates that a configuration sets.
 *
 * Replays       component-base/featuregate/feature_gate.go  SetFromMap, unsafeSetFromMap
 * Read at       1.29 to 1.37; since 1.31 the error names all refused gates, since 1.35 a gate that is on needs its dependencies
 * Kept exactly  AllAlpha and AllBeta switch the gates of that stage, except gates set by name; an unknown gate hides the
 *               other errors
 * Left out      emulated versions, which no flag of the kubelet sets; the order of errors: by name here, any upstream
 */

/** Upstream's error. Null: every gate is known, none is locked to another value, and enabled gates have their dependencies. */
export function featureGateError(settings: GateSettings, features: KubeletFeatures): string | null {
  const set = Object.entries(settings ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const unknown = set.find(([name]) => gateState(name, features) === null)
  if (unknown) return `unrecognized feature gate: ${unknown[0]}`
  const locked = set.flatMap(([name, value]) => {
    const state = gateState(name, features)
    return state?.isLocked && state.isOn !== value
      ? [`cannot set feature gate ${name} to ${value}, feature is locked to ${state.isOn}`]
      : []
  })
  if (locked.length > 0)
    return features.has('allGateErrorsNamed') ? aggregate(locked) : (locked[0] ?? null)
  const missing = dependenciesOfGates(features).flatMap(({ gate, needs }) => {
    const disabled = isGateOn(gate, settings, features)
      ? needs.filter(need => !isGateOn(need, settings, features))
      : []
    return disabled.length > 0
      ? [`${gate} is enabled, but depends on features that are disabled: [${disabled.join(' ')}]`]
      : []
  })
  return missing.length > 0 ? aggregate(missing) : null
}

/** Upstream: utilerrors.Aggregate. */
const aggregate = (errors: readonly string[]) =>
  errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`
