import { parse, TomlError } from 'smol-toml'
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { type Piece, piece, Unreadable } from './settings.ts'

/** The kubelet's part of Bottlerocket's user data, in the kubelet's own names. @throws Unreadable */
export function readBottlerocket(text: string): Piece {
  const { settings } = parsedToml(text)
  const kubernetes =
    isRawObject(settings) && isRawObject(settings.kubernetes) ? settings.kubernetes : {}
  const config: RawObject = {}
  for (const [setting, value] of Object.entries(kubernetes)) {
    const [field, kind] =
      (Object.hasOwn(bottlerocketSettings, setting) && bottlerocketSettings[setting]) || []
    if (field !== undefined) config[field] = settingOf(setting, value, kind)
  }
  return piece('bottlerocket', config)
}

/** TOML also has dates and infinite numbers. @throws Unreadable */
function settingOf(setting: string, value: unknown, kind: string | undefined): unknown {
  if (value instanceof Date || (typeof value === 'number' && !Number.isFinite(value)))
    throw new Unreadable(`its ${setting} has no value of a setting`)
  // Bottlerocket's percentages and counts may be strings: "85".
  return kind === 'number' && typeof value === 'string' && /^\d+$/.test(value)
    ? Number(value)
    : value
}

/** Deeper than any setting. */
const maxDepth = 32

/** @throws Unreadable, with the line's number */
function parsedToml(text: string): RawObject {
  try {
    return parse(text, { maxDepth })
  } catch (error) {
    // The library's message quotes the text.
    throw new Unreadable(
      error instanceof TomlError ? `line ${error.line} is no TOML` : 'its TOML cannot be read',
    )
  }
}
