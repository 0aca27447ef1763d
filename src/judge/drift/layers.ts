/** The layers that a kubelet setting passes: declaration, files on disk, flags, running configuration. Finds the layer that lost the setting. */

import { amiDefaults, isFamilyOfEks, isNewInAmi } from '#facts/eks/ami-defaults.ts'
import {
  configurationDefaults,
  dependsOnSize,
  fieldOf,
  isComparedField,
  meaningOf,
} from '#facts/kubelet/fields.ts'
import { shorten } from '#judge/text.ts'
import type { Confidence } from '#model/finding.ts'
import type { AmiFamily, NodeIdentity } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type {
  NextStartPrediction,
  SaidSetting,
  StartSettings,
  UnreadFile,
} from '#model/prediction.ts'
import {
  type DeclaredSetting,
  type FieldValue,
  ignoredWords,
  isSet,
  isWrittenOut,
  writtenSettings,
} from './drift.ts'

export type Layer = 'declared' | 'disk' | 'flags' | 'configz' | 'peers' | 'baseline' | 'ami'

export interface Loss {
  path: string
  layer: Layer
  value: unknown
  where: string
  by: 'declared' | SaidSetting['by']
  why: string
  confidence: Confidence
}

/** The part of the files and flags that is kept, limited to compared fields. */
export interface StartFact extends Pick<StartSettings, 'said' | 'ignored' | 'unread'> {
  comesTo: Record<string, unknown>
  withoutFlags: Record<string, unknown>
}

export type Running = Record<string, FieldValue>

export function startFact(nextStart: NextStartPrediction | null): StartFact | null {
  const settings = nextStart?.settings ?? null
  if (!settings) return null
  const { configuration, withoutFlags, said, ignored, unread } = settings
  return {
    comesTo: effectiveSettings(configuration),
    withoutFlags: effectiveSettings(withoutFlags),
    said: Object.fromEntries(Object.entries(said).filter(([path]) => isComparedField(path))),
    ignored,
    unread,
  }
}

const effectiveSettings = (configuration: KubeletConfiguration) =>
  writtenSettings({ ...configurationDefaults, ...configuration })

export const runningMeaning = (running: Running, path: string) => running[path]?.canonical ?? ''
export const shownRunning = (running: Running, path: string) => running[path]?.shown ?? 'none'

/** Paths whose value changes at the next start, if what it comes to is known. */
export function pendingPaths(
  { comesTo }: StartFact,
  running: Running,
  kubeletVersion: string | null,
) {
  const paths = [...new Set([...Object.keys(running), ...Object.keys(comesTo)])]
  return paths.filter(
    path => meaningOf(path, comesTo[path], kubeletVersion) !== runningMeaning(running, path),
  )
}

/** The layer that lost a declared value which does not run. `configz`: every layer before it still has the value. */
export function lossOfDeclared(
  setting: DeclaredSetting,
  start: StartFact | null,
  { amiFamily, kubeletVersion }: NodeImage,
): Loss {
  const { path, value, where, lostBy, isMisnamed } = setting
  const confidence = start ? 'certain' : 'likely'
  const lossAt = (layer: Layer, why: string): Loss => ({
    path,
    layer,
    value,
    where,
    by: 'declared',
    why,
    confidence,
  })
  if (!start)
    return lossAt(
      'declared',
      lostBy ?? 'where it was lost is not known, as the files were not read',
    )
  const meaning = meaningOf(path, value, kubeletVersion)
  const isSameMeaning = (other: unknown) =>
    other !== undefined && meaningOf(path, other, kubeletVersion) === meaning
  const said = settingsOfPath(start, path)
  const last = said.at(-1)
  if (isSameMeaning(start.comesTo[path]))
    return lossAt(
      'configz',
      'the files and flags come to it, and the kubelet was not restarted since',
    )
  // However the misnamed key reached the disk, its declaration lost the value.
  if (isMisnamed && lostBy !== null) return lossAt('declared', lostBy)
  if (isSameMeaning(start.withoutFlags[path]) && last)
    return lossAt('flags', `the flag ${last.where} takes its place`)
  const held = said.find(entry => isSameMeaning(entry.value))
  if (held)
    return lossAt('disk', `${held.where} has it, and ${overriderText(held, said)} takes its place`)
  const ignored = ignoredValues(start).find(
    entry => entry.path === path && isSameMeaning(entry.value),
  )
  if (ignored) return lossAt('disk', ignored.why)
  const unread = start.unread.find(file => isSameMeaning(file.values[path]))
  if (unread) return lossAt('disk', unreadWords(unread))
  const edited =
    lostBy === null
      ? editedFile(fieldOf(path), start, imageValues(amiFamily, kubeletVersion))
      : null
  if (edited !== null)
    return lossAt('disk', `${edited} says something else, which is not the image's own`)
  return lossAt('declared', lostBy ?? 'nothing on the disk of the node has it')
}

type NodeImage = Pick<NodeIdentity, 'amiFamily' | 'kubeletVersion'>

/** The file with a value that its image would not write, or whose map lacks keys that the image writes. Null: none. */
function editedFile(field: string, { said }: StartFact, ofImage: ReturnType<typeof imageValues>) {
  const own = Object.entries(said).filter(([path]) => fieldOf(path) === field)
  const inFile = own.flatMap(([path, entries]) =>
    entries.filter(({ by }) => by === 'file').map(entry => ({ path, ...entry })),
  )
  const foreign = own.flatMap(([path, entries]) =>
    entries.filter(
      ({ by, value }) =>
        by !== 'flag' && (by === 'drop-in' || ofImage?.isOwn(path, value) === false),
    ),
  )
  const [first] = inFile
  const lacks =
    ofImage?.keysOf(field).some(path => !inFile.some(entry => entry.path === path)) === true
  return foreign[0]?.where ?? (lacks ? (first?.where ?? null) : null)
}

export const settingsOfPath = ({ said }: StartFact, path: string) =>
  Object.hasOwn(said, path) ? (said[path] ?? []) : []

function overriderText(held: SaidSetting, said: readonly SaidSetting[]) {
  const later = said.slice(said.indexOf(held) + 1).at(-1)
  if (!later) return "the kubelet's own default"
  return later.by === 'flag' ? `the flag ${later.where}` : later.where
}

const ignoredValues = ({ ignored }: StartFact) =>
  ignored.flatMap(({ file, key, value, field, why }) => {
    const words = `${ignoredWords(key, field, why)} (${file})`
    const written =
      field === null ? { [shorten(key, 100)]: value } : writtenSettings({ [field]: value })
    return Object.entries(written).map(([path, value]) => ({ path, value, file, why: words }))
  })

const unreadWhy: Record<UnreadFile['why'], string> = {
  folder: 'the kubelet is given no --config-dir that it lies in',
  name: 'the kubelet reads only files that are called *.conf',
  minor: 'this kubelet reads no drop-ins',
  other: '--config names another file',
}
export const unreadWords = ({ path, why }: UnreadFile) => `${path} is not read: ${unreadWhy[why]}`

/** Backup files of editors and package managers. The kubelet is not meant to read them. */
const isLeftover = ({ path }: UnreadFile) =>
  /(~|\.(bak|backup|old|orig|save|swp|tmp|rpm(new|save|orig)|\d+))$/i.test(path)

/** Values on the disk that do not run and do not come from the image itself. */
export function lossesOnDisk(
  start: StartFact,
  running: Running,
  { amiFamily, kubeletVersion }: NodeImage,
) {
  const meaningFor = (path: string, value: unknown) => meaningOf(path, value, kubeletVersion)
  const isRunning = (path: string, value: unknown) =>
    isComparedField(path) && meaningFor(path, value) === runningMeaning(running, path)
  const ofImage = imageValues(amiFamily, kubeletVersion)
  const mayBePreset = (path: string, value: unknown) =>
    ofImage === null || ofImage.isPreset(path, value)
  const losses: Loss[] = []
  const add = (
    layer: Layer,
    { path, value }: { path: string; value: unknown },
    by: Loss['by'],
    where: string,
    why: string,
  ) => {
    if (isSet(value) && isWrittenOut(value) && !isRunning(path, value))
      losses.push({ path, layer, value, where, by, why, confidence: 'certain' })
  }
  for (const [path, said] of Object.entries(start.said)) {
    const final = meaningFor(path, start.comesTo[path])
    const beforeFlags = meaningFor(path, start.withoutFlags[path])
    for (const entry of said) {
      const { by, where, value } = entry
      const meaning = meaningFor(path, value)
      if (by === 'flag' || meaning === final || (by === 'file' && mayBePreset(path, value)))
        continue
      const layer = meaning === beforeFlags ? 'flags' : 'disk'
      add(
        layer,
        { path, value },
        by,
        where,
        `${where} has it, and ${overriderText(entry, said)} takes its place`,
      )
    }
  }
  for (const ignored of ignoredValues(start))
    add('disk', ignored, 'file', ignored.file, ignored.why)
  for (const file of start.unread.filter(file => !isLeftover(file))) {
    for (const [path, value] of Object.entries(file.values)) {
      const isForeign = file.why !== 'other' || !mayBePreset(path, value)
      if (isComparedField(path) && isForeign)
        add('disk', { path, value }, 'drop-in', file.path, unreadWords(file))
    }
  }
  return losses
}

/** Null: the image is not from EKS, so its values are unknown. */
function imageValues(family: AmiFamily, kubeletVersion: string | null) {
  if (!isFamilyOfEks(family)) return null
  const ofKubelet = writtenSettings({ ...configurationDefaults })
  const ofAmi = writtenSettings({ ...amiDefaults(family, kubeletVersion) })
  const hasSameMeaning = (known: Record<string, unknown>, path: string, value: unknown) =>
    known[path] !== undefined &&
    meaningOf(path, known[path], kubeletVersion) === meaningOf(path, value, kubeletVersion)
  const isWrittenByImage = (path: string, value: unknown) =>
    hasSameMeaning(ofAmi, path, value) ||
    dependsOnSize(path) ||
    fieldOf(path) === 'featureGates' ||
    isNewInAmi(path)
  const isPreset = (path: string, value: unknown) =>
    isWrittenByImage(path, value) || hasSameMeaning(ofKubelet, path, value)
  return {
    /** Whether the value is the image's or the kubelet's default, so that no other source is known. */
    isPreset,
    /** Like `isPreset`. On AL2, kubelet defaults do not count: user data and operators edit the main file, which has none of them. */
    isOwn: family === 'AL2' ? isWrittenByImage : isPreset,
    keysOf: (field: string) =>
      Object.keys(ofAmi).filter(path => path !== field && fieldOf(path) === field),
  }
}
