/** An object as the API server sends it: JSON, compressed when large and asked for. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { LabRequest, Reply } from '#lab/api.ts'

/** Upstream: apiserver/pkg/endpoints/handlers/responsewriters/writers.go defaultGzipThresholdBytes, defaultGzipContentEncodingLevel. */
const gzipThresholdBytes = 128 * 1024
const gzipLevel = 1

const compress = promisify(gzip)

export async function objectReply(request: LabRequest, object: object): Promise<Reply> {
  const body = Buffer.from(JSON.stringify(object))
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }
  const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  if (!takesGzip || body.length <= gzipThresholdBytes) return { status: 200, headers, body }
  return {
    status: 200,
    headers: { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    body: await compress(body, { level: gzipLevel }),
  }
}
