/** Puts an API on a loopback port, over HTTP or HTTPS. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { type Answer, type Api, answer, type LabRequest } from './api.ts'
import type { ServingCertificate } from './certificates.ts'
import type { Tally } from './tally.ts'

const loopback = '127.0.0.1'

const defaultMaxBodyBytes = 1_048_576

/** Longer than a run with the lab takes between two requests. */
const keepAliveMs = 600_000

export interface Served {
  port: number
  /** To whoever connects from now on; those who are connected are cut off. */
  present(certificate: ServingCertificate): void
  close(): Promise<void>
}

/** Listens on a free port. @param host an address of loopback. @throws Error when it cannot listen. */
export async function serve<Caller>(
  api: Api<Caller>,
  tally: Tally,
  certificate?: ServingCertificate,
  host: string = loopback,
): Promise<Served> {
  const listener: RequestListener = (incoming, response) => {
    take(api, incoming, response, tally).catch(() => response.destroy())
  }
  const server = certificate
    ? createSecureServer({ key: certificate.keyPem, cert: certificate.certificatePem }, listener)
    : createServer(listener)
  // A client that sends on an idle connection just when it is closed gets ECONNRESET.
  server.keepAliveTimeout = keepAliveMs
  server.on(certificate ? 'secureConnection' : 'connection', () => tally.connection(api.name))
  return {
    port: await listen(server, host),
    present({ keyPem, certificatePem }) {
      if ('setSecureContext' in server)
        server.setSecureContext({ key: keyPem, cert: certificatePem })
      server.closeAllConnections()
    },
    close: () => close(server),
  }
}

function listen(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port))
  })
}

function close(
  server: ReturnType<typeof createServer> | ReturnType<typeof createSecureServer>,
): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function take<Caller>(
  api: Api<Caller>,
  incoming: IncomingMessage,
  response: ServerResponse,
  tally: Tally,
): Promise<void> {
  const body = await readBody(incoming, api.maxBodyBytes ?? defaultMaxBodyBytes)
  const [path = '/', ...query] = (incoming.url ?? '/').split('?')
  const request: LabRequest = {
    method: incoming.method ?? 'GET',
    path,
    query: new URLSearchParams(query.join('?')),
    headers: headersOf(incoming),
    body,
  }
  await send(await answer(api, request, route => tally.request(api.name, route)), response)
}

async function readBody(incoming: IncomingMessage, maxBodyBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new Error('request body too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const headersOf = (incoming: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(incoming.headersDistinct).map(([name, values]) => [
      name,
      (values ?? []).join(','),
    ]),
  )

async function send(reply: Answer, response: ServerResponse): Promise<void> {
  if (reply === 'hang') return
  if (reply === 'break') return void response.destroy()
  if (reply.delayMs) await new Promise(resolve => setTimeout(resolve, reply.delayMs).unref())
  const body = Buffer.from(reply.body)
  response.writeHead(reply.status, { ...reply.headers, 'content-length': String(body.length) })
  if (reply.breakAfterBytes === undefined) {
    response.end(body)
    return
  }
  await new Promise(resolve => response.write(body.subarray(0, reply.breakAfterBytes), resolve))
  response.destroy()
}
