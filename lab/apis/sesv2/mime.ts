/** Reads a mail message: headers, parts and their decoded contents. RFC 5322, 2045 to 2047, 2183, 2231. */

export interface MimePart {
  /** By lower-case name, unfolded, encoded words decoded; where a name comes twice, the first. */
  headers: Map<string, string>
  /** Lower case, `text/html`. */
  contentType: string
  /** Of Content-Disposition or Content-Type. */
  fileName: string | null
  isAttachment: boolean
  /** Decoded; text still in its charset. */
  content: Buffer
  charset: string
  parts: MimePart[]
}

/** @throws Error with the reason when it is no message. */
export function parseMessage(raw: Buffer): MimePart {
  // One character a byte, so that nothing is lost on the way.
  return parsePart(raw.toString('latin1'))
}

export const textOf = ({ content, charset }: MimePart) => new TextDecoder(charset).decode(content)

/** The leaves, in order. */
export const leaves = (part: MimePart): MimePart[] =>
  part.contentType.startsWith('multipart/') ? part.parts.flatMap(leaves) : [part]

function parsePart(source: string): MimePart {
  const [, head = '', body] = /^((?:[^\r\n]+\r?\n)*)\r?\n(.*)$/s.exec(source) ?? []
  if (body === undefined) throw new Error('header and body have to be separated by a blank line')
  const headers = headersOf(head)
  const [contentType, typeParameters] = parameterized(headers.get('content-type') ?? 'text/plain')
  const [disposition, parameters] = parameterized(headers.get('content-disposition') ?? '')
  const fileName = parameters.get('filename') ?? typeParameters.get('name') ?? null
  return {
    headers: new Map([...headers].map(([name, value]) => [name, decodeWords(value)])),
    contentType,
    fileName: fileName === null ? null : decodeWords(fileName),
    isAttachment: disposition === 'attachment' || (disposition !== 'inline' && fileName !== null),
    content: decodeTransfer(body, headers.get('content-transfer-encoding') ?? '7bit'),
    charset: typeParameters.get('charset') ?? 'utf-8',
    parts: contentType.startsWith('multipart/') ? split(body, typeParameters.get('boundary')) : [],
  }
}

function headersOf(head: string): Map<string, string> {
  const headers = new Map<string, string>()
  const lines = head.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)
  for (const line of lines.filter(Boolean)) {
    const [, name, value = ''] = /^([!-9;-~]+):(.*)$/.exec(line) ?? []
    if (name === undefined) throw new Error(`this is no header: ${line.slice(0, 80)}`)
    if (!headers.has(name.toLowerCase()))
      headers.set(name.toLowerCase(), Buffer.from(value.trim(), 'latin1').toString())
  }
  return headers
}

function split(body: string, boundary: string | undefined): MimePart[] {
  if (!boundary) throw new Error('a multipart needs a boundary')
  const escaped = boundary.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const pieces = `\n${body}`.split(new RegExp(`\\r?\\n--${escaped}(?=--|[ \\t]*\\r?\\n)`))
  if (!pieces.at(-1)?.startsWith('--')) throw new Error('a multipart needs its closing boundary')
  return pieces.slice(1, -1).map(piece => parsePart(piece.replace(/^[ \t]*\r?\n/, '')))
}

/** `value; name="…"; name*=utf-8''…; name*0*=…` */
function parameterized(header: string): [value: string, parameters: Map<string, string>] {
  const found = new Map<string, string>()
  for (const [, name = '', quoted, bare = ''] of header.matchAll(
    /;\s*([\w-]+(?:\*\d+)?\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g,
  )) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? bare
    const [base = '', section = ''] = name.toLowerCase().split('*')
    const isEncoded = name.endsWith('*')
    const plain = isEncoded
      ? decodePercent(
          section === '' || section === '0' ? value.replace(/^[^']*'[^']*'/, '') : value,
        )
      : value
    found.set(base, (found.get(base) ?? '') + plain)
  }
  return [header.split(';', 1)[0]!.trim().toLowerCase(), found]
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a broken escape is shown as it came
  }
}

function decodeTransfer(body: string, encoding: string): Buffer {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64')
    case 'quoted-printable':
      return Buffer.from(
        decodeQuoted(body.replace(/[ \t]+(?=\r?\n)/g, '').replace(/=\r?\n/g, '')),
        'latin1',
      )
    case '7bit':
    case '8bit':
    case 'binary':
      return Buffer.from(body, 'latin1')
    default:
      throw new Error(`unknown Content-Transfer-Encoding ${encoding}`)
  }
}

const decodeQuoted = (text: string) =>
  text.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )

/** `=?utf-8?B?…?=`; white space between two of them is none. */
function decodeWords(text: string): string {
  return text
    .replace(/(=\?[^?\s]+\?[bq]\?[^?\s]*\?=)\s+(?==\?[^?\s]+\?[bq]\?)/gi, '$1')
    .replace(
      /=\?([^?*\s]+)(?:\*[^?\s]*)?\?([bq])\?([^?\s]*)\?=/gi,
      (_, charset: string, form: string, data: string) => {
        const bytes =
          form.toLowerCase() === 'b'
            ? Buffer.from(data, 'base64')
            : Buffer.from(decodeQuoted(data.replaceAll('_', ' ')), 'latin1')
        return new TextDecoder(charset).decode(bytes)
      },
    )
}
