/**
 * A KubeletConfiguration file as the kubelet decodes and defaults it.
 *
 * Replays       cmd/kubelet/app/server.go loadConfigFile;  pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration;
 *               encoding/json Unmarshal
 * Read at       1.24 to 1.37
 * Kept exactly  a misspelt or unknown field is ignored; null is unset; a zero is unset where the field is no pointer; evictionHard is defaulted
 *               here, once, before drop-ins and flags; a malformed duration ends the decoding, a wrong type only after the rest was read
 * Left out      fields that decide nothing about the start
 */
import { configurationFields, type FieldFacts, type FieldValues } from '#facts/kubelet/configuration-fields.ts'
import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { type Gate, gateState } from '#facts/kubelet/feature-gates.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { parseDuration } from '#model/duration.ts'
import { parseQuantity, type Quantity } from '#model/quantity.ts'
import { isRawObject, type RawObject } from '#model/record.ts'

type Fields = typeof configurationFields
type FieldName = keyof Fields

interface ReservedMemory {
  numaNode: number
  limits: Map<string, Quantity>
}

/** Fields without a default are null while unset. */
export type LoadedConfiguration = {
  [Name in FieldName]: Fields[Name] extends { default: unknown }
    ? FieldValues[Fields[Name]['type']]
    : FieldValues[Fields[Name]['type']] | null
} & {
  memorySwap: { swapBehavior: string }
  crashLoopBackOff: { maxContainerRestartPeriod: bigint | null }
  reservedMemory: ReservedMemory[]
  shutdownGracePeriodByPodPriority: unknown[]
  serializeImagePulls: boolean
  evictionHard: Record<string, string>
}

/** The kubelet would not even load the file: `message` is upstream's text, after the part that names the file. */
export class LoadError extends Error {}

/** The same, but the kubelet crashes: nothing stands before the text. */
export class LoadPanic extends Error {}

export interface LoadOptions {
  operatingSystem: 'linux' | 'windows'
  /** Fields that are not defaulted again: those that a drop-in of 1.29 to 1.31 names. */
  undefaulted?: ReadonlySet<string>
  /** False once evictionHard has been defaulted, before drop-ins. */
  defaultsEvictionHard?: boolean
}

/** @throws LoadError, LoadPanic */
export function loadConfiguration(raw: RawObject, kubeletVersion: string | null, options: LoadOptions): LoadedConfiguration {
  const features = featuresOf(kubeletVersion)
  const decoded = decode(raw, features)
  const gateError = features.has('gatesReadWhileDefaulting') ? featureGateError(decoded.featureGates, features) : null
  if (gateError !== null) {
    throw new LoadPanic(`panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, error: ${gateError}`)
  }
  const configuration = defaulted(decoded, options)
  configuration.serializeImagePulls ??= (configuration.maxParallelImagePulls ?? 0) < 2
  configuration.failCgroupV1 ??= features.has('cgroupV1Refused')
  if (options.defaultsEvictionHard !== false) {
    const isMerged = features.has('mergeDefaultEvictionSettings') && configuration.mergeDefaultEvictionSettings
    if (!decoded.evictionHard || isMerged) {
      configuration.evictionHard = { ...evictionHardDefaults(kubeletVersion, options.operatingSystem), ...configuration.evictionHard }
    }
  }
  return configuration
}

/** Upstream: SetFromMap. Null: all are known, and none is locked to something else. */
export function featureGateError(gates: unknown, features: KubeletFeatures): string | null {
  for (const [name, value] of Object.entries(isRawObject(gates) ? gates : {})) {
    const state = gateState(name, features)
    if (!state) return `unrecognized feature gate: ${name}`
    if (state.isLocked && state.isOn !== value) return `cannot set feature gate ${name} to ${value}, feature is locked to ${state.isOn}`
  }
  return null
}

/** Whether a gate is on with what this configuration sets. */
export function isGateOn(gate: Gate, { featureGates }: Pick<LoadedConfiguration, 'featureGates'>, features: KubeletFeatures): boolean {
  return featureGates?.[gate] ?? gateState(gate, features)?.isOn ?? false
}

function decode(raw: RawObject, features: KubeletFeatures): RawObject {
  const decoder = new Decoder()
  const decoded: RawObject = {}
  for (const [name, value] of Object.entries(raw)) {
    if (value === null || value === undefined) continue
    if (Object.hasOwn(configurationFields, name)) {
      const { type, since }: FieldFacts = configurationFields[name as FieldName]
      if (since === undefined || features.has(since)) decoded[name] = decoder.decode(value, type, `KubeletConfiguration.${name}`)
    } else if (name === 'memorySwap') {
      decoded[name] = { swapBehavior: '', ...decoder.structure(value, { swapBehavior: 'string' }, 'MemorySwapConfiguration', name) }
    } else if (name === 'crashLoopBackOff' && features.has('crashLoopBackOff')) {
      decoded[name] = {
        maxContainerRestartPeriod: null,
        ...decoder.structure(value, { maxContainerRestartPeriod: 'duration' }, 'CrashLoopBackOffConfig', name),
      }
    } else if (name === 'reservedMemory') {
      decoded[name] = decoder.reservedMemory(value)
    } else if (name === 'shutdownGracePeriodByPodPriority' && Array.isArray(value)) {
      decoded[name] = value
    }
  }
  if (decoder.firstError !== null) throw new LoadError(decoder.firstError)
  return decoded
}

const int32Limit = 2 ** 31

/** Reads on after a wrong type, as encoding/json does, and remembers the first. */
class Decoder {
  firstError: string | null = null

  decode(value: unknown, type: keyof FieldValues, path: string): unknown {
    switch (type) {
      case 'duration':
        return this.duration(value, path)
      case 'map[string]string':
        return this.map(value, 'string', type, path)
      case 'map[string]bool':
        return this.map(value, 'bool', type, path)
      case '[]string':
        return Array.isArray(value) ? value.map(item => this.scalar(item, 'string', path) ?? '') : this.refuse(value, type, path)
      default:
        return this.scalar(value, type, path)
    }
  }

  structure(value: unknown, fields: Record<string, keyof FieldValues>, name: string, path: string): RawObject {
    const decoded: RawObject = {}
    if (!isRawObject(value)) this.refuse(value, `v1beta1.${name}`, `KubeletConfiguration.${path}`)
    for (const [field, type] of Object.entries(fields)) {
      const given = isRawObject(value) ? value[field] : null
      if (given !== null && given !== undefined) decoded[field] = this.decode(given, type, `${name}.${path}.${field}`)
    }
    return decoded
  }

  reservedMemory(value: unknown): ReservedMemory[] {
    if (!Array.isArray(value)) {
      this.refuse(value, '[]v1beta1.MemoryReservation', 'KubeletConfiguration.reservedMemory')
      return []
    }
    return value.map(item => {
      const { numaNode } = this.structure(item, { numaNode: 'int32' }, 'MemoryReservation', 'reservedMemory')
      const limits = isRawObject(item) && isRawObject(item.limits) ? Object.entries(item.limits) : []
      return {
        numaNode: typeof numaNode === 'number' ? numaNode : 0,
        limits: new Map(limits.map(([resource, quantity]) => [resource, this.quantity(quantity)])),
      }
    })
  }

  private quantity(value: unknown): Quantity {
    try {
      // Upstream trims what stands between the quotes, and takes a bare number as it is written.
      return parseQuantity(typeof value === 'string' ? value.trim() : value === null ? '0' : String(value))
    } catch (error) {
      throw new LoadError(error instanceof Error ? error.message : String(error))
    }
  }

  private duration(value: unknown, path: string): bigint | undefined {
    if (typeof value !== 'string') throw new LoadError(wrongType(value, 'string', path))
    try {
      return parseDuration(value)
    } catch (error) {
      throw new LoadError(error instanceof Error ? error.message : String(error))
    }
  }

  private map(value: unknown, itemType: 'string' | 'bool', type: string, path: string): unknown {
    if (!isRawObject(value)) return this.refuse(value, type, path)
    const zero = itemType === 'string' ? '' : false
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.scalar(item, itemType, path) ?? zero]))
  }

  private scalar(value: unknown, type: keyof FieldValues, path: string): unknown {
    if (value === null) return undefined
    const wanted = type === 'string' ? 'string' : type === 'bool' ? 'boolean' : 'number'
    if (typeof value !== wanted) return this.refuse(value, type, path)
    if (typeof value === 'number' && !fits(value, type)) return this.refuse(value, type, path, `number ${value}`)
    return value
  }

  private refuse(value: unknown, type: string, path: string, shown?: string): undefined {
    this.firstError ??= wrongType(value, type, path, shown)
    return undefined
  }
}

const fits = (value: number, type: keyof FieldValues): boolean =>
  type === 'float64' || (Number.isInteger(value) && (type === 'int64' || (value >= -int32Limit && value < int32Limit)))

function wrongType(value: unknown, type: string, path: string, shown?: string): string {
  return `json: cannot unmarshal ${shown ?? kindOf(value)} into Go struct field ${path} of type ${type}`
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function defaulted(decoded: RawObject, { undefaulted }: LoadOptions): LoadedConfiguration {
  const configuration: RawObject = {
    memorySwap: decoded.memorySwap ?? { swapBehavior: '' },
    crashLoopBackOff: decoded.crashLoopBackOff ?? { maxContainerRestartPeriod: null },
    reservedMemory: decoded.reservedMemory ?? [],
    shutdownGracePeriodByPodPriority: decoded.shutdownGracePeriodByPodPriority ?? [],
  }
  for (const [name, facts] of Object.entries<FieldFacts>(configurationFields)) {
    const value = decoded[name]
    const isKept = value !== undefined && (facts.isPointer === true || undefaulted?.has(name) === true || !isZero(value))
    configuration[name] = isKept ? value : defaultOf(facts)
  }
  return { ...configuration, evictionHard: configuration.evictionHard ?? {} } as LoadedConfiguration
}

const isZero = (value: unknown): boolean => value === 0 || value === '' || value === 0n

const defaultOf = ({ type, default: fallback }: FieldFacts): unknown =>
  type === 'duration' && typeof fallback === 'string' ? parseDuration(fallback) : (fallback ?? null)
