import { parseYaml, type TextBudget, unpackGzip } from '#base/foreign-text.ts'
import { isRawObject } from '#base/raw-object.ts'
import { type Piece, settingsIn } from './settings.ts'
import { readShell } from './shell.ts'

/** Reads `write_files`, `runcmd` and `bootcmd` of a #cloud-config. Source: cloud-init, Module reference. @throws ForeignTextError */
export function readCloudConfig(text: string, budget: TextBudget): Piece[] {
  // Of two equal keys the last one counts, as in cloud-init.
  const document = parseYaml(text, budget)
  if (!isRawObject(document)) return []
  const files = Array.isArray(document.write_files) ? document.write_files.filter(isRawObject) : []
  const commands = [document.bootcmd, document.runcmd].flatMap(list =>
    Array.isArray(list) ? list : [],
  )
  return [
    ...files.flatMap(({ content, encoding }) =>
      readFile(typeof content === 'string' ? content : '', String(encoding ?? ''), budget),
    ),
    ...commands.flatMap(command => readShell(scriptOf(command), budget)),
  ]
}

/** A command is a line or a list of arguments. The argument after a shell's `-c` is a line, too. */
function scriptOf(command: unknown) {
  if (!Array.isArray(command)) return String(command)
  const words = command.map(String)
  return words[1] === '-c'
    ? (words[2] ?? '')
    : words.map(word => `'${word.replaceAll("'", '"')}'`).join(' ')
}

/** @throws ForeignTextError */
function readFile(content: string, encoding: string, budget: TextBudget) {
  const bytes = /b64|base64/.test(encoding) ? Buffer.from(content, 'base64') : Buffer.from(content)
  const text = (/^gz/.test(encoding) ? unpackGzip(bytes, budget) : bytes).toString()
  const found = settingsIn(text, budget)
  return found === null ? readShell(text, budget) : [found]
}
