import { parseToml, type TextBudget } from '#base/foreign-text.ts'
import type { RawObject } from '#base/raw-object.ts'
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { mapOf } from '#model/input/config-value.ts'
import { type Piece, piece, Unreadable } from './settings.ts'

/** Reads the kubelet settings in Bottlerocket's user data, and names them as the kubelet does. @throws ForeignTextError, Unreadable */
export function readBottlerocket(text: string, budget: TextBudget): Piece {
  const { settings } = parseToml(text, budget)
  return bottlerocketPiece(mapOf(mapOf(settings).kubernetes))
}

/** @param kubernetes `settings.kubernetes` @throws Unreadable */
export function bottlerocketPiece(kubernetes: Readonly<RawObject>): Piece {
  const config: RawObject = {}
  for (const [setting, value] of Object.entries(kubernetes)) {
    const [field, kind] =
      (Object.hasOwn(bottlerocketSettings, setting) && bottlerocketSettings[setting]) || []
    if (field !== undefined) config[field] = settingOf(setting, value, kind)
  }
  return piece('bottlerocket', config)
}

/** Refuses values that JSON lacks: TOML also has dates and infinite numbers. @throws Unreadable */
function settingOf(setting: string, value: unknown, kind: string | undefined) {
  if (value instanceof Date || (typeof value === 'number' && !Number.isFinite(value)))
    throw new Unreadable(`its ${setting} has no value of a setting`)
  // Bottlerocket accepts percentages and counts as strings: "85".
  return kind === 'number' && typeof value === 'string' && /^\d+$/.test(value)
    ? Number(value)
    : value
}
