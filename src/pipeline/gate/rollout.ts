/**
 * The kubelet configuration of a node after changed files have reached it. Only the replay of a kubelet's start computes it; here the files and
 * flags that the node would have are put together.
 *
 * Follows       nodeadm (NodeConfig becomes a drop-in), bootstrap.sh on AL2 (extra arguments become flags), Bottlerocket's template, Karpenter
 *               pkg/providers/amifamily/bootstrap (flags on AL2, NodeConfig on AL2023, settings on Bottlerocket)
 */

import { basename, join } from 'node:path/posix'
import { amountOrNull } from '#base/go/quantity.ts'
import {
  isRawObject,
  mapOf,
  mergePatch,
  overlay,
  patchAt,
  type RawObject,
  valueAt,
} from '#base/raw-object.ts'
import { al2BootstrapFields, amiDefaults, bottlerocketSettings } from '#facts/eks/ami-defaults.ts'
import { isTranslatedForBottlerocket, nodeClassKubeletFields } from '#facts/eks/karpenter.ts'
import {
  isReadByImage,
  kubeletFiles as mainFiles,
  nodeadmDropIn,
  nodeadmEnvironment,
  oldNodeadmDropIn,
} from '#facts/eks/kubelet-places.ts'
import {
  configurationDefaults,
  evictionHardDefaults,
  fieldOf,
  meaningOf,
} from '#facts/kubelet/fields.ts'
import { argumentsFor, fieldOfFlag, flagValue } from '#facts/kubelet/flag-settings.ts'
import { isExpression, isSet, writtenSettings } from '#judge/drift/drift.ts'
import type { Host } from '#model/input/inspection.ts'
import type { AmiFamily, NodeIdentity, NodeInput } from '#model/input/record.ts'
import type { Refusal } from '#model/kubelet/refusal.ts'
import type { StartSettings } from '#model/prediction.ts'
import { kubeletConfigurationKind } from '#replay/configuration/configuration-decoder.ts'
import { asRunning, bottlerocketFileOf } from '#replay/configuration/configuration-on-disk.ts'
import { kubeletFiles } from '#replay/configuration/kubelet-files.ts'
import { type NextStart, predictNextStart } from '#replay/configuration/next-start.ts'
import { startOnMachine } from '#replay/kubelet-upgrade.ts'
import { withPodsLimit } from '#replay/predict-allocatable.ts'
import { type ChangedPart, isBeforeBootstrap } from './user-data-parts.ts'

export interface Rollout {
  /** In the order in which they act. */
  parts: readonly ChangedPart[]
  /** Paths that earlier versions of the files set. */
  gone: readonly string[]
  /** EKS or Karpenter appends a call of bootstrap.sh to the user data. */
  isAppended: boolean
  starts: Starts
}

/** Starts of a kubelet by files, flags and version: nodes of a group have the same, if only their configuration was read. */
export type Starts = Map<string, NextStart>
const mostStarts = 100

export interface RolledOut {
  rollout: Rollout
  /** The node after the rollout. Null: its kubelet would not start, or its configuration is not known. */
  input: NodeInput | null
  refusals: Refusal[]
  /** Null: refused, or not known. */
  settings: StartSettings | null
  /** Fields that run, and that the kubelet's file no longer has, since a changed file takes its place as a whole. */
  dropped: { part: ChangedPart; path: string }[]
  /** The files and flags with which the kubelet starts. Equal texts: the same start. Null: not known. */
  files: string | null
}

type NodeImage = Pick<NodeIdentity, 'amiFamily' | 'kubeletVersion' | 'operatingSystem'>

const folder = nodeadmDropIn.slice(0, nodeadmDropIn.lastIndexOf('/'))
const [mainFile = ''] = mainFiles

export const emptyRollout = (): Rollout => ({
  parts: [],
  gone: [],
  isAppended: false,
  starts: new Map(),
})

/** The node without a change, as it was read. */
export function presentRollout(input: NodeInput, image: NodeImage): RolledOut {
  const files = filesNow(input, image)
  return {
    rollout: emptyRollout(),
    input,
    refusals: [],
    settings: null,
    dropped: [],
    files: files && textOf(files),
  }
}

/** The files and flags with which the kubelet would start. */
interface StartFiles {
  main: { path: string; content: RawObject }
  dropIns: Map<string, RawObject>
  commandLine: string[]
}

export function rollOut(input: NodeInput, identity: NodeImage, rollout: Rollout): RolledOut {
  const { parts, gone, isAppended, starts } = rollout
  const { amiFamily, kubeletVersion } = identity
  const known = filesNow(input, identity)
  // The files of a node that was not read are those of its image.
  const files = known ?? filesWith({ ...amiDefaults(amiFamily, kubeletVersion) }, amiFamily)
  for (const path of gone) reset(files, path, identity)
  const { content } = files.main
  const settings: RawObject = {}
  for (const part of parts) {
    if (part.unused !== undefined) continue
    if (amiFamily === 'Bottlerocket') Object.assign(settings, bottlerocketConfig(part))
    else takePart(files, part, { ...identity, isAppended })
  }
  if (Object.keys(settings).length > 0) takeBottlerocket(files, settings, input, identity)
  const started = startNode(input, { ...identity, starts }, files)
  if (!known) {
    const refusals = started.refusals.filter(one => isRefusedAnywhere(one, rollout, identity))
    return { rollout, input: null, refusals, settings: null, dropped: [], files: null }
  }
  const part = parts.findLast(part => part.unused === undefined && isMainFile(part))
  const paths = part ? droppedPaths(content, files, identity) : []
  return { rollout, ...started, dropped: paths.flatMap(path => (part ? [{ part, path }] : [])) }
}

/** Whether the part takes the place of the kubelet's main file. */
function isMainFile(part: ChangedPart) {
  const { by, nodePath = '', isWholeFile } = part
  if (by === 'file') return dropInOf(part) === null
  return isWholeFile === true && mainFiles.includes(nodePath)
}

/** Fields whose loss no rule may see: they make nodes join, and pods find their services. */
const servicePaths = [
  ...['authentication.x509', 'cgroupDriver', 'clusterDNS', 'clusterDomain', 'registerWithTaints'],
  ...['resolvConf', 'serverTLSBootstrap', 'staticPodPath'],
]

/** @param before the main file as it was */
function droppedPaths(
  before: Readonly<RawObject>,
  files: StartFiles,
  { kubeletVersion, operatingSystem }: NodeImage,
) {
  const defaults = writtenSettings({
    ...configurationDefaults,
    evictionHard: evictionHardDefaults(kubeletVersion, operatingSystem),
  })
  const others = [...files.dropIns.values()]
  const flagged = new Set(files.commandLine.flatMap(flag => fieldOfFlag(flag) ?? []))
  const isGiven = (path: string) =>
    flagged.has(fieldOf(path)) ||
    [files.main.content, ...others].some(content => isSet(valueAt(content, path)))
  // A map of thresholds that has others replaces the defaults, which is a lost threshold.
  const isJudged = (path: string) =>
    fieldOf(path) === 'evictionHard' && files.main.content.evictionHard !== undefined
  const isDefault = (path: string, value: unknown) =>
    meaningOf(path, value, kubeletVersion) === meaningOf(path, defaults[path], kubeletVersion)
  const ofServices = servicePaths.map(path => [path, valueAt(before, path)] as const)
  return [
    ...ofServices.filter(([, value]) => isSet(value) && value !== 'cgroupfs'),
    ...Object.entries(writtenSettings(before)).filter(([path, value]) => !isDefault(path, value)),
  ]
    .map(([path]) => path)
    .filter(path => !isGiven(path) && !isJudged(path))
}

/** The node's own files if they were read, else its running configuration as the main file. Null: neither is known. */
function filesNow({ host, configuration }: NodeInput, { amiFamily }: NodeImage): StartFiles | null {
  const { main, dropIns, commandLine } = kubeletFiles(host)
  if (main && isRawObject(main.content) && commandLine.length > 0)
    return {
      main: { path: main.path, content: main.content },
      dropIns: new Map(dropIns.map(({ path, content }) => [path, mapOf(content)])),
      commandLine: [...commandLine],
    }
  const printed = configuration?.printed ?? null
  return printed ? filesWith(printed, amiFamily) : null
}

const filesWith = (content: RawObject, amiFamily: AmiFamily): StartFiles => ({
  main: { path: mainFile, content: { ...content, ...kubeletConfigurationKind } },
  dropIns: new Map(),
  commandLine: [
    'kubelet',
    `--config=${mainFile}`,
    ...(amiFamily === 'AL2' ? [] : [`--config-dir=${folder}`]),
  ],
})

/** Whether the kubelet refuses it whatever it runs with: the parts set every field of the refusal. Bottlerocket's template sets all of them. */
function isRefusedAnywhere({ fields }: Refusal, { parts }: Rollout, { amiFamily }: NodeImage) {
  if (amiFamily === 'Bottlerocket') return true
  const set = new Set<string>(
    parts.flatMap(({ config, flags }) => [
      ...Object.keys(config),
      ...flags.flatMap(flag => fieldOfFlag(flag) ?? []),
    ]),
  )
  return fields.length > 0 && fields.every(field => set.has(field))
}

/** An earlier setting is gone: the image's value stands again, or none. */
function reset(files: StartFiles, path: string, image: NodeImage) {
  const { amiFamily, kubeletVersion } = image
  files.commandLine = files.commandLine.filter(argument => fieldOfFlag(argument) !== path)
  const defaults: RawObject = { ...amiDefaults(amiFamily, kubeletVersion) }
  if (isRawObject(defaults[path])) {
    // A whole map.
    const keys = Object.keys({ ...mapOf(files.main.content[path]), ...defaults[path] })
    for (const key of keys) reset(files, `${path}.${key}`, image)
    return
  }
  const preset = new Map(Object.entries(writtenSettings(defaults)))
  files.main.content = mergePatch(files.main.content, patchAt(path, preset.get(path) ?? null))
  for (const [file, content] of files.dropIns)
    files.dropIns.set(file, mergePatch(content, patchAt(path, null)))
}

function takePart(
  files: StartFiles,
  part: ChangedPart,
  image: NodeImage & Pick<Rollout, 'isAppended'>,
) {
  const { config, by, nodePath } = part
  if (nodePath !== undefined && !isReadByImage(nodePath, image.amiFamily)) return
  const dropIn = dropInOf(part)
  if (dropIn !== null) {
    const dir = flagValue(files.commandLine, 'config-dir') ?? folder
    files.dropIns.set(join(dir, dropIn), knownConfig(config))
  } else if (by === 'file') writeMain(files, part)
  else if (image.amiFamily === 'AL2') {
    const isBefore = isBeforeBootstrap(part, image.isAppended)
    if (isBefore || part.afterBootstrap !== 'running') takeOnAl2(files, part, isBefore)
  } else takeByNodeadm(files, part)
}

/** The name of a drop-in: files of a folder `*.d`, and all that are called `*.conf`. Null: the part is none. */
export function dropInOf({ file, by, nodePath }: ChangedPart) {
  const path = by === 'file' ? file : nodePath
  const isDropIn =
    path !== undefined &&
    (by === 'file' ? /\.d\/[^/]+$|\.conf$/.test(path) : path.startsWith(`${folder}/`))
  return isDropIn ? basename(path) : null
}

function takeOnAl2(files: StartFiles, part: ChangedPart, isBefore: boolean) {
  const { by, config, flags } = part
  if (by === 'karpenter') files.commandLine.push(...flagsOf(knownConfig(config)))
  if (by === 'bootstrap' || by === 'script') files.commandLine.push(...flags)
  // eksctl merges its own after bootstrap.sh: eksctl pkg/nodebootstrap assets/scripts/bootstrap.al2.sh
  if (by === 'eksctl') writeMain(files, part)
  if (by === 'script') writeMain(files, part, isBefore ? al2BootstrapFields : undefined)
}

/** @param written fields that bootstrap.sh writes after the part */
function writeMain(files: StartFiles, part: ChangedPart, written?: ReadonlySet<string>) {
  const { content } = files.main
  const fieldsOf = (config: Readonly<RawObject>, isWritten: boolean) =>
    Object.fromEntries(
      Object.entries(config).filter(([field]) => (written?.has(field) ?? false) === isWritten),
    )
  files.main.content = isMainFile(part)
    ? { ...wholeFileContent(content, part.config), ...fieldsOf(content, true) }
    : mergePatch(content, fieldsOf(knownConfig(part.config), false))
}

/** A whole file. A value that is not known stays as it runs. */
function wholeFileContent(before: Readonly<RawObject>, config: Readonly<RawObject>) {
  const known = knownConfig(config)
  return unclearPaths(config).reduce<RawObject>((content, path) => {
    const value = valueAt(before, path)
    return value === undefined ? content : mergePatch(content, patchAt(path, value))
  }, known)
}

function takeByNodeadm(files: StartFiles, part: ChangedPart) {
  const { by, config, flags } = part
  if (by === 'bootstrap' || by === 'bottlerocket') return
  if (by === 'script') {
    writeMain(files, part)
    if (part.nodePath === nodeadmEnvironment) files.commandLine.push(...flags)
    return
  }
  files.commandLine.push(...flags)
  // nodeadm gives the kubelet its folder of drop-ins only if it writes one: amazon-eks-ami nodeadm internal/kubelet/config.go
  const hasFolder = flagValue(files.commandLine, 'config-dir') !== null
  if (!hasFolder && Object.keys(config).length > 0) files.commandLine.push(`--config-dir=${folder}`)
  const dropIn = [nodeadmDropIn, oldNodeadmDropIn].find(path => files.dropIns.has(path))
  const before = files.dropIns.get(dropIn ?? '') ?? { ...kubeletConfigurationKind }
  // A null in a NodeConfig reaches the kubelet.
  const merge = by === 'nodeadm' ? overlay : mergePatch
  files.dropIns.set(dropIn ?? nodeadmDropIn, merge(before, knownConfig(config)))
}

/** Without values that are expressions or that were cut as possible secrets. */
const knownConfig = (config: Readonly<RawObject>) =>
  unclearPaths(config).reduce<RawObject>((rest, path) => mergePatch(rest, patchAt(path, null)), {
    ...config,
  })

export const unclearPaths = (config: Readonly<RawObject>) =>
  Object.entries(writtenSettings(config))
    .filter(([, value]) => typeof value === 'string' && isExpression(value))
    .map(([path]) => path)

/** As Karpenter writes them. Source: karpenter-provider-aws pkg/providers/amifamily/bootstrap/bootstrap.go kubeletExtraArgs */
const flagsOf = (config: Readonly<RawObject>) =>
  Object.entries(config).flatMap(([field, value]) =>
    Object.hasOwn(nodeClassKubeletFields, field) ? argumentsFor(field, value) : [],
  )

function bottlerocketConfig({ config, by }: ChangedPart): RawObject {
  if (by !== 'bottlerocket' && by !== 'karpenter') return {}
  const translated = Object.entries(knownConfig(config)).filter(
    ([field]) => by === 'bottlerocket' || isTranslatedForBottlerocket(field),
  )
  return Object.fromEntries(translated)
}

/** The template makes the whole file from the settings. Fields that no setting sets stay as they run. */
function takeBottlerocket(
  files: StartFiles,
  config: Readonly<RawObject>,
  { node, configuration }: NodeInput,
  { kubeletVersion }: NodeImage,
) {
  const settings = Object.entries(bottlerocketSettings).flatMap(([setting, [field]]) =>
    config[field] === undefined ? [] : [[setting, config[field]] as const],
  )
  const maxPods = configuration?.fields.maxPods
  const set = {
    ...(maxPods !== undefined && { 'max-pods': maxPods }),
    ...Object.fromEntries(settings),
  }
  const fields = new Set(Object.values(bottlerocketSettings).map(([field]) => field))
  const others = Object.entries(files.main.content).filter(([field]) => !fields.has(field))
  files.main.content = {
    ...Object.fromEntries(others),
    ...bottlerocketFileOf(set, kubeletVersion, amountOrNull(node.status?.capacity?.cpu) ?? 1),
  }
}

function startNode(
  input: NodeInput,
  { starts, kubeletVersion, operatingSystem }: NodeImage & Pick<Rollout, 'starts'>,
  { main, dropIns, commandLine }: StartFiles,
): Omit<RolledOut, 'dropped' | 'rollout'> {
  const text = textOf({ main, dropIns, commandLine })
  const host: Host = {
    ...input.host,
    kubelet: {
      ...input.host?.kubelet,
      commandLine,
      files: [
        { ...main, role: 'config' },
        ...[...dropIns].map(([path, content]) => ({ path, content, role: 'drop-in' })),
      ],
    },
  }
  const key = `${kubeletVersion} ${operatingSystem} ${text}`
  const known = input.host ? undefined : starts.get(key)
  const next = known ?? predictNextStart(host, kubeletVersion, operatingSystem)
  if (!input.host && starts.size < mostStarts) starts.set(key, next)
  const { prediction, refusals } = startOnMachine(next, input.node, kubeletVersion)
  const settings = prediction?.settings ?? null
  const fields = settings?.configuration ?? null
  if (refusals.length > 0 || !fields) return { input: null, refusals, settings: null, files: text }
  const started = {
    ...input,
    configuration: asRunning(fields),
    ...(input.host !== null && { host }),
  }
  const limited = withPodsLimit(started, input.configuration?.fields ?? null)
  return { input: limited, refusals, settings, files: text }
}

/** YAML has numbers that JSON lacks. */
const textOf = ({ main, dropIns, commandLine }: StartFiles) =>
  JSON.stringify([main, ...dropIns, commandLine], (_, value) =>
    typeof value === 'number' && !Number.isFinite(value) ? `\0${value}` : value,
  )
