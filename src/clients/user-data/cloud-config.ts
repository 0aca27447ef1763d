import { type TextBudget, unpackGzip } from '#base/foreign-text.ts'
import { isRawObject } from '#base/raw-object.ts'
import { type LocatedText, openYaml, textOnLine, type YamlPlace } from '#base/yaml-place.ts'
import { isNodeConfig, nodeConfigType, ofNodeConfig, type Piece, settingsIn } from './settings.ts'
import { readShell } from './shell.ts'

/** Reads `write_files`, `runcmd` and `bootcmd` of a #cloud-config. Source: cloud-init, Module reference. @throws ForeignTextError */
export function readCloudConfig(located: LocatedText, budget: TextBudget): Piece[] {
  const document = openYaml(located, budget)
  if (isRawObject(document.value) && isNodeConfig(document.value)) {
    const unread = `cloud-init gets it, and nodeadm reads only parts of type ${nodeConfigType}`
    return [{ ...ofNodeConfig(document), unread }]
  }
  const commands = [...itemsOf(document.at('bootcmd')), ...itemsOf(document.at('runcmd'))]
  return [
    ...itemsOf(document.at('write_files')).flatMap(file => readFile(file, budget)),
    ...commands.flatMap(command => readShell(scriptOf(command), budget)),
  ]
}

const itemsOf = (place: YamlPlace) =>
  Array.isArray(place.value) ? place.value.map((_, index) => place.at(index)) : []

/** A command is a line or a list of arguments. The argument after a shell's `-c` is a line, too. */
function scriptOf(command: YamlPlace): LocatedText {
  const { value } = command
  if (!Array.isArray(value))
    return typeof value === 'string'
      ? command.textAt()
      : textOnLine(String(value), command.lineOf())
  const words = value.map(String)
  if (words[1] === '-c') return command.textAt(2)
  const line = words.map(word => `'${word.replaceAll("'", '"')}'`).join(' ')
  return textOnLine(line, command.lineOf())
}

/** @throws ForeignTextError */
function readFile(file: YamlPlace, budget: TextBudget) {
  if (!isRawObject(file.value)) return []
  const { encoding = '' } = file.value
  const content = unpacked(file.textAt('content'), String(encoding), budget)
  const path = file.textAt('path').text || null
  const found = settingsIn(content, budget)
  return (found === null ? readShell(content, budget) : [found]).map(piece => ({ ...piece, path }))
}

/** @throws ForeignTextError */
function unpacked(content: LocatedText, encoding: string, budget: TextBudget): LocatedText {
  const isBase64 = /b64|base64/.test(encoding)
  if (!isBase64 && !/^gz/.test(encoding)) return content
  const bytes = Buffer.from(content.text, isBase64 ? 'base64' : 'utf8')
  const text = (/^gz/.test(encoding) ? unpackGzip(bytes, budget) : bytes).toString()
  return textOnLine(text, content.fileLine(1))
}
