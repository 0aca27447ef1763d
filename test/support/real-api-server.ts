/** A kube-apiserver and its etcd as a test starts them, where somebody has the programs: in KUBEBUILDER_ASSETS, as controller-runtime's tests take them, or on the PATH. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RawObject } from '#base/raw-object.ts'
import type { KubernetesEndpoint } from '#clients/kubernetes/kubernetes.ts'
import { ended, findProgram, freePorts, type Started, started, until } from './programs.ts'

export interface Programs {
  etcd: string
  apiServer: string
}

/** Null: not both are here. */
export function realApiServerPrograms(): Programs | null {
  const [etcd, apiServer] = [findProgram('etcd'), findProgram('kube-apiserver')]
  return etcd && apiServer ? { etcd, apiServer } : null
}

export interface StoredObject {
  /** Below `/registry`: `pods/shop/cart-0`. */
  key: string
  object: RawObject
}

export interface RealApiServer {
  /** As an administrator asks it. @throws Error when it answers anything but 2xx */
  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<RawObject>
  /** Until it answers so. @throws Error when the time is over */
  awaits(path: string, isSo: (answer: RawObject) => boolean): Promise<void>
  /** As a member of that group alone. */
  endpointOf(group: string): KubernetesEndpoint
  close(): Promise<void>
}

const administrators = 'system:masters'

/**
 * @param stored what is in etcd before it starts: only so can an object be older than the test
 * @param groups each has a member, who may do nothing until it is granted
 * @param flags  of the API server, beside those that it cannot do without
 */
export async function startRealApiServer(
  { etcd, apiServer }: Programs,
  stored: readonly StoredObject[],
  groups: readonly string[],
  flags: readonly string[] = [],
): Promise<RealApiServer> {
  const home = mkdtempSync(join(tmpdir(), 'highwater-api-server-'))
  const children: Started[] = []
  const close = async () => {
    for (const child of children.toReversed()) await ended(child)
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const [clientPort, peerPort, port] = await freePorts(3)
    const [client, peer] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`]
    children.push(
      started(etcd, [
        ...[
          '--data-dir',
          join(home, 'etcd'),
          '--listen-client-urls',
          client,
          '--advertise-client-urls',
          client,
        ],
        ...[
          '--listen-peer-urls',
          peer,
          '--initial-advertise-peer-urls',
          peer,
          '--initial-cluster',
          `default=${peer}`,
        ],
      ]),
    )
    await until(async () => (await fetch(`${client}/health`)).ok, children)
    for (const { key, object } of stored)
      await put(client, `/registry/${key}`, JSON.stringify(object))

    const tokens = new Map(
      [administrators, ...groups].map(group => [group, randomBytes(24).toString('hex')]),
    )
    writeFileSync(
      join(home, 'tokens.csv'),
      [...tokens].map(([group, token]) => `${token},${group},${group},"${group}"\n`).join(''),
    )
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(join(home, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    children.push(
      started(apiServer, [
        ...[
          '--etcd-servers',
          client,
          '--bind-address',
          '127.0.0.1',
          '--secure-port',
          String(port),
          '--cert-dir',
          join(home, 'certificates'),
        ],
        ...[
          '--authorization-mode',
          'RBAC',
          '--token-auth-file',
          join(home, 'tokens.csv'),
          '--service-cluster-ip-range',
          '10.96.0.0/16',
        ],
        ...[
          '--service-account-issuer',
          'https://kubernetes.default.svc',
          '--service-account-key-file',
          join(home, 'sa.key'),
        ],
        ...[
          '--service-account-signing-key-file',
          join(home, 'sa.key'),
          '--endpoint-reconciler-type',
          'none',
        ],
        // Service accounts are made by controllers, and there are none.
        ...['--disable-admission-plugins', 'ServiceAccount'],
        ...flags,
      ]),
    )
    const server = `https://127.0.0.1:${port}`
    const ca = () => readFileSync(join(home, 'certificates', 'apiserver.crt'))
    const admin = tokens.get(administrators) ?? ''
    await until(
      async () => (await asked(server, ca(), admin, 'GET', '/readyz')).status === 200,
      children,
    )
    const ask: RealApiServer['ask'] = async (method, path, body) => {
      const { status, text } = await asked(server, ca(), admin, method, path, body)
      if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${text}`)
      return JSON.parse(text)
    }
    return {
      ask,
      awaits: (path, isSo) => until(async () => isSo(await ask('GET', path)), children),
      endpointOf: group => ({
        server,
        ca: ca(),
        authorization: async () => `Bearer ${tokens.get(group)}`,
      }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** By etcd's JSON gateway. */
async function put(client: string, key: string, value: string): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const answer = await fetch(`${client}/v3/kv/put`, {
    method: 'POST',
    body: JSON.stringify({ key: base64(key), value: base64(value) }),
  })
  if (!answer.ok) throw new Error(`etcd refused ${key}: ${answer.status} ${await answer.text()}`)
}

function asked(
  server: string,
  ca: Buffer,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ ca, keepAlive: false })
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    const sent = request(`${server}${path}`, { method, agent, headers }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}
