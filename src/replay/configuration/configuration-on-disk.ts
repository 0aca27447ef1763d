/**
 * The configuration of a kubelet whose configz was not read, from its files and flags, or from the
 * settings of Bottlerocket.
 *
 * Replays       only next-start.ts, and bottlerocketFileOf below
 * Left out      when the files were written: a kubelet not restarted since then runs with their older content
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
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import type { Host } from '#model/input/inspection.ts'
import type { AmiFamily, NodeInput } from '#model/input/record.ts'
import type {
  KubeletConfiguration,
  RunningConfiguration,
  StringMap,
} from '#model/kubelet/configuration.ts'
import { configurationFields } from '#model/kubelet/fields.ts'
import type {
  EvaluatedThreshold,
  LostThreshold,
  StartSettings,
  ThresholdOrigin,
  ThresholdSource,
  Unknown,
} from '#model/prediction.ts'
import { kubeletConfigurationKind } from './configuration-decoder.ts'
import type { OperatingSystem } from './configuration-file.ts'
import { configurationParts, kubeletFiles, unreadText } from './kubelet-files.ts'
import { predictNextStart, whyUndecided } from './next-start.ts'

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
  if (!read || configuration) return asRead
  const { status } = node
  const nodeInfo = status?.nodeInfo
  const kubeletVersion = nodeInfo?.kubeletVersion ?? null
  const operatingSystem = nodeInfo?.operatingSystem === 'windows' ? 'windows' : 'linux'
  // Only Bottlerocket's script reports settings; it reports no file.
  const settings = read.kubelet ? undefined : read.bottlerocket?.kubernetes
  const host = settings
    ? withBottlerocketFile(settings, kubeletVersion, amountOrNull(status?.capacity?.cpu))
    : read
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
  if (!prediction) return undecidedInput(whyUndecided(kubeletFiles(host)) ?? 'they were not read')
  const { errors, settings: start } = prediction
  if (errors.length > 0 || !start)
    return undecidedInput(
      `a kubelet would not start with them (${errors[0] ?? ''}), so one that runs was started with others`,
    )
  if (!start.isCommandLineKnown)
    return undecidedInput('the flags of the kubelet were not read, or it does not run')
  // What environment files would add now is not among the running flags.
  const unread = unreadText(host, configurationParts)
  if (unread !== '') return undecidedInput(unread)
  return {
    input: { ...input, configuration: asRunning(start.configuration) },
    isOnDisk: true,
    unknowns: [
      {
        what: 'configuration',
        effect: settings
          ? "as on disk: what Bottlerocket's template makes of the settings; whether the kubelet runs with that file is not known"
          : 'as on disk: whether the kubelet was restarted since its files were written is not known',
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

/** A map or list in a map is no text of Bottlerocket, and stays. */
const texts = (map: RawObject): RawObject =>
  Object.fromEntries(
    Object.entries(map).map(([key, value]) => [
      key,
      typeof value === 'object' ? value : String(value),
    ]),
  )

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

/*
 * Where each eviction threshold of a running kubelet comes from, and which default thresholds it has lost.
 *
 * Follows       cmd/kubelet/app/server.go NewKubeletCommand: main file, drop-ins, flags. The last of them that sets a signal is where it comes from
 * Kept exactly  the files explain a threshold only if they give the running value; else they were changed since the start.
 *               Without files its value explains it
 */

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
