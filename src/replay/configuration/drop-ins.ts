/**
 * Drop-in files, merged over the configuration that was loaded before them.
 *
 * Replays       cmd/kubelet/app/server.go  mergeKubeletConfigurations;  evanphx/json-patch MergePatch;  imdario/mergo Merge
 * Read at       1.28: each drop-in brings all its defaults; 1.29 to 1.31: a patch of the internal form; 1.32 to 1.37: of v1beta1
 * Kept exactly  maps are merged key by key, lists replaced; before 1.32 null has no effect and zeros stay; since 1.32 null removes, all fields
 *               except evictionHard get defaults again, and an empty list is unset; the field resolvConf has no effect from 1.29 to 1.31
 * Left out      the spacing of a file that lacks its kind, in the error; before
 *               1.32 files that name fields as Go does, and nulls in lists
 */

import {
  combinedFields,
  elementOf,
  fieldsOf,
  isStruct,
} from '#facts/kubelet/configuration-schema.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { mapOf } from '#model/config-value.ts'
import type { StructName } from '#model/kubelet-fields.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { DecodeError, decodeConfiguration, type FlushFrequency } from './configuration-decoder.ts'
import {
  completed,
  LoadError,
  type LoadedConfiguration,
  type LoadOptions,
  loadConfigFile,
  setDefaults,
} from './configuration-file.ts'
import { isKubeletConfiguration, untypedError } from './configuration-kind.ts'
import { versionedConfiguration } from './configz.ts'
import { mergePatch } from './merge-patch.ts'

export interface DropIn {
  path: string
  content: RawObject
}

/**
 * Called whenever the kubelet has a drop-in folder, even an empty one: since 1.32 defaults are then set again.
 *
 * @param options with the evictionHardDefault that the configuration was loaded with
 * @param dropIns in the order in which upstream walks the folder @throws LoadError
 */
export function mergeKubeletConfigurations(
  configuration: LoadedConfiguration,
  dropIns: readonly DropIn[],
  options: LoadOptions,
): LoadedConfiguration {
  const features = featuresOf(options.kubeletVersion)
  if (!features.has('dropInMergePatch')) {
    return overriddenByAll(configuration, dropIns, options)
  }
  for (const dropIn of dropIns) checkKind(dropIn, features)
  const patches = dropIns.map(({ content }) => content)
  return features.has('dropInsDefaultedAgain')
    ? patchedVersioned(configuration, patches, features)
    : patchedInternal(configuration, patches, features)
}

function checkKind({ path, content }: DropIn, features: KubeletFeatures): void {
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
): LoadedConfiguration {
  const merged = patches.reduce<RawObject>(
    (base, patch) => mergePatch(base, patch),
    versionedConfiguration(configuration, features),
  )
  return setDefaults(unmarshalled(merged, features, 'versioned'), features)
}

/** In the merged JSON the patches lie beside the fields they set, because Go prints other names. The patches are decoded later. */
function patchedInternal(
  configuration: LoadedConfiguration,
  patches: RawObject[],
  features: KubeletFeatures,
): LoadedConfiguration {
  const merged = patches.reduce<RawObject>((base, patch) => mergePatch(base, patch), {})
  const given = unmarshalled(merged, features, 'internal')
  return completed(
    combinedFields(configuration, given, 'KubeletConfiguration'),
    'KubeletConfiguration',
  ) as LoadedConfiguration
}

function unmarshalled(
  merged: RawObject,
  features: KubeletFeatures,
  form: 'versioned' | 'internal',
): RawObject {
  try {
    return decodeConfiguration(merged, features, form)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new LoadError(
      `failed to unmarshal merged JSON into kubelet configuration: ${error.message}`,
    )
  }
}

/** If the main file has the default evictionHard, each drop-in changes that very map. Later drop-ins get the map as their default. */
function overriddenByAll(
  configuration: LoadedConfiguration,
  dropIns: readonly DropIn[],
  options: LoadOptions,
): LoadedConfiguration {
  const isShared =
    configuration.evictionHard !== null &&
    configuration.evictionHard === options.evictionHardDefault
  return dropIns.reduce<LoadedConfiguration>((merged, { path, content }) => {
    const shared =
      isShared && merged.evictionHard !== null ? { evictionHardDefault: merged.evictionHard } : {}
    const dropIn = loadDropIn(content, { ...options, ...shared, path })
    return overridden(merged, dropIn, 'KubeletConfiguration') as LoadedConfiguration
  }, configuration)
}

function loadDropIn(content: RawObject, options: LoadOptions): LoadedConfiguration {
  try {
    return loadConfigFile(content, { ...options, isKindNeeded: true })
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    throw new LoadError(
      `failed to load kubelet dropin file, path: ${options.path}, error: ${error.message}`,
    )
  }
}

/** Pointer fields of the kubelet's own struct: the zero test applies to the pointer, not to its target. */
const pointers = ['maxParallelImagePulls', 'memoryThrottlingFactor', 'tracing']

/** Upstream: mergo.Merge WithOverride, which takes every zero as empty. */
function overridden(before: RawObject, after: RawObject, struct: StructName): RawObject {
  const merged: RawObject = { ...before }
  for (const [name, { type }] of Object.entries(fieldsOf(struct))) {
    merged[name] = pointers.includes(name)
      ? (after[name] ?? before[name])
      : overriddenValue(before[name], after[name], type)
  }
  return merged
}

function overriddenValue(before: unknown, after: unknown, type: string): unknown {
  if (isStruct(type) && isRawObject(before) && isRawObject(after))
    return overridden(before, after, type)
  if (type === 'FlushFrequency')
    return overriddenFlushFrequency(before as FlushFrequency, after as FlushFrequency)
  // Reflection cannot see a quantity's fields, so mergo keeps the old value.
  if (type === 'Quantity') return before
  if (elementOf(type, 'map[string]') !== null && isRawObject(after)) {
    const set = Object.fromEntries(Object.entries(after).filter(([, entry]) => entry !== null))
    return { ...mapOf(before), ...set }
  }
  if (Array.isArray(after)) return after.length > 0 ? after : before
  return after === null || after === 0 || after === 0n || after === '' || after === false
    ? before
    : after
}

const overriddenFlushFrequency = (
  before: FlushFrequency,
  after: FlushFrequency,
): FlushFrequency => ({
  nanoseconds: after.nanoseconds === 0n ? before.nanoseconds : after.nanoseconds,
  isText: before.isText || after.isText,
})
