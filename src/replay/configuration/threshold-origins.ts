/**
 * Where each eviction threshold of a running kubelet comes from, and which default thresholds it has lost.
 *
 * Follows       cmd/kubelet/app/server.go NewKubeletCommand: main file, drop-ins, flags. The files are loaded step by step, as the kubelet would:
 *               the last step that names a signal, or changes its value, is where it comes from
 * Kept exactly  the files explain a threshold only if they give the running value; else they were changed since the start.
 *               Without files its value explains it
 */

import { DurationError, parseDuration } from '#base/go/duration.ts'
import { amountOrNull } from '#base/go/quantity.ts'
import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import {
  amiDefaults,
  bottlerocketEphemeralReservation,
  bottlerocketFile,
  bottlerocketSettings,
  bottlerocketSystemCgroup,
  bottlerocketTemplate,
  bottlerocketZeros,
} from '#facts/eks/ami-defaults.ts'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { evictionHardDefaults } from '#facts/kubelet/fields.ts'
import { flagSettings } from '#facts/kubelet/flag-settings.ts'
import type { Host } from '#model/input/inspection.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type {
  KubeletConfiguration,
  RunningConfiguration,
  StringMap,
} from '#model/kubelet/configuration.ts'
import { configurationFields } from '#model/kubelet/fields.ts'
import type {
  EvaluatedThreshold,
  LostThreshold,
  ThresholdOrigin,
  ThresholdSource,
  Unknown,
} from '#model/prediction/prediction.ts'
import { kubeletConfigurationKind } from './configuration-decoder.ts'
import {
  configurationFromFiles,
  LoadError,
  type LoadedConfiguration,
  type OperatingSystem,
} from './configuration-file.ts'
import {
  isEnvironment,
  isKubeletFile,
  isRead,
  isWithoutFile,
  type KubeletFile,
  type KubeletFiles,
  kubeletFiles,
  mostLoadsOf,
  unreadText,
} from './kubelet-files.ts'
import { predictNextStart, whyUndecided } from './next-start.ts'

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

function explainStep(explained: Explained, step: OriginStep): void {
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

/*
 * The configuration of a kubelet whose configz was not read, from its files and flags, or from the
 * settings of Bottlerocket.
 *
 * Replays       only next-start.ts and bottlerocket-file.ts
 * Left out      when the files were written: a kubelet not restarted since then runs with their older content
 */

interface ConfiguredInput {
  /** The input. If configz was not read, its configuration is from the files, if possible. */
  input: NodeInput
  isOnDisk: boolean
  /** Each `what` is `configuration`, or begins with `configuration.`. */
  unknowns: Unknown[]
}

/** Returns the input unchanged if its configuration was read, or its files were not. */
export function withConfigurationOnDisk(input: NodeInput): ConfiguredInput {
  const asRead = { input, isOnDisk: false, unknowns: [] }
  const { node, host: read, configuration } = input
  if (read === null || configuration !== null) return asRead
  const { status } = node
  const nodeInfo = status?.nodeInfo
  const kubeletVersion = nodeInfo?.kubeletVersion ?? null
  const operatingSystem = nodeInfo?.operatingSystem === 'windows' ? 'windows' : 'linux'
  // Only Bottlerocket's script reports settings; it reports no file.
  const settings = read.kubelet === undefined ? read.bottlerocket?.kubernetes : undefined
  const host =
    settings === undefined
      ? read
      : withBottlerocketFile(settings, kubeletVersion, amountOrNull(status?.capacity?.cpu))
  const { prediction } = predictNextStart(host, kubeletVersion, operatingSystem)
  const undecidedInput = (why: string): ConfiguredInput => ({
    ...asRead,
    unknowns: [
      {
        what: 'configuration.files',
        part: 'configuration',
        effect: `the running configuration is not known, nor what its files come to: ${why}`,
      },
    ],
  })
  if (prediction === null)
    return undecidedInput(whyUndecided(kubeletFiles(host)) ?? 'they were not read')
  const { errors, settings: start } = prediction
  if (errors.length > 0 || start === null)
    return undecidedInput(
      `a kubelet would not start with them (${errors[0] ?? ''}), so one that runs was started with others`,
    )
  if (!start.isCommandLineKnown)
    return undecidedInput('the flags of the kubelet were not read, or it does not run')
  // What environment files would add now is not among the running flags.
  const unread = unreadText(host, what => isKubeletFile(what) && !isEnvironment(what))
  if (unread !== '') return undecidedInput(unread)
  return {
    input: { ...input, configuration: asRunning(start.configuration) },
    isOnDisk: true,
    unknowns: [
      {
        what: 'configuration',
        effect:
          settings === undefined
            ? 'as on disk: whether the kubelet was restarted since its files were written is not known'
            : "as on disk: what Bottlerocket's template makes of the settings; whether the kubelet runs with that file is not known",
      },
    ],
  }
}

/** A configuration computed from files, as if it were read. */
export const asRunning = (fields: KubeletConfiguration): RunningConfiguration => ({
  fields,
  mistakes: [],
  printed: { ...fields },
})

/** The host as if it reported one file, generated from the settings. Its flags set none of the file's fields. Source: kubernetes-*, kubelet-exec-start-conf */
const withBottlerocketFile = (
  settings: Readonly<Record<string, unknown>>,
  kubeletVersion: string | null,
  cores: number | null,
): Host => ({
  kubelet: {
    files:
      cores === null
        ? []
        : [
            {
              path: bottlerocketFile,
              role: 'config',
              content: bottlerocketFileOf(settings, kubeletVersion, cores),
            },
          ],
    commandLine: ['kubelet', `--config=${bottlerocketFile}`],
  },
  ...(cores === null && {
    unread: [
      {
        what: 'kubelet file',
        why: 'how many cores the node has, by which it reserves some, is not known',
      },
    ],
  }),
})

/*
 * The kubelet's configuration file as Bottlerocket generates it from its settings. No agent reads the host's files on Bottlerocket.
 *
 * Replays       bottlerocket-core-kit packages/kubernetes-1.NN, kubelet-config; schnauzer helpers kube_reserve_cpu, kube_reserve_memory
 * Read at       1.29 to 1.35
 * Kept exactly  a set map replaces all of the kubelet's defaults; empty values count as not set, and so does 0 except in some settings; numbers may be
 *               texts; memory is reserved by max-pods only if it is set; no cgroup is named beside reserved CPUs; the memory manager's policy
 *               is written only beside memory reserved for it
 * Left out      fields that no replay reads: addresses, certificates, cipher suites
 */

/** @param settings `settings.kubernetes` as apiclient prints it. @param cores CPU cores of the node, for the default reservation */
export function bottlerocketFileOf(
  settings: Readonly<RawObject>,
  kubeletVersion: string | null,
  cores: number,
): RawObject {
  const file: RawObject = { ...kubeletConfigurationKind, ...bottlerocketTemplate(kubeletVersion) }
  for (const [setting, [field, kind]] of Object.entries(bottlerocketSettings)) {
    const value = settings[setting]
    if (isWritten(setting, value)) file[field] = writtenValue(value, kind)
  }
  file.kubeReserved = kubeReserved(settings, cores)
  if (isSet(settings['system-reserved'])) file.systemReservedCgroup = bottlerocketSystemCgroup
  if (isSet(settings['reserved-cpus'])) {
    delete file.kubeReservedCgroup
    delete file.systemReservedCgroup
  }
  const reservedMemory = memoryOfManager(settings)
  if (reservedMemory.length > 0) file.reservedMemory = reservedMemory
  else delete file.memoryManagerPolicy
  return file
}

/** Whether the template's `if` takes the value as true. */
const isSet = (value: unknown) => {
  if (Array.isArray(value)) return value.length > 0
  if (isRawObject(value)) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== false
}

const isWritten = (setting: string, value: unknown) =>
  isSet(value) || (value === 0 && bottlerocketZeros.has(setting)) || value === false

function writtenValue(value: unknown, kind: 'number' | 'text' | 'boolean' | 'map' | 'list') {
  if (kind === 'number')
    return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (kind === 'map' && isRawObject(value)) return texts(value)
  return kind === 'text' && typeof value === 'number' ? String(value) : value
}

const texts = (map: RawObject): RawObject =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]))

function kubeReserved(settings: RawObject, cores: number): RawObject {
  const set = Object.entries(settings?.['kube-reserved'] ?? {}).filter(([, value]) => isSet(value))
  const maxPods = Number(settings['max-pods'])
  return {
    cpu: `${eksReservedCpuMillis(cores)}m`,
    ...(maxPods > 0 && { memory: `${eksReservedMemoryMiB(maxPods)}Mi` }),
    'ephemeral-storage': bottlerocketEphemeralReservation,
    ...texts(Object.fromEntries(set)),
  }
}

function memoryOfManager(settings: RawObject): RawObject[] {
  return Object.entries(settings?.['memory-manager-reserved-memory'] ?? {}).flatMap(
    ([numaNode, limits]) => {
      if (!isRawObject(limits) || limits.enabled !== true) return []
      const { enabled: _, ...amounts } = limits
      return [{ numaNode: Number(numaNode), limits: texts(amounts) }]
    },
  )
}
