/**
 * Where each eviction threshold of a running kubelet comes from, and which default thresholds it has lost.
 *
 * Follows       cmd/kubelet/app/server.go NewKubeletCommand: main file, drop-ins, flags. The files are loaded step by step, as the kubelet would:
 *               the last step that names a signal, or changes its value, is where it comes from
 * Kept exactly  the files explain a threshold only if they give the running value; else they were changed since the start.
 *               Without files its value explains it
 */

import { DurationError, parseDuration } from '#base/go/duration.ts'
import { mapOf, type RawObject } from '#base/raw-object.ts'
import { amiDefaults } from '#facts/eks/ami-defaults.ts'
import { evictionHardDefaults } from '#facts/kubelet/fields.ts'
import { flagSettings } from '#facts/kubelet/flag-settings.ts'
import type { Host } from '#model/input/inspection.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { KubeletConfiguration, StringMap } from '#model/kubelet/configuration.ts'
import { configurationFields } from '#model/kubelet/fields.ts'
import type {
  EvaluatedThreshold,
  LostThreshold,
  ThresholdOrigin,
  ThresholdSource,
  Unknown,
} from '#model/prediction/prediction.ts'
import { LoadError, type LoadedConfiguration, type OperatingSystem } from './configuration-file.ts'
import {
  isRead,
  isWithoutFile,
  type KubeletFile,
  type KubeletFiles,
  kubeletFiles,
  mostLoadsOf,
} from './kubelet-files.ts'
import { configurationFromFiles } from './start-configuration.ts'

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
        if (explained === null) return [signal, byValue(map, signal, value)]
        const step = explained[map][signal]
        return [signal, step?.value === value ? step.origin : explained.changed]
      }),
    )
  const running = configuration.evictionHard ?? {}
  const evictionHard = origins('evictionHard')
  const by = explained?.lostBy ?? lostByValue(Object.values(evictionHard))
  return {
    evictionHard,
    evictionSoft: origins('evictionSoft'),
    lost: Object.entries(evictionHardDefaults(kubeletVersion, operatingSystem))
      .filter(([signal]) => !Object.hasOwn(running, signal))
      .map(([signal, value]) => ({
        signal,
        value,
        by: explained?.evictionHard[signal] ? explained.changed : by,
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
    origin: isOwn(threshold) ? (originOf(threshold) ?? ofKubelet) : ofKubelet,
  }))
}

const ofKubelet: ThresholdOrigin = { source: 'kubelet', certainty: 'certain', path: null }

/** False: the kubelet replaces configured thresholds of containerfs with its own. */
const isOwn = ({ signal }: EvaluatedThreshold) => !signal.startsWith('containerfs.')

/** Likely source of the running map: the AMI, if any of its thresholds comes from there. */
function lostByValue(origins: ThresholdOrigin[]) {
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

interface Explained
  extends Record<OriginMap, Record<string, { value: string; origin: ThresholdOrigin }>> {
  /** Origin of thresholds that these values do not explain. */
  changed: ThresholdOrigin
  lostBy: ThresholdOrigin | null
}

/** Null: the files were not read, or do not load. */
function explainedByFiles(input: ThresholdOriginsInput): Explained | null {
  const files = kubeletFiles(input.host)
  const flags = flagSettings(files.commandLine)
  const isDecided = files.main === null ? isWithoutFile(files) : isRead(files.main)
  if (files.dropIns.filter(namesThresholds).length > mostLoadsOf(files)) return null
  if (!isDecided || !files.dropIns.every(isRead) || flags.error !== null) return null
  const certainty =
    files.unread === '' && files.commandLine.length > 0 && input.isOnDisk !== true
      ? 'certain'
      : 'likely'
  const changed: ThresholdOrigin = { source: 'earlier files', certainty, path: null }
  const explained: Explained = { evictionHard: {}, evictionSoft: {}, changed, lostBy: null }
  try {
    for (const step of steps(files, input, certainty)) explainStep(explained, step)
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    return null
  }
  const flag: ThresholdOrigin = { source: 'flag', certainty, path: null }
  for (const map of thresholdMaps) {
    const value = flags.fields.get(map) as StringMap | undefined
    if (value === undefined) continue
    explained[map] = Object.fromEntries(
      Object.entries(value).map(([signal, text]) => [signal, { value: text, origin: flag }]),
    )
    if (map === 'evictionHard') explained.lostBy = flag
  }
  return explained
}

const namesThresholds = (file: KubeletFile | null) =>
  Object.keys(mapOf(file?.content)).some(key =>
    /^(?:evictionHard|evictionSoft|mergeDefaultEvictionSettings)$/i.test(key),
  )

interface OriginStep {
  before: LoadedConfiguration | null
  after: LoadedConfiguration
  content: RawObject | null
  origin: ThresholdOrigin
  defaults: StringMap
  ofAmi: StringMap
}

function* steps(
  files: KubeletFiles,
  input: ThresholdOriginsInput,
  certainty: ThresholdOrigin['certainty'],
): Iterable<OriginStep> {
  const defaults = evictionHardDefaults(input.kubeletVersion, input.operatingSystem)
  let before: LoadedConfiguration | null = null
  for (const [index, file] of [files.main, ...files.dropIns].entries()) {
    // Only the first drop-in changes thresholds that it does not name.
    if (index > 1 && !namesThresholds(file)) continue
    const after = configurationFromFiles(
      { ...files, dropIns: files.dropIns.slice(0, index) },
      input,
    )
    const role = index === 0 ? 'file' : 'drop-in'
    const source = file === null ? 'no file' : role
    const content = file !== null && isRead(file) ? file.content : null
    yield {
      before,
      after,
      content,
      origin: { source, certainty, path: file?.path ?? null },
      defaults,
      ofAmi: amiThresholds(input),
    }
    before = after
  }
}

function explainStep(explained: Explained, step: OriginStep) {
  const { before, after, content } = step
  for (const map of thresholdMaps) {
    const named = content?.[map] ?? null
    const left = Object.entries(explained[map]).filter(([signal]) =>
      Object.hasOwn(after[map] ?? {}, signal),
    )
    explained[map] = Object.fromEntries(left)
    for (const [signal, value] of Object.entries(after[map] ?? {})) {
      const isNamed = named !== null && Object.hasOwn(named, signal)
      if (isNamed || before?.[map]?.[signal] !== value)
        explained[map][signal] = { value, origin: originOf(signal, value, map, isNamed, step) }
    }
  }
  explained.lostBy = lostBy(explained, step)
}

function originOf(
  signal: string,
  value: string,
  map: OriginMap,
  isNamed: boolean,
  { origin, defaults, ofAmi }: OriginStep,
): ThresholdOrigin {
  const { certainty, path } = origin
  if (!isNamed)
    return {
      source: defaults[signal] === value ? 'upstream default' : 'configured',
      certainty,
      path: null,
    }
  const isAmi = origin.source === 'file' && map === 'evictionHard' && ofAmi[signal] === value
  return isAmi ? { source: 'AMI default', certainty: 'likely', path } : origin
}

/** A map in the main file replaces the defaults. A drop-in adds to the map or removes it. */
function lostBy(explained: Explained, { before, after, content, origin }: OriginStep) {
  if (origin.source === 'drop-in') {
    const isRemoving = Object.keys(before?.evictionHard ?? {}).some(
      signal => !Object.hasOwn(after.evictionHard ?? {}, signal),
    )
    return isRemoving ? origin : explained.lostBy
  }
  if (origin.source === 'no file') return origin
  if ((content?.evictionHard ?? null) === null) return null
  const found = Object.values(explained.evictionHard).find(
    one => one.origin.source === 'AMI default',
  )
  return found?.origin ?? origin
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
