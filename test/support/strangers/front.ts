/**
 * What stands before moto. All goes through to it as it came, but for two things that it cannot do: its clusters have addresses without a server, so
 * DescribeCluster gets the real API server's; and its Lambda runs Docker images, so Invoke runs the bundle in a process.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Front {
  port: number
  endpoint: string
  close(): Promise<void>
}

export interface Behind {
  /** moto's port. */
  port: () => number
  /** Of each cluster. */
  apiServer: () => { server: string; ca: string | Buffer }
  /** What the function throws is reported as Lambda reports it. @param name of the function */
  invoke(name: string, event: unknown): Promise<unknown>
}

export async function startFront(behind: Behind): Promise<Front> {
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/'
    const [, name] = /^\/2015-03-31\/functions\/([^/]+)\/invocations/.exec(path) ?? []
    const isCluster = incoming.method === 'GET' && /^\/clusters\/[^/]+$/.test(path)
    const exchange =
      name === undefined
        ? pass(incoming, response, behind, isCluster)
        : invoke(decodeURIComponent(name), incoming, response, behind)
    exchange.catch(() => response.destroy())
  })
  // moto's state machines ask `localhost`.
  await new Promise<void>(done => server.listen(0, done))
  const { port } = server.address() as AddressInfo
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** Source: Lambda API reference, Invoke. */
async function invoke(
  arn: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  behind: Behind,
): Promise<void> {
  const event = JSON.parse((await text(incoming)) || 'null')
  const answer = await behind.invoke(arn.split(':').at(-1) ?? arn, event).then(
    value => ({ headers: {}, body: JSON.stringify(value ?? null) }),
    (error: Error) => ({ headers: { 'x-amz-function-error': 'Unhandled' }, body: error.message }),
  )
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-amz-executed-version': '$LATEST',
    ...answer.headers,
  })
  response.end(answer.body)
}

function pass(
  incoming: IncomingMessage,
  response: ServerResponse,
  { port, apiServer }: Behind,
  isCluster: boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { method, url: path, headers } = incoming
    const sent = request({ host: '127.0.0.1', port: port(), method, path, headers }, answer => {
      const { statusCode = 502 } = answer
      if (!isCluster || statusCode !== 200) {
        response.writeHead(statusCode, answer.headers)
        answer.pipe(response).on('finish', resolve)
        return
      }
      text(answer).then(body => {
        const { server, ca } = apiServer()
        const { cluster } = JSON.parse(body)
        const certificateAuthority = { data: Buffer.from(ca).toString('base64') }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify({ cluster: { ...cluster, endpoint: server, certificateAuthority } }),
          resolve,
        )
      }, reject)
    })
    sent.on('error', reject)
    incoming.pipe(sent)
  })
}
