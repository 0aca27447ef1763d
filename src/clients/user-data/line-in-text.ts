/** Finds the line of a setting in a script or in TOML. */
import type { LocatedText } from '#base/yaml-place.ts'
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { configurationFlags, fieldOf } from '#facts/kubelet/fields.ts'
import type { LineOf } from './settings.ts'

/** The names under which people set a field. */
const namesOf = (field: string) => [
  field,
  ...Object.entries(bottlerocketSettings)
    .filter(([, [name]]) => name === field)
    .map(([setting]) => setting),
  ...Object.entries(configurationFlags)
    .filter(([, flag]) => flag.field === field)
    .map(([flag]) => `--${flag}`),
]

/** The last line that names the field, since the last of equal settings counts; the key of a map on it or below it. */
export function lineIn({ text, fileLine }: LocatedText): LineOf {
  const lines = text.split('\n')
  const lastLine = (names: readonly string[], start: number) =>
    lines.findLastIndex(
      (line, index) =>
        index >= start && !/^\s*(#|\/\/)/.test(line) && names.some(name => hasWord(line, name)),
    )
  return path => {
    const field = fieldOf(path ?? '')
    const atField = path === null ? -1 : lastLine(namesOf(field), 0)
    if (path === null || atField < 0 || field === path) return fileLine(Math.max(atField, 0) + 1)
    const atKey = lastLine([path.slice(field.length + 1)], atField)
    return fileLine((atKey < 0 ? atField : atKey) + 1)
  }
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
