/**
 * What the kubelet would say to the files on the node's disk at its next start. The running kubelet never reads them again.
 *
 * Replays       cmd/kubelet/app/server.go  NewKubeletCommand, loadConfigFile, mergeKubeletConfigurations
 * Read at       1.24 to 1.37; drop-ins from 1.29 on
 * Kept exactly  main file, then drop-ins by path, then flags; evictionHard is defaulted with the main file, so a drop-in keeps the other
 *               defaults; a drop-in's maps are merged key by key and its lists replaced; from 1.32 on its null removes
 * Left out      drop-ins of 1.28, each of which brought all its defaults; flags other than those of kubelet-flags.ts;
 *               feature gates that feature-gates.ts does not know: whether this version refuses them is not decided
 *
 * The main file may lack kind and apiVersion, which upstream asks for: whoever tells of a node by hand may tell only its fields.
 */
import { isGateKnown } from '#facts/kubelet/feature-gates.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import type { NextStartPrediction, Unknown } from '#model/prediction.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { startupErrors } from '#replay/validation/startup.ts'
import { validationErrors } from './config-validation.ts'
import { LoadError, type LoadedConfiguration, LoadPanic, loadConfiguration } from './configuration-file.ts'
import { addsNothingTo } from './environment-file.ts'
import { withFlags } from './kubelet-flags.ts'
import { listAt, objectAt, textAt } from './untrusted.ts'

interface KubeletFile {
  path: string
  role: string
  content: unknown
}

interface ConfigurationFile extends KubeletFile {
  content: RawObject
}

export interface NextStart {
  /** Null: not decided, and `unknowns` says why. Beside a prediction they tell what could still keep the kubelet from starting. */
  prediction: NextStartPrediction | null
  /** Each `what` begins with `nextStart.`. */
  unknowns: Unknown[]
}

/** @param host what the node itself told; null: it was not asked. */
export function predictNextStart(host: RawObject | null, kubeletVersion: string | null, operatingSystem: 'linux' | 'windows'): NextStart {
  const features = featuresOf(kubeletVersion)
  const kubelet = objectAt(host, 'kubelet')
  const files = listAt(kubelet, 'files').filter(isKubeletFile)
  const main = files.find(({ role }) => role === 'config')
  const dropIns = files.filter(isDropIn).sort(byPath)
  const unread = unreadFiles(host)
  const reason = undecidable(main, dropIns, unread, features)
  const [first, ...others] = (main ? [main, ...dropIns] : []).filter(isRead)
  if (reason !== null || first === undefined) {
    const effect = `${reason}: whether the kubelet would start again with the files on its disk is not known`
    return { prediction: null, unknowns: [{ what: 'nextStart.files', effect }] }
  }

  const unknowns: Unknown[] = []
  if (unread !== '') unknowns.push({ what: 'nextStart.files', effect: `not all of the kubelet's files were read (${unread})` })
  const commandLine = listAt(kubelet, 'commandLine').filter(argument => typeof argument === 'string')
  const environment = files.filter(({ role }) => role === 'environment')
  const environmentContents = environment.map(({ content }) => content)
  if (environment.length > 0 && !addsNothingTo(commandLine, environmentContents)) {
    unknowns.push({
      what: 'nextStart.environment',
      effect: `the flags that ${shownPaths(environment)} would give the kubelet now are not followed`,
    })
  }
  const reader: Reader = { kubeletVersion, operatingSystem, unknownGates: new Set() }
  const prediction = start(first, others, commandLine, cgroupVersionOf(host), reader)
  for (const gate of [...reader.unknownGates].sort()) {
    unknowns.push({
      what: 'nextStart.featureGates',
      effect: `whether this kubelet version knows the feature gate ${gate.slice(0, 64)} is not known; one that it does not know keeps it from starting`,
    })
  }
  return { prediction, unknowns }
}

/** Why nothing can be predicted; null: it can. */
function undecidable(main: KubeletFile | undefined, dropIns: KubeletFile[], unread: string, features: KubeletFeatures): string | null {
  const because = unread === '' ? '' : ` (${unread})`
  if (!main) return `the node told no main configuration file of the kubelet${because}`
  const unparsed = [main, ...dropIns].filter(file => !isRead(file))
  if (unparsed.length > 0)
    return `${shownPaths(unparsed)} ${unparsed.length === 1 ? 'was' : 'were'} told without fields that can be read${because}`
  return dropIns.length > 0 && !features.has('dropInMergePatch')
    ? 'a kubelet before 1.29 merges drop-ins in a way that is not followed'
    : null
}

/** The kubelet's files among what the node itself could not read, with the reasons. */
const unreadFiles = (host: RawObject | null): string =>
  listAt(host, 'unread')
    .map(entry => ({ what: textAt(entry, 'what') ?? '', why: textAt(entry, 'why') ?? 'no reason given' }))
    .filter(({ what }) => /kubelet|drop-in|^config|environment/i.test(what))
    .map(({ what, why }) => `${what}: ${why}`)
    .join('; ')
    .slice(0, 400)

const shownPaths = (files: KubeletFile[]) => files.map(({ path }) => path.slice(0, 200)).join(', ')

const isKubeletFile = (file: unknown): file is KubeletFile =>
  isRawObject(file) && typeof file.path === 'string' && typeof file.role === 'string'

const isRead = (file: KubeletFile): file is ConfigurationFile => isRawObject(file.content)

/** Upstream reads these only, in the order in which it walks the folder. */
const isDropIn = ({ role, path }: KubeletFile) => role === 'drop-in' && path.endsWith('.conf')

function byPath(a: KubeletFile, b: KubeletFile): number {
  const others = b.path.split('/')
  for (const [index, part] of a.path.split('/').entries()) {
    const other = others[index]
    if (other === undefined) return 1
    if (part !== other) return part < other ? -1 : 1
  }
  return 0
}

function cgroupVersionOf(host: RawObject | null): 1 | 2 | null {
  const version = objectAt(host, 'kernel')?.cgroupVersion
  return version === 1 || version === 2 ? version : null
}

interface Reader {
  kubeletVersion: string | null
  operatingSystem: 'linux' | 'windows'
  /** Gates that were set aside, by name. */
  unknownGates: Set<string>
}

function start(
  main: ConfigurationFile,
  dropIns: ConfigurationFile[],
  commandLine: string[],
  cgroupVersion: 1 | 2 | null,
  reader: Reader,
): NextStartPrediction {
  const features = featuresOf(reader.kubeletVersion)
  const files = [main, ...dropIns].map(({ path }) => path)
  const refused = (errors: string[]): NextStartPrediction => ({
    files,
    errors,
    imageGCHighThresholdPercent: null,
    imageGCLowThresholdPercent: null,
  })

  const mainContent = withKnownGates(main.content, reader)
  const loadedMain = load(mainContent, reader, {})
  if (typeof loadedMain === 'string') return refused([loadedMain.replace('<file>', main.path)])

  let merged: RawObject = { ...mainContent, evictionHard: loadedMain.evictionHard }
  const undefaulted = new Set<string>()
  for (const { path, content } of dropIns) {
    const kindError = features.has('dropInsDefaultedAgain') ? kindErrorOf(content) : null
    if (kindError !== null) return refused([`failed to load kubelet dropin file, path: ${path}, ${kindError}`])
    merged = mergePatch(merged, withKnownGates(content, reader), features.has('dropInsDefaultedAgain'))
    if (!features.has('dropInsDefaultedAgain')) for (const field of Object.keys(content)) undefaulted.add(field)
  }

  const { raw, errors: flagErrors } = withFlags(merged, commandLine)
  const loaded = load(withKnownGates(raw, reader), reader, { undefaulted, defaultsEvictionHard: false })
  if (typeof loaded === 'string') return refused([...flagErrors, loaded.replace('<file>', files.join(', '))])
  const validated = validationErrors(loaded, features, cgroupVersion)
  const startup = startupErrors(loaded, features)
  const late = [
    startup.eviction,
    prefixed('--kube-reserved value failed to parse', startup.kubeReserved),
    prefixed('--system-reserved value failed to parse', startup.systemReserved),
    // What validation has already named is not said twice.
    validated.some(error => error.includes('containerLogMaxFiles'))
      ? null
      : prefixed('failed to initialize container log manager', startup.containerLogs),
  ]
  return {
    files,
    errors: [...flagErrors, ...validated, ...late.filter(error => error !== null)],
    imageGCHighThresholdPercent: loaded.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: loaded.imageGCLowThresholdPercent,
  }
}

const prefixed = (prefix: string, error: string | null) => (error === null ? null : `${prefix}: ${error}`)

/** The configuration, or upstream's text with `<file>` for the path. */
function load(
  raw: RawObject,
  reader: Reader,
  options: { undefaulted?: Set<string>; defaultsEvictionHard?: boolean },
): LoadedConfiguration | string {
  try {
    return loadConfiguration(raw, reader.kubeletVersion, { operatingSystem: reader.operatingSystem, ...options })
  } catch (error) {
    if (error instanceof LoadPanic) return error.message
    if (error instanceof LoadError) return `failed to load Kubelet config file <file>, error failed to decode: ${error.message}`
    throw error
  }
}

/** A gate of which feature-gates.ts knows nothing must not be called unknown to the kubelet: it is set aside. */
function withKnownGates(raw: RawObject, { kubeletVersion, unknownGates }: Reader): RawObject {
  const gates = objectAt(raw, 'featureGates')
  if (!gates) return raw
  const entries = Object.entries(gates)
  const isKnown = (name: string) => isGateKnown(name, featuresOf(kubeletVersion))
  for (const [name] of entries) if (!isKnown(name)) unknownGates.add(name)
  return { ...raw, featureGates: Object.fromEntries(entries.filter(([name]) => isKnown(name))) }
}

/** Upstream asks for both, to the letter, from 1.32 on. */
function kindErrorOf({ apiVersion, kind }: RawObject): string | null {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return 'no apiVersion/kind'
  const isRight = apiVersion === 'kubelet.config.k8s.io/v1beta1' && kind === 'KubeletConfiguration'
  return isRight ? null : `unknown apiVersion/kind: ${apiVersion}, Kind=${kind}`
}

/** No field of the configuration lies deeper; below it a patch takes the place of what was there. */
const deepestField = 8

/** RFC 7386; where nulls do not remove they say nothing. */
function mergePatch(target: RawObject, patch: RawObject, nullRemoves: boolean, depth = 1): RawObject {
  const merged = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      if (nullRemoves) merged.delete(key)
      continue
    }
    const before = merged.get(key)
    const isMerged = isRawObject(value) && depth < deepestField
    merged.set(key, isMerged ? mergePatch(isRawObject(before) ? before : {}, value, nullRemoves, depth + 1) : value)
  }
  return Object.fromEntries(merged)
}
