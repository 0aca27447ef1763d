/**
 * The configuration that the kubelet's files and flags give, field by field, and the source that sets each value.
 *
 * Follows       cmd/kubelet/app/server.go  NewKubeletCommand, loadConfigFile, mergeKubeletConfigurations
 * Kept exactly  fields as this minor loads and merges them; keys that decoding silently drops; in drop-ins since 1.29 names in another case
 * Left out      nested fields, except keys of maps; duplicate keys, which a parsed file does not show
 */

import { formatDuration } from '#base/go/duration.ts'
import { isRawObject, mapOf, mergePatches, type RawObject, withoutKeys } from '#base/raw-object.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { combinedFields, dropInForm, meaningOfKey } from '#facts/kubelet/fields.ts'
import { type FlagSettings, flagOfField } from '#facts/kubelet/flag-settings.ts'
import { isReadField, readConfiguration } from '#model/kubelet/configuration.ts'
import type { IgnoredSetting, SaidSetting, StartSettings, UnreadFile } from '#model/prediction.ts'
import {
  DecodeError,
  decodeConfiguration,
  isKubeletConfiguration,
  untypedError,
} from './configuration-decoder.ts'
import {
  configzOf,
  fillZeros,
  flagsOnlyConfiguration,
  LoadError,
  type LoadedConfiguration,
  type LoadOptions,
  loadConfigFile,
  setDefaults,
  versionedConfiguration,
} from './configuration-file.ts'
import {
  type ConfigurationFile,
  hasDropInFolder,
  isParsedFile,
  type KubeletFile,
  type KubeletFiles,
  mostLoadsOf,
} from './kubelet-files.ts'

/*
 * The configuration that a kubelet gets from the files on its node, before its flags.
 *
 * Replays       cmd/kubelet/app/server.go  NewKubeletCommand
 * Read at       1.29 to 1.37
 */

/** Without a main file the kubelet starts with its flags' defaults. Unread files are skipped. @throws LoadError */
export function configurationFromFiles(
  files: KubeletFiles,
  kubelet: LoadOptions,
): LoadedConfiguration {
  const { main } = files
  const configuration =
    main && isParsedFile(main)
      ? loadConfigFile(main.content, { ...kubelet, path: main.path })
      : flagsOnlyConfiguration(kubelet.kubeletVersion)
  return hasDropInFolder(files)
    ? mergeKubeletConfigurations(
        configuration,
        files.dropIns.filter(isParsedFile),
        kubelet.kubeletVersion,
      )
    : configuration
}

/**
 * Drop-in files, merged over the configuration that was loaded before them.
 *
 * Replays       cmd/kubelet/app/server.go  mergeKubeletConfigurations;  evanphx/json-patch MergePatch
 * Read at       1.29 to 1.31: a patch of the internal form; 1.32 to 1.37: of v1beta1
 * Kept exactly  maps are merged key by key, lists replaced; before 1.32 null has no effect and zeros stay; since 1.32 null removes, all fields
 *               except evictionHard get defaults again, and an empty list is unset; the field resolvConf has no effect from 1.29 to 1.31
 * Left out      the spacing of a file that lacks its kind, in the error; before
 *               1.32 files that name fields as Go does, and nulls in lists
 */
interface DropIn {
  path: string
  content: RawObject
}

/**
 * Called whenever the kubelet has a drop-in folder, even an empty one: since 1.32 defaults are then set again.
 *
 * @param dropIns in the order in which upstream walks the folder @throws LoadError
 */
export function mergeKubeletConfigurations(
  configuration: LoadedConfiguration,
  dropIns: readonly DropIn[],
  kubeletVersion: string | null,
): LoadedConfiguration {
  const features = featuresOf(kubeletVersion)
  for (const dropIn of dropIns) checkKind(dropIn, features)
  const patches = dropIns.map(({ content }) => content)
  return features.has('dropInsDefaultedAgain')
    ? patchedVersioned(configuration, patches, features)
    : patchedInternal(configuration, patches, features)
}

function checkKind({ path, content }: DropIn, features: KubeletFeatures) {
  const error = untypedError(content, false)
  if (error !== null)
    throw new LoadError(`failed to load kubelet dropin file, path: ${path}, error: ${error}`)
  if (!features.has('dropInsDefaultedAgain') || isKubeletConfiguration(content)) return
  const { apiVersion, kind } = content
  const version = String(apiVersion ?? '')
  throw new LoadError(
    `failed to load kubelet dropin file, path: ${path}, unknown apiVersion/kind: ${version.includes('/') ? version : `/${version}`}, Kind=${kind}`,
  )
}

function patchedVersioned(
  configuration: LoadedConfiguration,
  patches: RawObject[],
  features: KubeletFeatures,
) {
  const merged = mergePatches(versionedConfiguration(configuration, features), patches)
  return setDefaults(decodeMerged(merged, features, 'versioned'), features)
}

/** In the merged JSON the patches lie beside the fields they set, because Go prints other names. The patches are decoded later. */
function patchedInternal(
  configuration: LoadedConfiguration,
  patches: RawObject[],
  features: KubeletFeatures,
) {
  const merged = mergePatches({}, patches)
  const given = decodeMerged(merged, features, 'internal')
  return fillZeros(
    combinedFields(configuration, given, 'KubeletConfiguration'),
    'KubeletConfiguration',
  ) as LoadedConfiguration
}

function decodeMerged(
  merged: RawObject,
  features: KubeletFeatures,
  form: 'versioned' | 'internal',
) {
  try {
    return decodeConfiguration(merged, features, form)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new LoadError(
      `failed to unmarshal merged JSON into kubelet configuration: ${error.message}`,
      error.fields,
    )
  }
}

/** Maximum number of entries of a map, or of keys of a file. Real configurations stay below it. */
const most = 100

/**
 * @param withoutFlags the configuration that the files give
 * @param configuration the configuration that files and flags give
 */
export function startSettings(
  files: KubeletFiles,
  flags: FlagSettings,
  {
    withoutFlags,
    configuration,
    kubelet,
  }: Record<'withoutFlags' | 'configuration', LoadedConfiguration> & {
    kubelet: Pick<LoadOptions, 'kubeletVersion' | 'operatingSystem'>
  },
): StartSettings {
  const features = featuresOf(kubelet.kubeletVersion)
  const read = [files.main, ...files.dropIns].flatMap(file =>
    file && isParsedFile(file) ? [file] : [],
  )
  const said: Record<string, SaidSetting[]> = {}
  const note = ({ path, role }: KubeletFile, entries: [path: string, value: unknown][]) => {
    for (const [setting, value] of entries)
      add(said, setting, { by: role === 'config' ? 'file' : 'drop-in', where: path, value })
  }
  for (const file of read) note(file, entriesOf(file.content, features))
  const ignored = ignoredIn(read, features)
  const effectiveText = (field: string, changed: KubeletFiles) => {
    const loaded = changed === files ? withoutFlags : configurationFromFiles(changed, kubelet)
    return JSON.stringify(configzOf(loaded, features)[field] ?? null)
  }
  const effects = effectsOfOtherCases(ignored, files, effectiveText, features)
  for (const [{ file, field, value }, acts] of effects)
    if (acts && field !== null) note(file, entriesOf({ [field]: value }, features))
  addFlags(said, flags, features)
  return {
    configuration: settingsIn(configuration, features),
    withoutFlags: settingsIn(withoutFlags, features),
    said,
    ignored: ignored
      .filter(one => effects.get(one) !== true && effects.get(one) !== null)
      .map(({ file, ...one }) => ({ file: file.path, ...one })),
    unread: files.passedOver.map(({ file, why }) => unreadFile(file, why, features)),
    isCommandLineKnown: files.commandLine.length > 0,
  }
}

const settingsIn = (loaded: LoadedConfiguration, features: KubeletFeatures) =>
  readConfiguration(configzOf(loaded, features)).fields

/** A null for a map is recorded under each key of the map that is known so far. */
function add(said: Record<string, SaidSetting[]>, path: string, setting: SaidSetting) {
  const within =
    setting.value === null ? Object.keys(said).filter(known => known.startsWith(`${path}.`)) : []
  for (const known of within.length > 0 ? within : [path]) {
    const before = Object.hasOwn(said, known) ? said[known] : undefined
    if (before) before.push(setting)
    else said[known] = [setting]
  }
}

/** The fields that this minor knows. Each key of a map has its own entry. */
function entriesOf(
  content: RawObject,
  features: KubeletFeatures,
): [path: string, value: unknown][] {
  return Object.entries(content).flatMap(([field, value]): [string, unknown][] => {
    if (!isReadField(field) || meaningOfKey(field, features).ignored !== null) return []
    if (!isRawObject(value)) return [[field, value]]
    return Object.entries(value)
      .slice(0, most)
      .map(([key, entry]) => [`${field}.${key}`, entry])
  })
}

function shownFlag(field: string) {
  const flag = flagOfField.get(field)
  return flag === undefined ? field : `--${flag}`
}

interface UnusualSetting extends Omit<IgnoredSetting, 'file'> {
  file: ConfigurationFile
}

/**
 * Whether drop-ins' names in another case take effect: decoded last, or the files give another value without them. Null: not decided, because there are more
 * than are tried.
 */
function effectsOfOtherCases(
  ignored: readonly UnusualSetting[],
  files: KubeletFiles,
  effectiveText: (field: string, files: KubeletFiles) => string,
  features: KubeletFeatures,
): ReadonlyMap<UnusualSetting, boolean | null> {
  let loads = mostLoadsOf(files)
  const hasEffect = ({ file, key }: UnusualSetting, field: string) => {
    if (meaningOfKey(key, features, dropInForm(features)).ignored === null) return true
    if (loads-- <= 0) return null
    const content = withoutKeys(file.content, [key])
    const dropIns = files.dropIns.map(one => (one === file ? { ...file, content } : one))
    return effectiveText(field, { ...files, dropIns }) !== effectiveText(field, files)
  }
  return new Map(
    ignored.flatMap(one =>
      one.file.role !== 'config' && one.why === 'case' && one.field !== null
        ? [[one, hasEffect(one, one.field)]]
        : [],
    ),
  )
}

/** A flag for a map removes the files' entries, except for feature gates. */
function addFlags(
  said: Record<string, SaidSetting[]>,
  { fields }: FlagSettings,
  features: KubeletFeatures,
) {
  for (const [field, value] of fields) {
    const shown = typeof value === 'bigint' ? formatDuration(value) : value
    const setting = { by: 'flag', where: shownFlag(field) } as const
    if (isRawObject(shown) && field !== 'featureGates') {
      const gone = Object.keys(said).filter(
        path => path.startsWith(`${field}.`) && !Object.hasOwn(shown, path.slice(field.length + 1)),
      )
      for (const path of gone) add(said, path, { ...setting, value: null })
    }
    for (const [path, entry] of entriesOf({ [field]: shown }, features))
      add(said, path, { ...setting, value: entry })
  }
}

/** Real files have a few. */
const mostUnusual = 40

function ignoredIn(files: readonly ConfigurationFile[], features: KubeletFeatures) {
  const found: UnusualSetting[] = []
  for (const file of files)
    for (const [key, value] of Object.entries(file.content)) {
      if (key === 'kind' || key === 'apiVersion' || !/^[A-Za-z]\w*$/.test(key)) continue
      const { field, ignored: why } = meaningOfKey(key, features)
      if (why !== null) found.push({ file, key: key.slice(0, most), value, field, why })
      if (found.length === mostUnusual) return found
    }
  return found
}

const unreadFile = (
  { path, content }: KubeletFile,
  why: UnreadFile['why'],
  features: KubeletFeatures,
): UnreadFile => ({
  path,
  why,
  values: Object.fromEntries(
    entriesOf(mapOf(content), features).filter(([, value]) => value !== null),
  ),
})
