/** As much of DER (ITU-T X.690) as an X.509 certificate needs. */

const tagged = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), length(body.length), body])
}

function length(count: number): Buffer {
  if (count < 0x80) return Buffer.from([count])
  const bytes = unsigned(count)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

function unsigned(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return bytes.length > 0 ? bytes : [0]
}

function objectIdentifierBody(dotted: string): number[] {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return [first * 40 + second, ...rest.flatMap(base128)]
}

function base128(value: number): number[] {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift(0x80 | (rest % 128))
  return bytes
}

export const sequence = (...parts: Uint8Array[]) => tagged(0x30, ...parts)
export const set = (...parts: Uint8Array[]) => tagged(0x31, ...parts)
export const objectIdentifier = (dotted: string) =>
  tagged(0x06, Buffer.from(objectIdentifierBody(dotted)))
export const utf8String = (text: string) => tagged(0x0c, Buffer.from(text))
export const octetString = (bytes: Uint8Array) => tagged(0x04, bytes)
export const bitString = (bytes: Uint8Array, unusedBits = 0) =>
  tagged(0x03, Buffer.from([unusedBits]), bytes)
export const boolean = (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0]))

/** A non-negative INTEGER; the leading zero keeps it positive. */
export const integer = (bytes: Uint8Array) =>
  tagged(0x02, Buffer.from((bytes[0] ?? 0) >= 0x80 ? [0] : []), bytes)

/** `[number]` around whole elements (constructed) or instead of one's own tag (primitive). */
export const context = (number: number, ...parts: Uint8Array[]) => tagged(0xa0 | number, ...parts)
export const contextPrimitive = (number: number, bytes: Uint8Array) => tagged(0x80 | number, bytes)

/** RFC 5280 4.1.2.5: UTCTime is for years before 2050. */
export const utcTime = (date: Date) =>
  tagged(
    0x17,
    Buffer.from(
      date
        .toISOString()
        .replace(/\.\d+|[-:T]/g, '')
        .slice(2),
    ),
  )
