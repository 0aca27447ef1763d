import { ForeignTextError, parseToml, type TextBudget } from '#base/foreign-text.ts'
import { mapOf, type RawObject } from '#base/raw-object.ts'
import type { LocatedText } from '#base/yaml-place.ts'
import { fieldOfSetting } from '#facts/eks/ami-defaults.ts'
import { type LineOf, lineIn, type Piece, piece } from './settings.ts'

/** Reads the kubelet settings in Bottlerocket's user data, and names them as the kubelet does. @throws ForeignTextError */
export function readBottlerocket(located: LocatedText, budget: TextBudget): Piece {
  const value = parseTomlAt(located, budget)
  const lineOf = lineIn(located)
  const document = {
    value,
    lineOf: (...path: (string | number)[]) => lineOf(path.slice(bottlerocketRoot.length).join('.')),
  }
  const { kubernetes } = mapOf(value.settings)
  return { ...bottlerocketPiece(mapOf(kubernetes), lineOf), document }
}

/** @throws ForeignTextError with the line in the file */
function parseTomlAt({ text, fileLine }: LocatedText, budget: TextBudget) {
  try {
    return parseToml(text, budget)
  } catch (error) {
    if (!(error instanceof ForeignTextError) || error.line === null) throw error
    throw new ForeignTextError(error.message, fileLine(error.line))
  }
}

/** Where the settings of the kubelet are. */
export const bottlerocketRoot = ['settings', 'kubernetes'] as const

/** @param kubernetes `settings.kubernetes` @throws ForeignTextError */
export function bottlerocketPiece(kubernetes: Readonly<RawObject>, lineOf: LineOf): Piece {
  const config: RawObject = {}
  for (const [setting, value] of Object.entries(kubernetes)) {
    const [field, kind] = fieldOfSetting(setting)
    if (field !== undefined) config[field] = settingOf(setting, value, kind)
  }
  return piece('bottlerocket', lineOf, { config })
}

/** Refuses values that JSON lacks: TOML also has dates and infinite numbers. @throws ForeignTextError */
function settingOf(setting: string, value: unknown, kind: string | undefined) {
  if (value instanceof Date || (typeof value === 'number' && !Number.isFinite(value)))
    throw new ForeignTextError(`its ${setting} has no value of a setting`)
  // Bottlerocket accepts percentages and counts as strings: "85".
  return kind === 'number' && typeof value === 'string' && /^\d+$/.test(value)
    ? Number(value)
    : value
}
