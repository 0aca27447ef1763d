/** Somebody's webhook: an HTTPS server on loopback, which this process trusts while a test runs. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import { createAuthority, issueServing } from '#lab/certificates.ts'

export interface WebhookServer {
  url: string
  /** What was posted, oldest first. */
  bodies: string[]
}

interface Answer {
  status: number
  body?: string
  headers?: Record<string, string>
}

/** @param answers one a request, the last for all that follow. @param isTrusted whether this process knows its authority */
export async function webhookServer(
  answers: Answer[] = [{ status: 200, body: 'ok' }],
  isTrusted = true,
): Promise<WebhookServer> {
  const authority = createAuthority('webhooks')
  const { keyPem, certificatePem } = issueServing(authority, {
    dns: ['localhost'],
    ip: ['127.0.0.1'],
  })
  const bodies: string[] = []
  const server = createServer({ key: keyPem, cert: certificatePem }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { status, body, headers } = answers[Math.min(bodies.length, answers.length - 1)]!
      bodies.push(Buffer.concat(chunks).toString())
      response.writeHead(status, headers).end(body)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const before = getCACertificates('default')
  if (isTrusted) setDefaultCACertificates([...before, authority.certificatePem])
  onTestFinished(async () => {
    setDefaultCACertificates(before)
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/services/T0/s3cret-path`,
    bodies,
  }
}
