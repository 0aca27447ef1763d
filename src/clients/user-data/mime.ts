/** MIME multipart, as cloud-init and nodeadm read it. Source: RFC 2045, RFC 2046; cloud-init, User data formats. */
export interface Part {
  /** `text/x-shellscript`; empty if the part has no type. */
  type: string
  bytes: Buffer
  /** Line of the message on which the body begins, from 1. */
  line: number
  isEncoded: boolean
}

const deepest = 4

/** All parts of a multipart message, nested ones included; null: it is no multipart message. */
export function readMime(bytes: Buffer, firstLine = 1, depth = 0): Part[] | null {
  const text = bytes.toString('latin1').replaceAll('\r\n', '\n')
  const { headers, body } = split(text)
  const contentType = headers.get('content-type') ?? ''
  const boundary = /boundary="([^"]+)"|boundary=([^\s;]+)/i.exec(contentType)
  const name = boundary?.[1] ?? boundary?.[2]
  if (!/^multipart\//i.test(contentType) || name === undefined || depth > deepest) return null
  const [preamble = '', ...sections] = `\n${body}`.split(`\n--${name}`)
  const parts: Part[] = []
  let line = firstLine + linesBefore(text, body) + linesIn(preamble)
  for (const section of sections) {
    if (section.startsWith('--')) break
    parts.push(...partsOf(section.replace(/^[ \t]*\n/, ''), line + 1, depth))
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
  if (inner !== null) return inner
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const encoding = headers.get('content-transfer-encoding') ?? ''
  return [
    {
      type,
      bytes: decoded(body, encoding),
      line: line + linesBefore(section, body),
      isEncoded: /base64/i.test(encoding),
    },
  ]
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
