import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { type Piece, piece } from './settings.ts'
import { parseToml } from './toml.ts'

/** The kubelet's part of Bottlerocket's user data, in the kubelet's own names. @throws Unreadable */
export function readBottlerocket(text: string): Piece {
  const { settings } = parseToml(text)
  const kubernetes =
    isRawObject(settings) && isRawObject(settings.kubernetes) ? settings.kubernetes : {}
  const config: RawObject = {}
  for (const [setting, value] of Object.entries(kubernetes)) {
    const [field, kind] =
      (Object.hasOwn(bottlerocketSettings, setting) && bottlerocketSettings[setting]) || []
    // Bottlerocket's percentages and counts may be strings: "85".
    if (field !== undefined)
      config[field] =
        kind === 'number' && typeof value === 'string' && /^\d+$/.test(value)
          ? Number(value)
          : value
  }
  return piece('bottlerocket', config)
}
