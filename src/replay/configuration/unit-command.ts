/**
 * The command line that the kubelet's unit would use at its next start: `ExecStart` of the unit and its drop-ins, with the variables that
 * they and the environment files set. Only plain forms are followed.
 *
 * Follows       systemd.service(5) ExecStart, Command lines;  systemd.exec(5) Environment, EnvironmentFile
 * Kept exactly  an empty ExecStart removes earlier ones; `$NAME` is split into words, and is empty if not set
 */
import { mapOf } from '#model/input/config-value.ts'

const assignment = /^([A-Za-z_]\w*)=(.*)$/
/** Whether the node reports the variable. It reports no others. */
const isReported = (name: string) => name.includes('KUBELET')

/** @param contents of the unit, its drop-ins and the environment files, in this order. Undefined: no content starts a kubelet. Null: not a plain form. */
export function unitCommand(contents: readonly unknown[]): string[] | null | undefined {
  const pairs = contents.flatMap(pairsOf)
  const started = pairs.filter(([name]) => name === 'ExecStart').map(([, value]) => value)
  const commands = started.slice(started.lastIndexOf('') + 1)
  const [command] = commands
  if (command === undefined) return undefined
  if (commands.length > 1) return null
  const [program = '', ...words] = command.replace(/^[@:+!-]+/, '').split(/\s+/)
  if (!program.endsWith('/kubelet')) return program.includes('kubelet') ? null : undefined
  const found = words.map(word => expanded(word, pairs))
  return found.includes(null) ? null : [program, ...found.flatMap(some => some ?? [])]
}

export const isCommand = (line: string) => line.startsWith('ExecStart=')

function pairsOf(content: unknown): [name: string, value: string][] {
  if (typeof content !== 'string')
    return Object.entries(mapOf(content)).map(([name, value]) => [name, String(value)])
  return content.split('\n').flatMap((line): [string, string][] => {
    const [, name, value = ''] = assignment.exec(line.trim()) ?? []
    return name === undefined ? [] : [[name, value.trim()]]
  })
}

function expanded(word: string, pairs: [string, string][]) {
  const [, name] = /^\$(?:\{(\w+)\}|(\w+))$/.exec(word)?.filter(part => part !== undefined) ?? []
  if (name === undefined) return isPlain(word) ? [word] : null
  const values = new Set(
    pairs.filter(([known]) => known === name).map(([, value]) => unquoted(value)),
  )
  const [value = ''] = values
  // If several values are set, the order of the files alone does not decide which one applies.
  if (values.size > 1 || (values.size === 0 && !isReported(name)) || !isPlain(value)) return null
  const words = value.split(/\s+/).filter(part => part !== '')
  return word.startsWith('${') && words.length !== 1 ? null : words
}

/** A percent sign begins a specifier. */
const isPlain = (text: string) => !/["'\\$`%]/.test(text)
const unquoted = (value: string) => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
