/** Unpacks. Only this file calls a function of zlib that unpacks: what others packed has a limit of bytes. */
import { brotliDecompressSync, createGunzip, gunzipSync, inflateRawSync } from 'node:zlib'
import { maxCompressionRatio } from './limits.ts'
import { codeOf } from './operator-error.ts'

/** `ratio`: it is more than 100 times as long as its gzip. `broken`: it is no gzip, or is cut off. */
export type GzipFlaw = 'too-long' | 'ratio' | 'broken'

/** A short text may repeat itself, and costs nothing. */
const anyRatioBytes = 16 * 1024

/**
 * Unpacks in one step, because a stream per answer costs more than the unpacking itself. Stops at the limit.
 * @param shortBytes length up to which any ratio is believed
 */
export function gunzip(
  packed: Buffer,
  maxBytes: number,
  shortBytes = anyRatioBytes,
): Buffer | GzipFlaw {
  const believableBytes = Math.max(shortBytes, maxCompressionRatio * packed.length)
  const maxOutputLength = Math.max(1, Math.min(maxBytes, believableBytes))
  try {
    return gunzipSync(packed, { maxOutputLength, chunkSize: outputBytes(packed, maxOutputLength) })
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return 'broken'
    return maxOutputLength < maxBytes ? 'ratio' : 'too-long'
  }
}

/** Unpacks chunk by chunk. @throws Error after `maxBytes`, or if it is no gzip */
export async function* gunzipChunks(
  packed: NodeJS.ReadableStream & { destroy(): unknown },
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const unpacked = createGunzip()
  packed.on('error', error => unpacked.destroy(error))
  let left = maxBytes
  try {
    for await (const chunk of packed.pipe(unpacked)) {
      left -= chunk.length
      if (left < 0) throw new Error('it is far longer than its gzip')
      yield chunk
    }
  } finally {
    packed.destroy()
  }
}

/** What this program has packed in its memory, or its package: without a limit. */
export const inflateOwn = (packed: Buffer) => inflateRawSync(packed).toString()
export const unpackOwn = (packed: Buffer) => brotliDecompressSync(packed).toString()

/**
 * Size of the output buffer, from the length that gzip writes at its end. If that length is wrong, zlib uses more buffers.
 * Source: RFC 1952 ISIZE. zlib needs at least 64 bytes, and one byte more than the output to detect the end.
 */
const outputBytes = (packed: Buffer, mostBytes: number) =>
  packed.length < 4
    ? 64
    : Math.max(64, Math.min(mostBytes, packed.readUInt32LE(packed.length - 4) + 1))
