/**
 * Checks whether the kubelet's unit and environment files contain exactly the flags that the kubelet already runs with. If anything
 * differs, or is more than plain words, the result stays undecided.
 *
 * Follows       systemd.exec(5) EnvironmentFile, its plain forms
 */
import { type FlagSettings, flagSettings } from '#facts/kubelet/flag-settings.ts'
import { isRawObject } from '#model/record.ts'
import { isCommand, unitCommand } from './unit-command.ts'

/** Fields whose flags are in ExecStart of the AMI's own unit. Source: awslabs/amazon-eks-ami templates/al2/runtime/kubelet-containerd.service. */
const unitFields: ReadonlySet<string> = new Set(['containerRuntimeEndpoint'])

/**
 * Whether the next start takes from `contents` (text, or values by name) exactly the flags of the
 * running command line. If the unit's own command is unknown, its flags may appear on the command
 * line alone. Any other flag that no file contains any more would be lost.
 */
export function addsNothingTo(
  commandLine: readonly string[],
  contents: readonly unknown[],
): boolean {
  if (commandLine.length === 0) return false
  if (contents.some(content => typeof content !== 'string' && !isRawObject(content))) return false
  const command = unitCommand(contents)
  if (command === null) return false
  if (command !== undefined)
    return JSON.stringify(command.slice(1)) === JSON.stringify(commandLine.slice(1))
  const words: string[] = []
  for (const content of contents) {
    const found = wordsOf(content)
    if (found === null) return false
    words.push(...found)
  }
  const isRunning = words.every(word => commandLine.includes(word))
  const given = flagSettings(words)
  const running = flagSettings(commandLine)
  const fields = [...running.fields].filter(
    ([field]) => !unitFields.has(field) || given.fields.has(field),
  )
  return isRunning && asText(given) === asText({ fields: new Map(fields), error: running.error })
}

const asText = ({ fields, error }: FlagSettings): string =>
  JSON.stringify([[...fields].sort(), error], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** The words of every value that contains flags. Null: a value is not plain, or the content is not an environment file. */
function wordsOf(content: unknown): string[] | null {
  const parsed = isRawObject(content) ? Object.values(content) : null
  const values = typeof content === 'string' ? valuesOf(content) : parsed
  if (values === null) return null
  const words: string[] = []
  for (const value of values) {
    if (typeof value !== 'string') return null
    const found = unquoted(value.trim())
    if (!found.includes('--')) continue
    if (/["'\\$`]/.test(found)) return null
    words.push(...found.split(/\s+/).filter(word => word !== ''))
  }
  return words
}

/** Null: a line is not an assignment. */
function valuesOf(text: string): string[] | null {
  const lines = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^[#;]/.test(line) && !isCommand(line))
  const values = lines.map(line => /^[A-Za-z_]\w*=(.*)$/.exec(line)?.[1])
  return values.every(value => value !== undefined) ? values : null
}

const unquoted = (value: string) => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
