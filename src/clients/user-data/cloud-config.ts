import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { inputLimits } from '#model/input-limits.ts'
import { isRawObject } from '#model/record.ts'
import { type Piece, settingsOfDocument, Unreadable } from './settings.ts'
import { readShell } from './shell.ts'

/** Reads `write_files`, `runcmd` and `bootcmd` of a #cloud-config. Source: cloud-init, Module reference. @throws Unreadable */
export function readCloudConfig(text: string): Piece[] {
  const document = parsed(text)
  if (!isRawObject(document)) return []
  const files = Array.isArray(document.write_files) ? document.write_files.filter(isRawObject) : []
  const commands = [document.bootcmd, document.runcmd].flatMap(list =>
    Array.isArray(list) ? list : [],
  )
  return [
    ...files.flatMap(({ content, encoding }) =>
      readFile(typeof content === 'string' ? content : '', String(encoding ?? '')),
    ),
    ...commands.flatMap(command => readShell(scriptOf(command))),
  ]
}

/** A command is a line or a list of arguments. The argument after a shell's `-c` is a line, too. */
function scriptOf(command: unknown): string {
  if (!Array.isArray(command)) return String(command)
  const words = command.map(String)
  return words[1] === '-c'
    ? (words[2] ?? '')
    : words.map(word => `'${word.replaceAll("'", '"')}'`).join(' ')
}

/**
 * Parses YAML. Of two equal keys the last one counts, as in cloud-init, nodeadm and the kubelet, which do not decode strictly in the end.
 * Source: amazon-eks-ami nodeadm/internal/api/bridge/decode.go; pkg/kubelet/kubeletconfig/util/codec DecodeKubeletConfiguration; sigs.k8s.io/yaml YAMLToJSON
 * @throws Unreadable
 */
export function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 20, logLevel: 'error', uniqueKeys: false })
  } catch {
    // The parser's message would quote the user data, so it is replaced.
    throw new Unreadable('its YAML cannot be read')
  }
}

function readFile(content: string, encoding: string): Piece[] {
  const bytes = /b64|base64/.test(encoding) ? Buffer.from(content, 'base64') : Buffer.from(content)
  const text = (/^gz/.test(encoding) ? unzipped(bytes) : bytes).toString()
  let document: unknown = null
  try {
    document = parsed(text)
  } catch {
    // The text is no document, so it is read as a script below.
  }
  const found = settingsOfDocument(document)
  return found === null ? readShell(text) : [found]
}

/** @throws Unreadable */
export function unzipped(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: inputLimits.userDataUnpacked.maxBytes })
  } catch {
    throw new Unreadable('it cannot be unpacked')
  }
}
