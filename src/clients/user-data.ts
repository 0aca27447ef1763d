/**
 * Reads the kubelet's settings from an instance's user data. User data may hold secrets, so only settings cut to known kubelet fields leave this
 * file: no line of the text, and no text of a parser's error.
 *
 * Source  cloud-init, User data formats; amazon-eks-ami nodeadm/internal/configprovider; Bottlerocket's README, User data
 */
import { ForeignTextError, parseYaml, TextBudget, unpackGzip } from '#base/foreign-text.ts'
import { inputLimits, textLimits } from '#base/limits.ts'
import { isRawObject } from '#base/raw-object.ts'
import { readBottlerocket } from '#clients/user-data/bottlerocket.ts'
import {
  type Piece,
  readDocument,
  settingsIn,
  together,
  Unreadable,
} from '#clients/user-data/settings.ts'
import { readShell } from '#clients/user-data/shell.ts'
import { cutSettings, type KubeletSettings } from '#model/kubelet/settings.ts'

export interface UserData {
  /** One entry per source with settings; empty: the user data sets nothing of the kubelet. */
  settings: KubeletSettings[]
  /** Reasons why a part of the user data could not be read. Equal reasons once, and at most 20. */
  unread: string[]
}

/** The reasons of a TOML part name its line. */
const maxReasons = 19

/**
 * @param text user data, plain or in base64 (once or twice), each with or without gzip
 * @param cluster what all user data of the cluster may still cost; null: only this one is read
 */
export function readUserData(text: string, cluster: TextBudget | null = null): UserData {
  const budget = new TextBudget(textLimits.userData, cluster)
  const pieces: Piece[] = []
  const unread = new Set<string>()
  const attempt = (read: () => Piece[]) => {
    try {
      pieces.push(...read())
    } catch (error) {
      const more = unread.size < maxReasons ? null : 'other parts of it cannot be read either'
      unread.add(more ?? (isExplained(error) ? error.message : 'it cannot be read'))
    }
  }
  attempt(() => {
    if (text.length > inputLimits.userData.maxBytes)
      throw new Unreadable('it is longer than any user data')
    const bytes = plain(Buffer.from(text), budget)
    const parts = readMime(bytes) ?? [{ type: '', bytes }]
    for (const part of parts)
      attempt(() => readPart(part.type, plain(part.bytes, budget).toString(), budget))
    return []
  })
  const settings = together(pieces).flatMap(found => cutSettings(found) ?? [])
  return {
    settings: settings.filter(({ config, flags }) => Object.keys(config).length + flags.length > 0),
    unread: [...unread],
  }
}

const isExplained = (error: unknown): error is Error =>
  error instanceof Unreadable || error instanceof ForeignTextError

/** Decodes base64 and gzip, up to four layers. @throws ForeignTextError */
function plain(bytes: Buffer, budget: TextBudget) {
  let found = bytes
  for (let layer = 0; layer < 4; layer++) {
    if (found[0] === 0x1f && found[1] === 0x8b) found = unpackGzip(found, budget)
    else if (isBase64(found)) found = Buffer.from(found.toString('latin1'), 'base64')
    else return found
  }
  return found
}

function isBase64(bytes: Buffer) {
  const compact = bytes.toString('latin1').replace(/\s/g, '')
  return compact.length >= 16 && compact.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(compact)
}

const jinja = /^## template: *jinja\s*\n/

/** Chooses the reader by the MIME type or the first line. @throws ForeignTextError, Unreadable */
function readPart(type: string, written: string, budget: TextBudget) {
  const text = written.replace(/^\uFEFF/, '').replace(jinja, '')
  const start = text.trimStart()
  if (start === '') return []
  if (start.startsWith('#cloud-config') || type === 'text/cloud-config')
    return readCloudConfig(text, budget)
  if (
    /^#!|^#cloud-boothook|^<(powershell|script)>/i.test(start) ||
    /shellscript|boothook/.test(type)
  )
    return readShell(text, budget)
  if (type === 'application/node.eks.aws') return [readDocument(text, budget) ?? []].flat()
  if (/^[ \t]*(?:\[{1,2}[ \t]*)?"?settings"?[ \t]*[.\]]/m.test(text))
    return [readBottlerocket(text, budget)]
  if (/^(apiVersion|kind|\{|---)/m.test(start)) return [readDocument(text, budget) ?? []].flat()
  throw new Unreadable(
    start.startsWith('#include')
      ? 'it includes what lies elsewhere'
      : `${type === '' ? 'it' : 'a part of it'} is of no known form`,
  )
}

/** MIME multipart, as cloud-init and nodeadm read it. Source: RFC 2045, RFC 2046; cloud-init, User data formats. */

interface Part {
  /** `text/x-shellscript`; empty if the part has no type. */
  type: string
  bytes: Buffer
}

const deepest = 4

/** All parts of a multipart message, nested ones included; null: it is no multipart message. */
function readMime(bytes: Buffer, depth = 0): Part[] | null {
  const text = bytes.toString('latin1').replaceAll('\r\n', '\n')
  const { headers, body } = split(text)
  const contentType = headers.get('content-type') ?? ''
  const boundary = /boundary="([^"]+)"|boundary=([^\s;]+)/i.exec(contentType)
  const name = boundary?.[1] ?? boundary?.[2]
  if (!/^multipart\//i.test(contentType) || name === undefined || depth > deepest) return null
  const [, ...sections] = `\n${body}`.split(`\n--${name}`)
  const parts: Part[] = []
  for (const section of sections) {
    if (section.startsWith('--')) break
    parts.push(...partsOf(section.replace(/^[ \t]*\n/, ''), depth))
  }
  return parts
}

function partsOf(section: string, depth: number): Part[] {
  const { headers, body } = split(section)
  const inner = readMime(Buffer.from(section, 'latin1'), depth + 1)
  if (inner !== null) return inner
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return [{ type, bytes: decoded(body, headers.get('content-transfer-encoding') ?? '') }]
}

function decoded(body: string, encoding: string): Buffer {
  if (/base64/i.test(encoding)) return Buffer.from(body, 'base64')
  if (!/quoted-printable/i.test(encoding)) return Buffer.from(body, 'latin1')
  const plain = body
    .replace(/=\n/g, '')
    .replace(/=([\dA-Fa-f]{2})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
  return Buffer.from(plain, 'latin1')
}

function split(text: string): { headers: Map<string, string>; body: string } {
  const end = text.indexOf('\n\n')
  const head = (end < 0 ? text : text.slice(0, end)).replace(/\n[ \t]+/g, ' ').split('\n')
  const fields = head.map(line => /^([A-Za-z][\w-]*):(.*)$/.exec(line))
  // A part may have no header. Then its first line is empty or is already part of the body.
  if (text.startsWith('\n')) return { headers: new Map(), body: text.slice(1) }
  if (fields.some(field => field === null) || end < 0) return { headers: new Map(), body: text }
  return {
    headers: new Map(
      fields.map(field => [field?.[1]?.toLowerCase() ?? '', field?.[2]?.trimStart() ?? '']),
    ),
    body: text.slice(end + 2),
  }
}

/** Reads `write_files`, `runcmd` and `bootcmd` of a #cloud-config. Source: cloud-init, Module reference. @throws ForeignTextError */
function readCloudConfig(text: string, budget: TextBudget): Piece[] {
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
