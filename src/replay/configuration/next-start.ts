/**
 * What the kubelet would do with the files on the node's disk at its next start. The running kubelet never reads them again.
 *
 * Replays       cmd/kubelet/app/server.go  NewKubeletCommand
 * Read at       1.29 to 1.37
 * Kept exactly  main file, then drop-ins by path, then flags; evictionHard gets defaults with the main file, so a drop-in keeps the other
 *               defaults; without a main file there are no hard thresholds
 * Left out      flags other than those of facts/kubelet/fields.ts; the prefix of an error that names the step
 */

import { isRawObject, mapOf, type RawObject, textOfValue } from '#base/raw-object.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { fieldsOf, isKnownField } from '#facts/kubelet/fields.ts'
import { type FlagSettings, flagSettings } from '#facts/kubelet/flag-settings.ts'
import type { Host } from '#model/input/inspection.ts'
import { messagesOf, type Refusal, refusal, withPrefix } from '#model/kubelet/refusal.ts'
import type { NextStartPrediction, Unknown } from '#model/prediction.ts'
import { validationErrors } from './config-validation.ts'
import { LoadError, type LoadedConfiguration, type OperatingSystem } from './configuration-file.ts'
import {
  isParsedFile,
  isWithoutFile,
  type KubeletFile,
  type KubeletFiles,
  kubeletFiles,
} from './kubelet-files.ts'
import { configurationFromFiles, startSettings } from './start-settings.ts'
import { isEndpointChecked } from './validation/components.ts'
import { areTooFewLogFiles, startupErrors } from './validation/fields.ts'

export interface NextStart {
  /** Null: undecided; `unknowns` has the reasons. With a prediction they name what could still prevent the start. */
  prediction: NextStartPrediction | null
  /** The errors of the prediction. */
  refusals: Refusal[]
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
    return { prediction: null, refusals: [], unknowns: [{ what: 'nextStart.files', effect }] }
  }
  const { unknowns, ...next } = start(files, {
    kubeletVersion,
    operatingSystem,
    cgroupVersion: cgroupVersionOf(host),
  })
  return { ...next, unknowns: [...startUnknowns(files, kubeletVersion), ...unknowns] }
}

/** Null: decided, because the files' content is known. */
export function whyUndecided(files: KubeletFiles): string | null {
  const because = files.unread === '' ? '' : ` (${files.unread})`
  if (!files.main && !isWithoutFile(files))
    return `no main configuration file of the kubelet was read${because}`
  const unparsed = [files.main, ...files.dropIns]
    .filter(file => file !== null)
    .filter(file => !isParsedFile(file))
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

function startUnknowns(
  { unread, environment, commandLine, dropIns }: KubeletFiles,
  kubeletVersion: string | null,
) {
  const unknowns: Unknown[] = []
  const features = featuresOf(kubeletVersion)
  const contents = environment.map(({ content }) => content)
  if (unread !== '')
    unknowns.push({
      what: 'nextStart.files',
      effect: `not all of the kubelet's files were read (${unread})`,
    })
  if (environment.length > 0 && !givesSameFlags(commandLine, contents)) {
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

const namesDropInVariable = (content: unknown) =>
  typeof content === 'string'
    ? content.includes(dropInVariable)
    : Object.hasOwn(mapOf(content), dropInVariable)

const shownPaths = (files: KubeletFile[]) => files.map(({ path }) => path.slice(0, 200)).join(', ')

function cgroupVersionOf(host: Host | null) {
  const version = host?.kernel?.cgroupVersion
  return version === 1 || version === 2 ? version : null
}

function start(files: KubeletFiles, kubelet: NextKubelet): NextStart {
  const { kubeletVersion } = kubelet
  const paths = [files.main, ...files.dropIns].flatMap(file => (file ? [file.path] : []))
  const refusedStart = (error: Refusal): NextStart => ({
    prediction: {
      files: paths,
      errors: [error.message],
      imageGCHighThresholdPercent: null,
      imageGCLowThresholdPercent: null,
      settings: null,
    },
    refusals: [error],
    unknowns: [],
  })
  const flags = flagSettings(files.commandLine)
  if (flags.error !== null)
    return refusedStart(refusal([], `failed to parse kubelet flag: ${flags.error}`))
  try {
    const withoutFlags = configurationFromFiles(files, kubelet)
    const configuration = withFlags(withoutFlags, flags, featuresOf(kubeletVersion))
    const refusals = refusalsAtStart(configuration, kubelet)
    return {
      prediction: {
        files: paths,
        errors: messagesOf(refusals),
        imageGCHighThresholdPercent: configuration.imageGCHighThresholdPercent,
        imageGCLowThresholdPercent: configuration.imageGCLowThresholdPercent,
        settings: startSettings(files, flags, { withoutFlags, configuration, kubelet }),
      },
      refusals,
      unknowns: endpointDoubts(configuration),
    }
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    return refusedStart(error.refusal)
  }
}

function refusalsAtStart(
  configuration: LoadedConfiguration,
  { kubeletVersion, ...machine }: NextKubelet,
) {
  const validated = validationErrors(configuration, kubeletVersion, machine)
  const features = featuresOf(kubeletVersion)
  const startup = startupErrors(configuration, features)
  const late = [
    startup.eviction,
    prefixed('--kube-reserved value failed to parse', startup.kubeReserved),
    prefixed('--system-reserved value failed to parse', startup.systemReserved),
    // Do not repeat an error that validation already reported.
    areTooFewLogFiles(configuration, features)
      ? null
      : prefixed('failed to initialize container log manager', startup.containerLogs),
  ]
  return [...validated, ...late.filter(error => error !== null)]
}

const prefixed = (prefix: string, error: Refusal | null) => error && withPrefix(prefix, error)

/*
 * Command-line flags that override fields of the configuration file.
 *
 * Replays       cmd/kubelet/app/server.go kubeletConfigFlagPrecedence
 * Read at       1.29 to 1.37
 * Kept exactly  a flag for a map or a list replaces the file's whole value; feature gates are merged with the file's
 */

/** A flag has no effect if this minor does not have its field. */
export function withFlags(
  configuration: LoadedConfiguration,
  { fields }: FlagSettings,
  features: KubeletFeatures,
): LoadedConfiguration {
  const flagged = { ...configuration }
  for (const [field, value] of fields) {
    const path = field.split('.')
    const facts = fieldsOf('KubeletConfiguration')[path[0] ?? '']
    if (!facts || !isKnownField(facts, features)) continue
    set(
      flagged,
      path,
      field === 'featureGates'
        ? { ...configuration.featureGates, ...(value as Record<string, boolean>) }
        : value,
    )
  }
  return flagged
}

function set(target: RawObject, [name = '', ...deeper]: string[], value: unknown) {
  if (deeper.length === 0) {
    const before = target[name]
    // A flush frequency sets only the duration, not its notation.
    target[name] =
      isRawObject(before) && typeof value === 'bigint' ? { ...before, nanoseconds: value } : value
    return
  }
  const copy = { ...mapOf(target[name]) }
  target[name] = copy
  set(copy, deeper, value)
}

/** Fields whose flags are in ExecStart of the AMI's own unit. Source: awslabs/amazon-eks-ami templates/al2/runtime/kubelet-containerd.service. */
const unitFields: ReadonlySet<string> = new Set(['containerRuntimeEndpoint'])

/**
 * Whether the next start takes from `contents` (text, or values by name) exactly the flags of the
 * running command line. If the unit's own command is unknown, its flags may appear on the command
 * line alone. Any other flag that no file contains any more would be lost.
 */
function givesSameFlags(commandLine: readonly string[], contents: readonly unknown[]) {
  if (commandLine.length === 0) return false
  if (contents.some(content => typeof content !== 'string' && !isRawObject(content))) return false
  const command = unitCommand(contents)
  if (command === null) return false
  if (command) return JSON.stringify(command.slice(1)) === JSON.stringify(commandLine.slice(1))
  const words: string[] = []
  for (const content of contents) {
    const found = wordsOf(content)
    if (!found) return false
    words.push(...found)
  }
  const ofRunning = new Set(commandLine)
  const isRunning = words.every(word => ofRunning.has(word))
  const given = flagSettings(words)
  const running = flagSettings(commandLine)
  const fields = [...running.fields].filter(
    ([field]) => !unitFields.has(field) || given.fields.has(field),
  )
  return (
    isRunning &&
    settingsText(given) === settingsText({ fields: new Map(fields), error: running.error })
  )
}

const settingsText = ({ fields, error }: FlagSettings) =>
  JSON.stringify([[...fields].sort(), error], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** The words of every value that contains flags. Null: a value is not plain, or the content is not an environment file. */
function wordsOf(content: unknown) {
  const parsed = isRawObject(content) ? Object.values(content) : null
  const values = typeof content === 'string' ? valuesOf(content) : parsed
  if (!values) return null
  const words: string[] = []
  for (const value of values) {
    if (typeof value !== 'string') return null
    const found = unquote(value.trim())
    if (!found.includes('--')) continue
    if (/["'\\$`]/.test(found)) return null
    words.push(...found.split(/\s+/).filter(word => word !== ''))
  }
  return words
}

/** Null: a line is not an assignment. */
function valuesOf(text: string) {
  const lines = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^[#;]/.test(line) && !isCommand(line))
  const values = lines.map(line => /^[A-Za-z_]\w*=(.*)$/.exec(line)?.[1])
  return values.every(value => value !== undefined) ? values : null
}

const unquote = (value: string) => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value

/*
 * The command line that the kubelet's unit would use at its next start: `ExecStart` of the unit and its drop-ins, with the variables that
 * they and the environment files set. Only plain forms are followed.
 *
 * Follows       systemd.service(5) ExecStart, Command lines;  systemd.exec(5) Environment, EnvironmentFile
 * Kept exactly  an empty ExecStart removes earlier ones; `$NAME` is split into words, and is empty if not set
 */

const assignment = /^([A-Za-z_]\w*)=(.*)$/
/** Whether the node reports the variable. It reports no others. */
const isReported = (name: string) => name.includes('KUBELET')

/** @param contents of the unit, its drop-ins and the environment files, in this order. Undefined: no content starts a kubelet. Null: not a plain form. */
function unitCommand(contents: readonly unknown[]) {
  const pairs = contents.flatMap(pairsOf)
  const started = pairs.filter(([name]) => name === 'ExecStart').map(([, value]) => value)
  const commands = started.slice(started.lastIndexOf('') + 1)
  const [command] = commands
  if (command === undefined) return undefined
  if (commands.length > 1) return null
  const [program = '', ...words] = command.replace(/^[@:+!-]+/, '').split(/\s+/)
  if (!program.endsWith('/kubelet')) return program.includes('kubelet') ? null : undefined
  const variables = new Map<string, Set<string>>()
  for (const [name, value] of pairs)
    variables.set(name, (variables.get(name) ?? new Set()).add(unquote(value)))
  const found = words.map(word => expandWord(word, variables))
  return found.includes(null) ? null : [program, ...found.flatMap(some => some ?? [])]
}

const isCommand = (line: string) => line.startsWith('ExecStart=')

function pairsOf(content: unknown): [name: string, value: string][] {
  if (typeof content !== 'string')
    return Object.entries(mapOf(content)).map(([name, value]) => [name, textOfValue(value)])
  return content.split('\n').flatMap((line): [string, string][] => {
    const [, name, value = ''] = assignment.exec(line.trim()) ?? []
    return name === undefined ? [] : [[name, value.trim()]]
  })
}

function expandWord(word: string, variables: ReadonlyMap<string, ReadonlySet<string>>) {
  const [, name] = /^\$(?:\{(\w+)\}|(\w+))$/.exec(word)?.filter(part => part !== undefined) ?? []
  if (name === undefined) return isPlain(word) ? [word] : null
  const values = variables.get(name) ?? new Set()
  const [value = ''] = values
  // If several values are set, the order of the files alone does not decide which one applies.
  if (values.size > 1 || (values.size === 0 && !isReported(name)) || !isPlain(value)) return null
  const words = value.split(/\s+/).filter(part => part !== '')
  return word.startsWith('${') && words.length !== 1 ? null : words
}

/** A percent sign begins a specifier. */
const isPlain = (text: string) => !/["'\\$`%]/.test(text)
