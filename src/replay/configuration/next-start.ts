/**
 * What the kubelet would do with the files on the node's disk at its next start. The running kubelet never reads them again.
 *
 * Replays       cmd/kubelet/app/server.go  NewKubeletCommand
 * Read at       1.29 to 1.37
 * Kept exactly  main file, then drop-ins by path, then flags; evictionHard gets defaults with the main file, so a drop-in keeps the other
 *               defaults; without a main file there are no hard thresholds
 * Left out      flags other than those of facts/kubelet/fields.ts; the prefix of an error that names the step
 */
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagSettings } from '#facts/kubelet/flag-settings.ts'
import { mapOf } from '#model/config-value.ts'
import type { Host } from '#model/node-input.ts'
import type { NextStartPrediction, Unknown } from '#model/prediction.ts'
import { startupErrors } from '#replay/configuration/validation/startup.ts'
import { isEndpointChecked } from '#replay/configuration/validation/tracing.ts'
import { validationErrors } from './config-validation.ts'
import { LoadError, type LoadedConfiguration, type OperatingSystem } from './configuration-file.ts'
import { addsNothingTo } from './environment-file.ts'
import {
  isRead,
  isWithoutFile,
  type KubeletFile,
  type KubeletFiles,
  kubeletFiles,
} from './kubelet-files.ts'
import { withFlags } from './kubelet-flags.ts'
import { configurationFromFiles } from './start-configuration.ts'
import { startSettings } from './start-settings.ts'

export interface NextStart {
  /** Null: undecided; `unknowns` has the reasons. With a prediction they name what could still prevent the start. */
  prediction: NextStartPrediction | null
  /** Each `what` begins with `nextStart.`. */
  unknowns: Unknown[]
}

interface NextKubelet {
  kubeletVersion: string | null
  operatingSystem: OperatingSystem
  cgroupVersion: 1 | 2 | null
}

/** @param host data read on the node itself; null: it was not requested */
export function predictNextStart(
  host: Host | null,
  kubeletVersion: string | null,
  operatingSystem: OperatingSystem,
): NextStart {
  const files = kubeletFiles(host)
  const reason = whyUndecided(files)
  if (reason !== null) {
    const effect = `${reason}: whether the kubelet would start again with the files on its disk is not known`
    return { prediction: null, unknowns: [{ what: 'nextStart.files', effect }] }
  }
  const { prediction, unknowns } = start(files, {
    kubeletVersion,
    operatingSystem,
    cgroupVersion: cgroupVersionOf(host),
  })
  return { prediction, unknowns: [...doubts(files, kubeletVersion), ...unknowns] }
}

/** Null: decided, because the files' content is known. */
export function whyUndecided(files: KubeletFiles): string | null {
  const because = files.unread === '' ? '' : ` (${files.unread})`
  if (files.main === null && !isWithoutFile(files))
    return `no main configuration file of the kubelet was read${because}`
  const unparsed = [files.main, ...files.dropIns]
    .filter(file => file !== null)
    .filter(file => !isRead(file))
  if (unparsed.length === 0) return null
  return `the fields of ${shownPaths(unparsed)} could not be read${because}`
}

function endpointDoubts({ tracing }: LoadedConfiguration): Unknown[] {
  const endpoint = tracing?.endpoint ?? null
  if (endpoint === null || isEndpointChecked(endpoint)) return []
  const effect = 'the endpoint is not checked: a kubelet may refuse it and not start'
  return [{ what: 'nextStart.tracing.endpoint', effect }]
}

const dropInVariable = 'KUBELET_CONFIG_DROPIN_DIR_ALPHA'

function doubts(
  { unread, environment, commandLine, dropIns }: KubeletFiles,
  kubeletVersion: string | null,
): Unknown[] {
  const unknowns: Unknown[] = []
  const features = featuresOf(kubeletVersion)
  const contents = environment.map(({ content }) => content)
  if (unread !== '')
    unknowns.push({
      what: 'nextStart.files',
      effect: `not all of the kubelet's files were read (${unread})`,
    })
  if (environment.length > 0 && !addsNothingTo(commandLine, contents)) {
    unknowns.push({
      what: 'nextStart.environment',
      effect: `the flags that ${shownPaths(environment)} would give the kubelet now are not followed`,
    })
  }
  const needsVariable = dropIns.length > 0 && !features.has('dropInsOnByFlag')
  if (needsVariable && environment.length > 0 && !contents.some(namesDropInVariable)) {
    unknowns.push({
      what: 'nextStart.environment',
      effect: `whether ${dropInVariable} is set is not known; without it a kubelet of this version does not start with drop-ins`,
    })
  }
  return unknowns
}

const namesDropInVariable = (content: unknown): boolean =>
  typeof content === 'string'
    ? content.includes(dropInVariable)
    : Object.hasOwn(mapOf(content), dropInVariable)

const shownPaths = (files: KubeletFile[]) => files.map(({ path }) => path.slice(0, 200)).join(', ')

function cgroupVersionOf(host: Host | null): 1 | 2 | null {
  const version = host?.kernel?.cgroupVersion
  return version === 1 || version === 2 ? version : null
}

function start(files: KubeletFiles, kubelet: NextKubelet): NextStart {
  const { kubeletVersion } = kubelet
  const paths = [files.main, ...files.dropIns].flatMap(file => (file === null ? [] : [file.path]))
  const refused = (error: string): NextStart => ({
    prediction: {
      files: paths,
      errors: [error],
      imageGCHighThresholdPercent: null,
      imageGCLowThresholdPercent: null,
      settings: null,
    },
    unknowns: [],
  })
  const flags = flagSettings(files.commandLine)
  if (flags.error !== null) return refused(`failed to parse kubelet flag: ${flags.error}`)
  try {
    const withoutFlags = configurationFromFiles(files, kubelet)
    const configuration = withFlags(withoutFlags, flags, featuresOf(kubeletVersion))
    return {
      prediction: {
        files: paths,
        errors: errorsOf(configuration, kubelet),
        imageGCHighThresholdPercent: configuration.imageGCHighThresholdPercent,
        imageGCLowThresholdPercent: configuration.imageGCLowThresholdPercent,
        settings: startSettings(files, flags, { withoutFlags, configuration, kubelet }),
      },
      unknowns: endpointDoubts(configuration),
    }
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    return refused(error.message)
  }
}

function errorsOf(
  configuration: LoadedConfiguration,
  { kubeletVersion, ...machine }: NextKubelet,
): string[] {
  const validated = validationErrors(configuration, kubeletVersion, machine)
  const startup = startupErrors(configuration, featuresOf(kubeletVersion))
  const late = [
    startup.eviction,
    prefixed('--kube-reserved value failed to parse', startup.kubeReserved),
    prefixed('--system-reserved value failed to parse', startup.systemReserved),
    // Do not repeat an error that validation already reported.
    validated.some(error => error.includes('containerLogMaxFiles'))
      ? null
      : prefixed('failed to initialize container log manager', startup.containerLogs),
  ]
  return [...validated, ...late.filter(error => error !== null)]
}

const prefixed = (prefix: string, error: string | null) =>
  error === null ? null : `${prefix}: ${error}`
