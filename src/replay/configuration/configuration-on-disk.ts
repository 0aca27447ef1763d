/**
 * The configuration of a kubelet whose configz was not read, from its files and flags, or from the
 * settings of Bottlerocket.
 *
 * Replays       only next-start.ts, and bottlerocketFileOf below
 * Left out      when the files were written: a kubelet not restarted since then runs with their older content
 */

import { amountOrNull } from '#base/go/quantity.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import {
  bottlerocketEphemeralReservation,
  bottlerocketFile,
  bottlerocketSettings,
  bottlerocketSystemCgroup,
  bottlerocketTemplate,
  bottlerocketZeros,
} from '#facts/eks/ami-defaults.ts'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import type { Host } from '#model/input/inspection.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { KubeletConfiguration, RunningConfiguration } from '#model/kubelet/configuration.ts'
import type { Unknown } from '#model/prediction.ts'
import { kubeletConfigurationKind } from './configuration-decoder.ts'
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
