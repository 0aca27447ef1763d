/** Finds the line on which a setting stands, in any of the forms in which people write settings. */
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { configurationFlags } from '#facts/kubelet/fields.ts'
import { fieldOf } from '#facts/kubelet/setting-meaning.ts'

/** First and last line, from 1. */
export interface LineRange {
  from: number
  to: number
}

const namesOf = (field: string) => [
  field,
  ...Object.entries(bottlerocketSettings)
    .filter(([, [name]]) => name === field)
    .map(([setting]) => setting),
  ...Object.entries(configurationFlags)
    .filter(([, flag]) => flag.field === field)
    .map(([flag]) => `--${flag}`),
]

/**
 * @param text the whole file
 * @param path `evictionHard.nodefs.available`
 * @returns the line of the key, else of the field, else the first line of the range
 */
export function lineOf(text: string, { from, to }: LineRange, path: string): number {
  const lines = text.split('\n').slice(from - 1, to)
  const field = fieldOf(path)
  const atField = lineWith(lines, 0, namesOf(field))
  if (atField < 0) return from
  if (field === path) return from + atField
  const atKey = lineWith(lines, atField, [path.slice(field.length + 1)])
  return from + (atKey < 0 ? atField : atKey)
}

function lineWith(lines: readonly string[], start: number, names: readonly string[]) {
  return lines.findIndex(
    (line, index) =>
      index >= start && !/^\s*(#|\/\/)/.test(line) && names.some(name => hasWord(line, name)),
  )
}

/** Whether the name stands in the line, not as a part of a longer one. */
function hasWord(line: string, name: string) {
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    const isWhole =
      !/[\w-]/.test(line[at - 1] ?? ' ') && !/[\w-]/.test(line[at + name.length] ?? ' ')
    if (isWhole) return true
  }
  return false
}
