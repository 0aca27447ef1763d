/** A server on loopback that answers as a test says: for answers that no lab gives on demand. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StubRequest {
  method: string
  url: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

export interface StubReply {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** `hang`: nothing is ever sent; `break`: the connection ends without an answer. */
export type StubAnswer = StubReply | 'hang' | 'break'

export interface Stub {
  url: string
  requests: StubRequest[]
  close(): Promise<void>
}

/** @param answer  `count` is 1 for the first request */
export async function startStub(
  answer: (request: StubRequest, count: number) => StubAnswer,
): Promise<Stub> {
  const requests: StubRequest[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks),
    }
    requests.push(request)
    const reply = answer(request, requests.length)
    if (reply === 'hang') return
    if (reply === 'break') return void response.destroy()
    response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

/** An error as a service with a JSON protocol gives it. */
export const jsonError = (status: number, type: string, message: string): StubReply => ({
  status,
  headers: { 'content-type': 'application/json', 'x-amzn-errortype': type },
  body: JSON.stringify({ message }),
})

/** An error as S3 gives it. */
export const s3Error = (
  status: number,
  code: string,
  message: string,
  more = '',
  headers: Record<string, string> = {},
): StubReply => ({
  status,
  headers: { 'content-type': 'application/xml', ...headers },
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message>${more}</Error>`,
})
