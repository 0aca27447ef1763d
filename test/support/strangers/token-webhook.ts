/**
 * The authenticator beside EKS's API server: it looks at a token's form and signature, asks STS whose the key is, and the access entries what they are here.
 * Moto takes no presigned request, so the signature is checked here. Upstream: kubernetes-sigs/aws-iam-authenticator pkg/token/token.go Verify.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { parseScope, sameSignature, sha256Hex, signature } from '#lab/sigv4.ts'
import type { Account } from './account.ts'

export interface TokenWebhook {
  /** Of the API server. */
  flags: readonly string[]
  close(): Promise<void>
}

const clusterHeader = 'x-k8s-aws-id'

/** @param groupsOf a role's name; null: it has no access entry. @param folder for the API server's file */
export async function startTokenWebhook(
  account: Account,
  cluster: string,
  groupsOf: (role: string) => readonly string[] | null,
  folder: string,
): Promise<TokenWebhook> {
  const review = async (token: string): Promise<object> => {
    const arn = await principalOf(token, account, cluster)
    const [, role = ''] = /:assumed-role\/([^/]+)\//.exec(arn ?? '') ?? []
    const groups = groupsOf(role)
    return groups === null
      ? { authenticated: false }
      : { authenticated: true, user: { username: arn, groups } }
  }
  const server = createServer((incoming, response) => {
    json(incoming)
      .then(async body => {
        const { apiVersion, kind, spec } = body as {
          apiVersion: string
          kind: string
          spec: { token: string }
        }
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
    flags: [
      '--authentication-token-webhook-config-file',
      file,
      '--authentication-token-webhook-version',
      'v1',
    ],
    close: () => new Promise(done => server.close(() => done()).closeAllConnections()),
  }
}

/** Null: the token is of another form, or signed with no key that STS has given. */
async function principalOf(
  token: string,
  account: Account,
  cluster: string,
): Promise<string | null> {
  const [, encoded = ''] = /^k8s-aws-v1\.([\w-]+)$/.exec(token) ?? []
  const url = URL.parse(Buffer.from(encoded, 'base64url').toString())
  if (
    url?.protocol !== 'https:' ||
    !/^sts\.[a-z0-9-]+\.amazonaws\.com$/.test(url.host) ||
    url.pathname !== '/'
  )
    return null
  const of = (name: string) => url.searchParams.get(name) ?? ''
  const signed = of('X-Amz-SignedHeaders').split(';')
  if (
    of('Action') !== 'GetCallerIdentity' ||
    !signed.includes(clusterHeader) ||
    !signed.includes('host')
  )
    return null
  const scope = parseScope(of('X-Amz-Credential'))
  const key = scope && account.keyOf(scope.accessKeyId)
  if (!scope || !key || key.sessionToken !== of('X-Amz-Security-Token')) return null
  const values: Record<string, string> = { host: url.host, [clusterHeader]: cluster }
  const request = {
    ...{ method: 'GET', path: '/', payloadSha256: sha256Hex(''), amzDate: of('X-Amz-Date') },
    query: [...url.searchParams].filter(([name]) => name !== 'X-Amz-Signature'),
    headers: signed.map((name): [string, string] => [name, values[name] ?? '']),
  }
  return sameSignature(signature(request, scope, key.secretAccessKey), of('X-Amz-Signature'))
    ? account.arnOf(key)
    : null
}
