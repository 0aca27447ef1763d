/**
 * The configuration that `/configz` shows for a running kubelet.
 *
 * Replays       cmd/kubelet/app/server.go setConfigz, convertToVersionedKubeletConfig;  encoding/json Marshal of k8s.io/kubelet/config/v1beta1
 * Read at       1.29 to 1.37; kind and apiVersion since 1.36
 * Kept exactly  zeros, nils and empty values are omitted, except structs, durations and zeros behind a pointer; durations and quantities
 *               as Go prints them; logging.flushFrequency in text or in nanoseconds, as given
 */

import { formatDuration } from '#base/go/duration.ts'
import { canonical, type Quantity } from '#base/go/quantity.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { elementOf, fieldsOf, isStruct } from '#facts/kubelet/configuration-schema.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { isKnownField } from '#facts/kubelet/fields.ts'
import type { StructName } from '#model/kubelet/fields.ts'
import type { FlushFrequency } from './configuration-decoder.ts'
import type { LoadedConfiguration } from './configuration-file.ts'
import { kubeletConfigurationKind } from './configuration-kind.ts'

export function configzOf(
  configuration: LoadedConfiguration,
  features: KubeletFeatures,
): RawObject {
  return {
    ...(features.has('configzNamesItsKind') ? kubeletConfigurationKind : {}),
    ...versionedConfiguration(configuration, features),
  }
}

/** The configuration without kind, the form into which drop-ins are merged. */
export function versionedConfiguration(
  configuration: LoadedConfiguration,
  features: KubeletFeatures,
): RawObject {
  return encodedStruct(configuration, 'KubeletConfiguration', features)
}

function encodedStruct(value: RawObject, struct: StructName, features: KubeletFeatures): RawObject {
  const encoded: RawObject = {}
  for (const [name, facts] of Object.entries(fieldsOf(struct))) {
    if (!isKnownField(facts, features)) continue
    const shown = encodedValue(value[name], facts.type, features)
    if (facts.isAlwaysShown || !isEmpty(shown, facts.type)) encoded[name] = shown
  }
  return encoded
}

function encodedValue(value: unknown, type: string, features: KubeletFeatures): unknown {
  if (value === null || value === undefined) return null
  const target = elementOf(type, '*')
  if (target !== null) return encodedValue(value, target, features)
  if (isStruct(type)) return isRawObject(value) ? encodedStruct(value, type, features) : {}
  const item = elementOf(type, '[]')
  if (item !== null)
    return Array.isArray(value) ? value.map(one => encodedValue(one, item, features)) : null
  const entry = elementOf(type, 'map[string]')
  if (entry !== null && isRawObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, encodedValue(one, entry, features)]),
    )
  }
  if (type === 'Quantity') return canonical(value as Quantity)
  if (type === 'FlushFrequency') {
    const { nanoseconds, isText } = value as FlushFrequency
    return isText ? formatDuration(nanoseconds) : Number(nanoseconds)
  }
  return typeof value === 'bigint' ? formatDuration(value) : value
}

/** Whether `omitempty` omits the value. */
function isEmpty(shown: unknown, type: string) {
  if (shown === null) return true
  if (isStruct(type) || elementOf(type, '*') !== null) return false
  if (Array.isArray(shown)) return shown.length === 0
  if (isRawObject(shown)) return Object.keys(shown).length === 0
  return shown === '' || shown === 0 || shown === false
}
