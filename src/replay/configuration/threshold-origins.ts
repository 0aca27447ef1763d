/**
 * Where each eviction threshold of a running kubelet comes from, and which default thresholds it has lost.
 *
 * Follows       cmd/kubelet/app/server.go NewKubeletCommand: main file, drop-ins, flags. The last of them that sets a signal is where it comes from
 * Kept exactly  the files explain a threshold only if they give the running value; else they were changed since the start.
 *               Without files its value explains it
 */

import { DurationError, parseDuration } from '#base/go/duration.ts'
import { mapOf } from '#base/raw-object.ts'
import { amiDefaults } from '#facts/eks/ami-defaults.ts'
import { evictionHardDefaults } from '#facts/kubelet/fields.ts'
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import type { Host } from '#model/input/inspection.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { KubeletConfiguration, StringMap } from '#model/kubelet/configuration.ts'
import { configurationFields } from '#model/kubelet/fields.ts'
import type {
  EvaluatedThreshold,
  LostThreshold,
  StartSettings,
  ThresholdOrigin,
  ThresholdSource,
  Unknown,
} from '#model/prediction.ts'
import type { OperatingSystem } from './configuration-file.ts'
import { kubeletFiles } from './kubelet-files.ts'

export interface ThresholdOrigins {
  evictionHard: Record<string, ThresholdOrigin>
  evictionSoft: Record<string, ThresholdOrigin>
  /** Defaults of this kubelet that do not run, and what removed them. A default that is set but off (`0%`) is not lost. */
  lost: LostThreshold[]
}

export interface ThresholdOriginsInput {
  configuration: Pick<KubeletConfiguration, OriginMap | 'mergeDefaultEvictionSettings'>
  kubeletVersion: string | null
  operatingSystem: OperatingSystem
  amiFamily: AmiFamily | null
  host: Host | null
  /** What the files of `host` come to. Null: they were not read, or do not load. */
  settings: StartSettings | null
  /** Whether the configuration itself was derived from the files. They then explain no value that was seen running. */
  isOnDisk?: boolean
}

const thresholdMaps = ['evictionHard', 'evictionSoft'] as const
type OriginMap = (typeof thresholdMaps)[number]

export function thresholdOrigins(input: ThresholdOriginsInput): ThresholdOrigins {
  const { configuration, kubeletVersion, operatingSystem } = input
  const explained = explainedByFiles(input)
  const byValue = originsByValue(input)
  const origins = (map: OriginMap) =>
    Object.fromEntries(
      Object.entries(configuration[map] ?? {}).map(([signal, value]) => {
        if (!explained) return [signal, byValue(map, signal, value)]
        const step = explained.stepOf(map, signal)
        return [signal, step?.value === value ? step.origin : explained.changed]
      }),
    )
  const running = configuration.evictionHard ?? {}
  const evictionHard = origins('evictionHard')
  const likelyLoser = likelyMapOrigin(Object.values(evictionHard))
  return {
    evictionHard,
    evictionSoft: origins('evictionSoft'),
    lost: Object.entries(evictionHardDefaults(kubeletVersion, operatingSystem))
      .filter(([signal]) => !Object.hasOwn(running, signal))
      .map(([signal, value]) => ({
        signal,
        value,
        by: explained?.stepOf('evictionHard', signal)
          ? explained.changed
          : (explained?.lostBy(signal) ?? likelyLoser),
      })),
  }
}

export function withOrigins(
  thresholds: readonly EvaluatedThreshold[],
  { evictionHard, evictionSoft }: ThresholdOrigins,
): EvaluatedThreshold[] {
  // The soft map can contain a hard threshold, with a grace period of 0.
  const originOf = ({ signal, hard }: EvaluatedThreshold) =>
    hard ? (evictionHard[signal] ?? evictionSoft[signal]) : evictionSoft[signal]
  return thresholds.map(threshold => ({
    ...threshold,
    origin: isConfigurable(threshold) ? (originOf(threshold) ?? ofKubelet) : ofKubelet,
  }))
}

const ofKubelet: ThresholdOrigin = { source: 'kubelet', certainty: 'certain', path: null }

/** False: the kubelet replaces configured thresholds of containerfs with its own. */
const isConfigurable = ({ signal }: EvaluatedThreshold) => !signal.startsWith('containerfs.')

/** Likely source of the running map: the AMI, if any of its thresholds comes from there. */
function likelyMapOrigin(origins: ThresholdOrigin[]) {
  return (
    origins.find(({ source }) => source === 'AMI default') ?? {
      source: 'configured',
      certainty: 'likely',
      path: null,
    }
  )
}

const amiThresholds = ({ amiFamily, kubeletVersion }: ThresholdOriginsInput): StringMap =>
  amiFamily === null ? {} : (amiDefaults(amiFamily, kubeletVersion).evictionHard ?? {})

function originsByValue(input: ThresholdOriginsInput) {
  const { configuration, kubeletVersion, operatingSystem } = input
  const running = configuration.evictionHard ?? {}
  const defaults = evictionHardDefaults(kubeletVersion, operatingSystem)
  const ofAmi = amiThresholds(input)
  // A map that replaced the defaults keeps none of them. Any default in it was written explicitly.
  const isWhole = (map: StringMap) =>
    Object.keys(map).every(signal => Object.hasOwn(running, signal))
  const likelyOrigin = (source: ThresholdSource): ThresholdOrigin => ({
    source,
    certainty: 'likely',
    path: null,
  })
  return (map: OriginMap, signal: string, value: string): ThresholdOrigin => {
    if (map === 'evictionHard' && ofAmi[signal] === value && isWhole(ofAmi))
      return likelyOrigin('AMI default')
    const canBeDefault =
      configuration.mergeDefaultEvictionSettings === true ||
      (isWhole(defaults) && Object.keys(ofAmi).length === 0)
    if (map === 'evictionHard' && defaults[signal] === value && canBeDefault)
      return likelyOrigin('upstream default')
    return { source: 'configured', certainty: 'certain', path: null }
  }
}

interface Explained {
  /** Null: the files and flags do not give the signal. */
  stepOf(map: OriginMap, signal: string): { value: string; origin: ThresholdOrigin } | null
  /** Origin of thresholds that these values do not explain. */
  changed: ThresholdOrigin
  lostBy(signal: string): ThresholdOrigin | null
}

/** Null: the files were not read, or do not load. */
function explainedByFiles(input: ThresholdOriginsInput): Explained | null {
  const { settings, host, isOnDisk = false } = input
  if (!settings) return null
  const { said, configuration } = settings
  const { main, commandLine, unread } = kubeletFiles(host)
  const certainty = unread === '' && settings.isCommandLineKnown && !isOnDisk ? 'certain' : 'likely'
  const origin = (source: ThresholdSource, path: string | null = null): ThresholdOrigin => ({
    source,
    certainty,
    path,
  })
  const defaults = evictionHardDefaults(input.kubeletVersion, input.operatingSystem)
  const ofAmi = amiThresholds(input)
  const originOf = (map: OriginMap, signal: string, value: string): ThresholdOrigin => {
    const setting = said[`${map}.${signal}`]?.findLast(one => one.value !== null)
    if (!setting) return origin(defaults[signal] === value ? 'upstream default' : 'configured')
    const { by, where } = setting
    const isAmi = by === 'file' && map === 'evictionHard' && ofAmi[signal] === value
    if (isAmi) return { source: 'AMI default', certainty: 'likely', path: where }
    return origin(by, by === 'flag' ? null : where)
  }
  const stepOf = (map: OriginMap, signal: string) => {
    const value = configuration[map]?.[signal]
    return value === undefined ? null : { value, origin: originOf(map, signal, value) }
  }
  const hard = mapOf(main?.content).evictionHard ?? null
  const originOfLoss = (signal: string) => {
    if (flagValue(commandLine, 'eviction-hard') !== null) return origin('flag')
    if (!main) return origin('no file')
    // A map in the main file replaces the defaults. A drop-in removes a signal, or the map.
    const isOfFile = hard !== null && !Object.hasOwn(mapOf(hard), signal)
    const removal = [
      ...(said[`evictionHard.${signal}`] ?? []),
      ...(said.evictionHard ?? []),
    ].findLast(({ by, value }) => by === 'drop-in' && value === null)
    if (removal && !isOfFile) return origin('drop-in', removal.where)
    if (hard === null) return null
    const steps = Object.keys(mapOf(hard)).map(name => stepOf('evictionHard', name)?.origin)
    return steps.find(step => step?.source === 'AMI default') ?? origin('file', main.path)
  }
  return { stepOf, changed: origin('earlier files'), lostBy: originOfLoss }
}

/* Durations that do not parse. No kubelet starts with one, so only a hand-written or changed configuration has it. */

/** Named by field, plus the key in a map: `configz.evictionSoftGracePeriod.nodefs.available`. */
export const unparsedDurations = (configuration: KubeletConfiguration): readonly Unknown[] =>
  Object.entries(configuration).flatMap(([field, value]): readonly Unknown[] => {
    const { type, compare } = configurationFields[field] ?? {}
    if (compare === 'durations')
      return Object.entries(value).flatMap(([key, text]) =>
        unparsedDuration(`${field}.${key}`, text),
      )
    return type?.endsWith('Duration') ? unparsedDuration(field, value) : []
  })

function unparsedDuration(field: string, text: unknown): Unknown[] {
  if (typeof text !== 'string') return []
  try {
    parseDuration(text)
    return []
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
    return [{ what: `configz.${field}`, effect: `${error.message}: what depends on it is unknown` }]
  }
}
