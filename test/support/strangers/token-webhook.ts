/**
 * The authenticator beside EKS's API server: it asks STS who has signed a token, and the access entries what they are here. Moto checks no signature, so
 * what it looks at itself is the form that aws-iam-authenticator wants. Upstream: kubernetes-sigs/aws-iam-authenticator pkg/token/token.go Verify.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface TokenWebhook {
  /** Of the API server. */
  flags: readonly string[]
  close(): Promise<void>
}

const clusterHeader = 'x-k8s-aws-id'

/** @param groupsOf a role's name; null: it has no access entry. @param folder for the API server's file */
export async function startTokenWebhook(
  sts: string,
  cluster: string,
  groupsOf: (role: string) => readonly string[] | null,
  folder: string,
): Promise<TokenWebhook> {
  const review = async (token: string): Promise<object> => {
    const arn = await principalOf(token, sts, cluster)
    const [, role = ''] = /:assumed-role\/([^/]+)\//.exec(arn ?? '') ?? []
    const groups = groupsOf(role)
    return groups === null ? { authenticated: false } : { authenticated: true, user: { username: arn, groups } }
  }
  const server = createServer((incoming, response) => {
    json(incoming)
      .then(async body => {
        const { apiVersion, kind, spec } = body as { apiVersion: string; kind: string; spec: { token: string } }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ apiVersion, kind, status: await review(spec.token) }))
      })
      .catch(() => response.destroy())
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const file = `${folder}/token-webhook.json`
  const [context, user] = ['webhook', 'api-server']
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: context, cluster: { server: `http://127.0.0.1:${port}/` } }],
      users: [{ name: user, user: {} }],
      contexts: [{ name: context, context: { cluster: context, user } }],
      'current-context': context,
    }),
  )
  return {
    flags: ['--authentication-token-webhook-config-file', file, '--authentication-token-webhook-version', 'v1'],
    close: () => new Promise(done => server.close(() => done()).closeAllConnections()),
  }
}

/** Null: STS is not asked about a token of another form, or knows nobody of that key. */
async function principalOf(token: string, sts: string, cluster: string): Promise<string | null> {
  const [, encoded = ''] = /^k8s-aws-v1\.([\w-]+)$/.exec(token) ?? []
  const url = URL.parse(Buffer.from(encoded, 'base64url').toString())
  if (url?.protocol !== 'https:' || !/^sts\.[a-z0-9-]+\.amazonaws\.com$/.test(url.host) || url.pathname !== '/') return null
  const of = (name: string) => url.searchParams.get(name) ?? ''
  const signed = of('X-Amz-SignedHeaders').split(';')
  if (of('Action') !== 'GetCallerIdentity' || !signed.includes(clusterHeader) || !signed.includes('host')) return null
  // Moto takes no presigned requests: the same goes in headers.
  const authorization = `AWS4-HMAC-SHA256 Credential=${of('X-Amz-Credential')}, SignedHeaders=${signed.join(';')}, Signature=${of('X-Amz-Signature')}`
  const headers = {
    authorization,
    'x-amz-date': of('X-Amz-Date'),
    'x-amz-security-token': of('X-Amz-Security-Token'),
    [clusterHeader]: cluster,
  }
  const answer = await fetch(`${sts}/?Action=GetCallerIdentity&Version=2011-06-15`, { headers })
  const [, arn = null] = /<Arn>([^<]+)<\/Arn>/.exec(await answer.text()) ?? []
  return answer.ok ? arn : null
}
