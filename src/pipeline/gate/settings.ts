/** The settings of a changed part: whether each reaches a node's kubelet, and a part without one of them. */

import { basename } from 'node:path/posix'
import { durationMs } from '#base/go/duration.ts'
import {
  isRawObject,
  leavesOf,
  mapOf,
  mergePatches,
  patchAt,
  type RawObject,
  textOfValue,
} from '#base/raw-object.ts'
import { al2BootstrapFields } from '#facts/eks/ami-defaults.ts'
import { isReadByImage, nodeadmEnvironment } from '#facts/eks/kubelet-places.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import {
  configurationDefaults,
  dropInForm,
  fieldOf,
  isComparedField,
  meaningOf,
  meaningOfKey,
} from '#facts/kubelet/fields.ts'
import { fieldOfFlag, flagName, flagSettings } from '#facts/kubelet/flag-settings.ts'
import { isKnownFlag } from '#facts/kubelet/minor-changes.ts'
import {
  type DeclaredNode,
  type DeclaredSetting,
  declarationOfSource,
  ignoredWords,
  imageName,
  writtenSettings,
} from '#judge/drift/drift.ts'
import { unreadWords } from '#judge/drift/layers.ts'
import type { KubeletSource } from '#model/input/record.ts'
import type { StartSettings } from '#model/prediction.ts'
import { dropInOf, type Rollout, unclearPaths } from './rollout.ts'
import { type ChangedPart, isBeforeBootstrap } from './user-data-parts.ts'

export interface PlacedSetting {
  part: ChangedPart
  path: string
}

/** Every field, and every key of a map, that the parts set. */
export const placedSettings = (parts: readonly ChangedPart[]): PlacedSetting[] =>
  parts.flatMap(part => settingPaths(part).map(path => ({ part, path })))

export const settingPaths = ({ config = {}, flags = [] }: Omit<KubeletSource, 'source'>) => [
  ...pathsOf(config),
  ...flags.flatMap(flag => fieldOfFlag(flag) ?? []),
]

const pathsOf = (config: Readonly<RawObject>) =>
  Object.entries(config).flatMap(([field, value]) => {
    if (field === 'kind' || field === 'apiVersion') return []
    const keys = isRawObject(value) ? Object.keys(value) : []
    return keys.length === 0 ? [field] : keys.map(key => `${field}.${key}`)
  })

/** Paths that an object of Karpenter sets to nothing. */
export const removedPaths = (parts: readonly ChangedPart[]) =>
  parts
    .filter(({ by }) => by === 'karpenter')
    .flatMap(({ config }) =>
      leavesOf(config).flatMap(([path, value]) => (value === null ? [path] : [])),
    )

export function withoutSettings(part: ChangedPart, paths: readonly string[]): ChangedPart {
  const gone = new Set<string | null | undefined>([...paths, ...paths.map(fieldOf)])
  return {
    ...part,
    config: mergePatches(
      part.config,
      paths.map(path => patchAt(path, null)),
    ),
    flags: part.flags.filter(
      flag => !gone.has(fieldOfFlag(flag)) && !gone.has(nameWithHyphens(flag)),
    ),
  }
}

const nameWithHyphens = (flag: string) => flag.split('=', 1)[0]

/** Flags that set no field: `--v`. */
export const otherFlags = (parts: readonly ChangedPart[]): PlacedSetting[] =>
  parts.flatMap(part =>
    part.flags
      .filter(flag => flagName(flag) !== null && fieldOfFlag(flag) === null)
      .map(flag => ({ part, path: nameWithHyphens(flag) ?? flag })),
  )

/** Flags that reach the kubelet, which does not know them and ends. */
export const unknownFlags = (
  parts: readonly ChangedPart[],
  { amiFamily, kubeletVersion }: DeclaredNode,
) =>
  parts.flatMap(({ by, flags, unused, nodePath }) => {
    const isOfNodeadm = nodePath === nodeadmEnvironment
    const isScript = by === 'bootstrap' || (by === 'script' && !isOfNodeadm)
    const isRead = amiFamily !== 'Bottlerocket' && isScript === (amiFamily === 'AL2')
    if (!isRead || unused !== undefined) return []
    return flags
      .flatMap(flag => flagName(flag) ?? [])
      .filter(name => !isKnownFlag(name, kubeletVersion))
  })

export interface LostSetting extends PlacedSetting {
  why: string
  /** Whether it is lost on each node of this image. */
  isLostOnEachNode: boolean
}

/**
 * Settings that do not reach the kubelet, with the reason.
 * @param settings what the kubelet would start with; null: not known
 */
export function lostSettings(
  parts: readonly ChangedPart[],
  node: DeclaredNode & Pick<Rollout, 'isAppended'>,
  settings: StartSettings | null,
) {
  const running =
    settings && writtenSettings({ ...configurationDefaults, ...settings.configuration })
  const lost: LostSetting[] = []
  const placed = parts.map(part => placedSettings([part]))
  for (const [index, part] of parts.entries()) {
    const later = placed.slice(index + 1).flat()
    const unread = settings?.unread.find(({ path }) => basename(path) === dropInOf(part))
    const unknown = part.unused === undefined ? unknownKeys(part, node) : []
    lost.push(...unknown, ...emptyMaps(part, node, settings))
    for (const setting of declaredIn(part, node)) {
      const { path, isMisnamed } = setting
      if (isMisnamed && unknown.length > 0) continue
      const winner = later.find(one => one.path === path)
      const own =
        part.unused ?? whyFileUnread(node, part) ?? setting.lostBy ?? rewrittenBy(part, path, node)
      const why =
        own ??
        (unread ? unreadWords(unread) : null) ??
        overriddenBy(setting, { settings, running, winner, node }) ??
        unusedByEviction(setting, running)
      const isLostOnEachNode = (own !== null && !isMisnamed) || winner !== undefined
      if (why !== null) lost.push({ part, path, why, isLostOnEachNode })
    }
  }
  return lost
}

/** Whether the kubelet merges the settings over its main file. */
function isInDropIn(part: ChangedPart, { amiFamily }: DeclaredNode) {
  const isByNodeadm = part.by !== 'file' && part.by !== 'script' && amiFamily !== 'AL2'
  return isByNodeadm || dropInOf(part) !== null
}

/** Empty maps, which a merge leaves as they are. Karpenter writes none. */
function emptyMaps(
  part: ChangedPart,
  node: DeclaredNode,
  settings: StartSettings | null,
): LostSetting[] {
  const { by, config, unused } = part
  const isMerged = isInDropIn(part, node) && node.amiFamily !== 'Bottlerocket'
  if (!isMerged || by === 'karpenter' || unused !== undefined) return []
  const running: RawObject = { ...settings?.configuration }
  const isEmpty = (value: unknown) => Object.keys(mapOf(value)).length === 0
  const why = 'an empty map removes nothing: the kubelet merges a drop-in over the values before it'
  return Object.entries(config)
    .filter(([path, value]) => isRawObject(value) && isEmpty(value) && !isEmpty(running[path]))
    .map(([path]) => ({ part, path, why, isLostOnEachNode: false }))
}

/** Keys that the kubelet drops when it decodes the file. */
function unknownKeys(part: ChangedPart, node: DeclaredNode): LostSetting[] {
  const { config } = part
  const features = featuresOf(node.kubeletVersion)
  const form = isInDropIn(part, node) ? dropInForm(features) : 'file'
  return Object.keys(config).flatMap(key => {
    if (key === 'kind' || key === 'apiVersion') return []
    const { field, ignored } = meaningOfKey(key, features, form)
    const why = ignoredWords(key, field, ignored)
    return why === null ? [] : [{ part, path: key, why, isLostOnEachNode: ignored !== 'minor' }]
  })
}

/** Why the image does not read the file in which a script puts the settings. Null: it may. */
function whyFileUnread({ amiFamily }: DeclaredNode, { nodePath, flags }: ChangedPart) {
  return nodePath === undefined || isReadByImage(nodePath, amiFamily) || flags.length > 0
    ? null
    : `${imageName(amiFamily)} does not read ${nodePath}`
}

function declaredIn({ config, flags, by, nodePath }: ChangedPart, node: DeclaredNode) {
  const source = nodePath === nodeadmEnvironment ? 'nodeadm' : formOf(by, node)
  return declarationOfSource({ config, flags, source }, '', node).settings
}

/** The form in which Karpenter or eksctl gives settings to the image. */
function formOf(by: ChangedPart['by'], { amiFamily }: DeclaredNode) {
  if (by === 'file') return 'script'
  if (by !== 'eksctl') return by === 'karpenter' ? '' : (by ?? '')
  return amiFamily === 'AL2' ? 'script' : 'nodeadm'
}

/** Why Amazon Linux 2 does not keep what a script edits. Null: it does. Source: amazon-eks-ami templates/al2/runtime/bootstrap.sh, which only starts a kubelet that does not run */
function rewrittenBy(
  part: ChangedPart,
  path: string,
  { amiFamily, isAppended }: Pick<DeclaredNode, 'amiFamily'> & Pick<Rollout, 'isAppended'>,
) {
  if (amiFamily !== 'AL2' || part.by !== 'script') return null
  const field = fieldOf(path)
  if (!isBeforeBootstrap(part, isAppended))
    return part.afterBootstrap === 'running'
      ? 'bootstrap.sh has started the kubelet before, and nothing restarts it after the edit'
      : null
  const isInFile = !flagSettings(part.flags).fields.has(field)
  return isInFile && al2BootstrapFields.has(field)
    ? `bootstrap.sh on Amazon Linux 2 writes ${field} itself, after ${part.afterBootstrap === undefined ? 'the edit' : 'the user data: EKS or Karpenter calls it again'}`
    : null
}

interface Outcome {
  settings: StartSettings | null
  running: Record<string, unknown> | null
  winner: PlacedSetting | undefined
  node: DeclaredNode
}

function overriddenBy(
  { path, value }: DeclaredSetting,
  { settings, running, winner, node }: Outcome,
) {
  if (!settings || !running || !isComparedField(path)) return null
  const { kubeletVersion } = node
  if (meaningOf(path, value, kubeletVersion) === meaningOf(path, running[path], kubeletVersion))
    return null
  if (isUnset(path, value))
    return `${value} counts as not set, so the kubelet's default takes its place`
  const said = settings.said[path]?.at(-1)
  const by = winner ? nameOf(winner) : (said?.where ?? "the kubelet's own default")
  return `${by} takes its place`
}

/**
 * Why the kubelet takes a setting of its eviction, and never uses it. Null: it does, or the setting changes nothing.
 * Upstream: pkg/kubelet/eviction/helpers.go ParseThresholdConfig, UpdateContainerFsThresholds; eviction_manager.go synchronize, which gives pods the
 * grace period of the field only for a soft threshold
 */
function unusedByEviction({ path, value }: DeclaredSetting, running: Outcome['running']) {
  if (!running) return null
  const field = fieldOf(path)
  const signal = path.slice(field.length + 1)
  const isActive = (map: string) => {
    const threshold = running[`${map}.${signal}`]
    return threshold !== undefined && !/^(?:0|100)%$/.test(String(threshold))
  }
  const [isHard, isSoft] = [isActive('evictionHard'), isActive('evictionSoft')]
  if (signal.startsWith('containerfs.')) {
    const sources = ['nodefs', 'imagefs'].map(
      filesystem => running[`${field}.${signal.replace('containerfs', filesystem)}`],
    )
    return sources.includes(value)
      ? null
      : 'the kubelet copies the thresholds of containerfs from those of the filesystem that holds it'
  }
  if (field === 'evictionMinimumReclaim' && !isHard && !isSoft) return `${signal} has no threshold`
  if (field === 'evictionSoftGracePeriod' && !isSoft) return `${signal} has no soft threshold`
  const hasSoft = Object.keys(running).some(one => one.startsWith('evictionSoft.'))
  return field === 'evictionMaxPodGracePeriod' && Number(value) !== 0 && !hasSoft
    ? 'it is for soft thresholds, and there is none'
    : null
}

/** A duration or a number of zero, where the kubelet has a default. Upstream: SetDefaults_KubeletConfiguration */
const isUnset = (path: string, value: unknown) =>
  configurationDefaults[path as keyof typeof configurationDefaults] !== undefined &&
  (value === 0 || (/^[+-]?[0.]/.test(textOfValue(value)) && durationMs(textOfValue(value)) === 0))

const nameOf = ({ part: { file, kind, by } }: PlacedSetting) =>
  by === 'karpenter' ? `spec.kubelet of ${kind}, which Karpenter adds last,` : file

/** Settings whose value is an expression, or was removed as a possible secret. */
export const unclearSettings = (parts: readonly ChangedPart[]): PlacedSetting[] =>
  parts.flatMap(part =>
    [...unclearPaths(part.config), ...(part.unclearFlags ?? [])].map(path => ({ part, path })),
  )
