/** MIME multipart, as cloud-init and nodeadm read it. Source: RFC 2045, RFC 2046; cloud-init, User data formats. */
export interface Part {
  /** `text/x-shellscript`; empty if the part has no type. */
  type: string
  bytes: Buffer
}

const deepest = 4

/** All parts of a multipart message, nested ones included; null: it is no multipart message. */
export function readMime(bytes: Buffer, depth = 0): Part[] | null {
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
