/**
 * Command-line flags that override fields of the configuration file.
 *
 * Replays       cmd/kubelet/app/server.go kubeletConfigFlagPrecedence
 * Read at       1.29 to 1.37
 * Kept exactly  a flag for a map or a list replaces the file's whole value; feature gates are merged with the file's
 */

import { fieldsOf } from '#facts/kubelet/configuration-schema.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { isKnownField } from '#facts/kubelet/fields.ts'
import type { FlagSettings } from '#facts/kubelet/flag-settings.ts'
import { mapOf } from '#model/config-value.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import type { LoadedConfiguration } from './configuration-file.ts'

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
    if (facts === undefined || !isKnownField(facts, features)) continue
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

function set(target: RawObject, [name = '', ...deeper]: string[], value: unknown): void {
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
