/**
 * Reads the kubelet's settings from an instance's user data. User data may hold secrets, so only settings cut to known kubelet fields leave this
 * file: no line of the text, and no text of a parser's error.
 *
 * Source  cloud-init, User data formats; amazon-eks-ami nodeadm/internal/configprovider; Bottlerocket's README, User data
 */
import { ForeignTextError, TextBudget, unpackGzip } from '#base/foreign-text.ts'
import { inputLimits, textLimits } from '#base/limits.ts'
import { isRawObject } from '#base/raw-object.ts'
import {
  type LocatedText,
  openYaml,
  placesIn,
  textFrom,
  textOnLine,
  type YamlPlace,
} from '#base/yaml-place.ts'
import {
  isNodeConfig,
  mergePieces,
  nodeConfigType,
  type Piece,
  pieceOfNodeConfig,
  readBottlerocket,
  readDocument,
  settingsIn,
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
  const { pieces, unread } = userDataPieces(textFrom(text, 1), cluster)
  const read = pieces.filter(one => one.unread === null)
  const settings = mergePieces(read).flatMap(found => cutSettings(found) ?? [])
  return {
    settings: settings.filter(({ config, flags }) => Object.keys(config).length + flags.length > 0),
    unread: [...new Set(unread.map(({ why }) => why))],
  }
}

/** User data of a known form starts with a known line, or has a known MIME type. */
class UnknownForm extends ForeignTextError {}

interface UnreadPart {
  why: string
  line: number
  /** It is packed, so its text does not show whether it sets anything of a kubelet. */
  isHidden: boolean
}

/** The same, piece by piece in the order of the text. Secrets are not cut. */
export function userDataPieces({ text, fileLine }: LocatedText, cluster: TextBudget | null) {
  const budget = new TextBudget(textLimits.userData, cluster)
  const pieces: Piece[] = []
  const unread = new Map<string, UnreadPart>()
  const attempt = (line: number, isPacked: boolean, read: () => Piece[]) => {
    try {
      pieces.push(...read())
    } catch (error) {
      const more = unread.size < maxReasons ? null : 'other parts of it cannot be read either'
      const known =
        error instanceof ForeignTextError ? error : new ForeignTextError('it cannot be read')
      const why = more ?? known.message
      const isHidden = isPacked && !(known instanceof UnknownForm)
      unread.set(why, { why, line: known.line ?? line, isHidden })
    }
  }
  const written = Buffer.from(text)
  attempt(fileLine(1), isPacked(written), () => {
    if (written.length > inputLimits.userData.maxBytes)
      throw new ForeignTextError('it is longer than any user data')
    const bytes = unpackLayers(written, budget)
    const parts = readMime(bytes) ?? [{ type: '', bytes, line: 1, isEncoded: false }]
    for (const { type, line, isEncoded, bytes: body, isPastEnd = false } of parts) {
      const first = fileLine(bytes === written ? line : 1)
      const isHidden = isEncoded || bytes !== written || isPacked(body)
      attempt(first, isHidden, () => {
        const part = unpackLayers(body, budget).toString()
        const located = isHidden
          ? textOnLine(part, first)
          : { text: part, fileLine: (inner: number) => fileLine(line + inner - 1) }
        const pieces = readPart(type, located, budget)
        return isPastEnd ? pieces.map(one => ({ ...one, unread: pastEnd })) : pieces
      })
    }
    return []
  })
  return { pieces, unread: [...unread.values()] }
}

/** Decodes base64 and gzip, up to four layers. @throws ForeignTextError */
function unpackLayers(bytes: Buffer, budget: TextBudget) {
  let found = bytes
  for (let layer = 0; layer < 4; layer++) {
    if (isGzip(found)) found = unpackGzip(found, budget)
    else if (isBase64(found)) found = Buffer.from(found.toString('latin1'), 'base64')
    else return found
  }
  return found
}

const isPacked = (bytes: Buffer) => isGzip(bytes) || isBase64(bytes)
export const isGzip = ([first, second]: Uint8Array) => first === 0x1f && second === 0x8b

function isBase64(bytes: Buffer) {
  const compact = bytes.toString('latin1').replace(/\s/g, '')
  return compact.length >= 16 && compact.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(compact)
}

const jinja = /^## template: *jinja\s*(?=\n)/

/** Chooses the reader by the MIME type or the first line. @throws ForeignTextError */
function readPart(type: string, written: LocatedText, budget: TextBudget) {
  const text = written.text.replace(/^\uFEFF/, '').replace(jinja, '')
  const located = { ...written, text }
  const start = text.trimStart()
  if (start === '') return []
  if (
    /shellscript|boothook/.test(type) &&
    /^(?:#(?!!).*\n|\s)*apiVersion: *node\.eks\.aws/.test(start)
  )
    return [ignoredPiece(openYaml(located, budget))]
  if (start.startsWith('#cloud-config') || type === 'text/cloud-config')
    return readCloudConfig(located, budget)
  if (
    /^#!|^#cloud-boothook|^<(powershell|script)>/i.test(start) ||
    /shellscript|boothook/.test(type)
  )
    return readShell(located, budget)
  if (type === nodeConfigType) return [readDocument(located, budget) ?? []].flat()
  if (/^[ \t]*(?:\[{1,2}[ \t]*)?"?settings"?[ \t]*[.\]]/m.test(text))
    return [readBottlerocket(located, budget)]
  if (/^(apiVersion|kind|\{|---)/m.test(start)) return [readDocument(located, budget) ?? []].flat()
  throw new UnknownForm(
    start.startsWith('#include')
      ? 'it includes what lies elsewhere'
      : `${type === '' ? 'it' : 'a part of it'} is of no known form`,
  )
}

/* MIME multipart, as cloud-init and nodeadm read it. Source: RFC 2045, RFC 2046; cloud-init, User data formats. */

interface Part {
  /** `text/x-shellscript`; empty if the part has no type. */
  type: string
  bytes: Buffer
  /** Line of the message on which the body begins, from 1. */
  line: number
  isEncoded: boolean
  /** It stands after the boundary that ends the message. */
  isPastEnd?: boolean
}

const pastEnd = 'it stands after the boundary that ends the message, where nothing is read'
const deepest = 4

/** All parts of a multipart message, nested ones included; null: it is no multipart message. */
function readMime(bytes: Buffer, firstLine = 1, depth = 0) {
  const text = bytes.toString('latin1').replaceAll('\r\n', '\n')
  const { headers, body } = split(text)
  const contentType = headers.get('content-type') ?? ''
  const boundary = /boundary="([^"]+)"|boundary=([^\s;]+)/i.exec(contentType)
  const name = boundary?.[1] ?? boundary?.[2]
  if (!/^multipart\//i.test(contentType) || name === undefined || depth > deepest) return null
  const [preamble = '', ...sections] = `\n${body}`.split(`\n--${name}`)
  if (sections.length === 0)
    throw new ForeignTextError('no line of it begins with its boundary', firstLine)
  const parts: Part[] = []
  let line = firstLine + linesBefore(text, body) + linesIn(preamble)
  let isPastEnd = false
  for (const section of sections) {
    isPastEnd ||= section.startsWith('--')
    const found = partsOf(section.replace(/^(?:--)?[ \t]*\n/, ''), line + 1, depth)
    // Other text after the end is no part.
    parts.push(...(isPastEnd ? found.filter(({ type }) => type !== '') : found))
    if (isPastEnd) for (const part of found) part.isPastEnd = true
    line += linesIn(section) + 1
  }
  return parts
}

const linesIn = (text: string) => text.split('\n').length - 1
/** @param body the end of the text */
const linesBefore = (text: string, body: string) =>
  linesIn(text.slice(0, text.length - body.length))

/** @param line of the message, on which the section begins */
function partsOf(section: string, line: number, depth: number): Part[] {
  const { headers, body } = split(section)
  const inner = readMime(Buffer.from(section, 'latin1'), line, depth + 1)
  if (inner) return inner
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const encoding = headers.get('content-transfer-encoding') ?? ''
  return [
    {
      type,
      bytes: decodeBody(body, encoding),
      line: line + linesBefore(section, body),
      isEncoded: /base64/i.test(encoding),
    },
  ]
}

function decodeBody(body: string, encoding: string): Buffer {
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

const ignoredPiece = (document: YamlPlace): Piece => ({
  ...pieceOfNodeConfig(document),
  unread: `cloud-init gets it, and nodeadm reads only parts of type ${nodeConfigType}`,
})

/** Reads `write_files`, `runcmd` and `bootcmd` of a #cloud-config. Source: cloud-init, Module reference. @throws ForeignTextError */
function readCloudConfig(located: LocatedText, budget: TextBudget) {
  const document = openYaml(located, budget)
  if (isRawObject(document.value) && isNodeConfig(document.value)) return [ignoredPiece(document)]
  return [
    ...placesIn(document.at('write_files')).flatMap(file => readFile(file, budget)),
    ...['bootcmd', 'runcmd'].flatMap(list => readCommands(document, list, budget)),
  ]
}

/** Source: cloud-init, cloudinit/util.py shellify. @throws BudgetExceeded */
function readCommands(document: YamlPlace, list: string, budget: TextBudget) {
  const place = document.at(list)
  const isList = Array.isArray(place.value)
  const commands = isList || place.value == null ? placesIn(place) : [place]
  const wrong = commands.findIndex(
    ({ value }) =>
      !isList || !(value === null || typeof value === 'string' || Array.isArray(value)),
  )
  const what = isList ? `its command ${wrong + 1} is no text: quote it` : 'it is no list'
  return commands
    .flatMap(command => readShell(scriptOf(command), budget))
    .map(found =>
      wrong < 0 ? found : { ...found, unread: `cloud-init runs nothing of ${list}, as ${what}` },
    )
}

/** A command is a line or a list of arguments. The argument after a shell's `-c` is a line, too. */
function scriptOf(command: YamlPlace) {
  const { value } = command
  if (isRawObject(value)) {
    // YAML makes a map of a plain text with ": " in it.
    const [first = []] = Object.entries(value)
    return textOnLine(first.join(': '), command.lineOf())
  }
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
  const { encoding = '', append } = file.value
  const path = file.textAt('path').text || null
  const { value } = file.at('content')
  if (isRawObject(value)) {
    const found = settingsIn(textOnLine(JSON.stringify(value), file.lineOf('content')), budget)
    return found
      ? [{ ...found, path, unread: `cloud-init writes no ${path}: its content is no text` }]
      : []
  }
  const content = decodeContent(file.textAt('content'), String(encoding), budget)
  const found = settingsIn(content, budget)
  if (found) return [{ ...found, path, isWholeFile: append !== true }]
  return readShell(content, budget).map(piece => ({ ...piece, path }))
}

/** @throws ForeignTextError */
function decodeContent(content: LocatedText, encoding: string, budget: TextBudget) {
  const isBase64 = /b64|base64/.test(encoding)
  if (!isBase64 && !/^gz/.test(encoding)) return content
  const bytes = Buffer.from(content.text, isBase64 ? 'base64' : 'utf8')
  const text = (/^gz/.test(encoding) ? unpackGzip(bytes, budget) : bytes).toString()
  return textOnLine(text, content.fileLine(1))
}
