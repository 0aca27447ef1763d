/**
 * The configuration that a kubelet gets from the files on its node, before its flags.
 *
 * Replays       cmd/kubelet/app/server.go  NewKubeletCommand
 * Read at       1.29 to 1.37
 */

import { mergePatches, type RawObject } from '#base/raw-object.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { combinedFields } from '#facts/kubelet/fields.ts'
import {
  DecodeError,
  decodeConfiguration,
  isKubeletConfiguration,
  untypedError,
} from './configuration-decoder.ts'
import {
  fillZeros,
  flagsOnlyConfiguration,
  LoadError,
  type LoadedConfiguration,
  type LoadOptions,
  loadConfigFile,
  setDefaults,
  versionedConfiguration,
} from './configuration-file.ts'
import { hasDropInFolder, isParsedFile, type KubeletFiles } from './kubelet-files.ts'

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
