/** A real kube-apiserver with its etcd, where there is one: by the field's convention `KUBEBUILDER_ASSETS`, or on the path. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished, vi } from 'vitest'
import { temporaryFolder } from './cli.ts'

const run = promisify(execFile)

/** The program's path, or null. */
export function assetOf(name: string): string | null {
  const folders = [
    process.env.KUBEBUILDER_ASSETS ?? '',
    ...(process.env.PATH ?? '').split(delimiter),
  ].filter(folder => folder !== '')
  for (const folder of folders) {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return join(folder, name)
    } catch {
      // Not there.
    }
  }
  return null
}

/** Whether this machine has all that an API server takes. */
export const hasApiServer = ['etcd', 'kube-apiserver', 'kubectl'].every(
  name => assetOf(name) !== null,
)

export interface ApiServer {
  host: string
  port: number
  /** PEM */
  ca: string
  /** With a context for each caller. */
  kubeconfig: string
  /** As its administrator, or as a caller. @throws Error with what kubectl said */
  kubectl(args: string[], more?: { input?: string; caller?: string }): Promise<string>
  /** What a caller has asked for so far. */
  requestsOf(caller: string): AuditedRequest[]
}

/** Source: Kubernetes API reference, audit.k8s.io/v1 Event. */
export interface AuditedRequest {
  user: { username: string }
  verb: string
  requestURI: string
  objectRef?: { resource?: string; subresource?: string; apiGroup?: string }
  annotations?: Record<string, string>
}

const auditPolicy =
  'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata }]\n'

/** For one test. @param callers beside the administrator, and the groups they are in. There are no controllers and no nodes: what is applied is admitted and kept, and nothing comes of it. */
export async function startApiServer(
  callers: Readonly<Record<string, readonly string[]>> = {},
): Promise<ApiServer> {
  const folder = temporaryFolder()
  const home = join(folder, 'home')
  mkdirSync(home)
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()]
  const urls = (name: string, at: number) => [`--listen-${name}-urls=http://127.0.0.1:${at}`]
  start('etcd', [
    ...[
      `--data-dir=${join(folder, 'etcd')}`,
      '--unsafe-no-fsync',
      '--log-level=error',
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
    ],
    ...[...urls('client', client), `--advertise-client-urls=http://127.0.0.1:${client}`],
    ...[...urls('peer', peer), `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`],
  ])
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const [signing, verifying, tokens] = ['sa.key', 'sa.pub', 'tokens.csv'].map(name =>
    join(folder, name),
  ) as [string, string, string]
  const everybody: Record<string, readonly string[]> = { ...callers, admin: ['system:masters'] }
  const tokenOf = Object.fromEntries(
    Object.keys(everybody).map(name => [name, randomBytes(16).toString('hex')]),
  )
  const auditLog = join(folder, 'audit.log')
  writeFileSync(join(folder, 'audit.yaml'), auditPolicy)
  writeFileSync(signing, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(verifying, publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(
    tokens,
    Object.entries(everybody)
      .map(([name, groups]) => `${tokenOf[name]},${name},${name},"${groups.join(',')}"\n`)
      .join(''),
  )
  start('kube-apiserver', [
    ...[
      `--etcd-servers=http://127.0.0.1:${client}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, 'certs')}`,
    ],
    ...[
      '--authorization-mode=RBAC',
      `--token-auth-file=${tokens}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ],
    ...[
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${verifying}`,
    ],
    ...[`--service-account-signing-key-file=${signing}`, '--endpoint-reconciler-type=none'],
    ...[`--audit-policy-file=${join(folder, 'audit.yaml')}`, `--audit-log-path=${auditLog}`],
  ])
  const kubectl: ApiServer['kubectl'] = async (args, { input = '', caller = 'admin' } = {}) => {
    const server = [
      `--server=https://127.0.0.1:${port}`,
      `--token=${tokenOf[caller]}`,
      '--insecure-skip-tls-verify',
    ]
    const asked = run(assetOf('kubectl') ?? '', [...server, ...args], {
      env: { HOME: home },
      maxBuffer: 2 ** 24,
    })
    asked.child.stdin?.end(input)
    return (await asked).stdout
  }
  await vi.waitFor(() => kubectl(['get', '--raw', '/readyz']), { timeout: 120_000, interval: 500 })
  // The namespace of that name is made a moment after the server is ready.
  await vi.waitFor(() => kubectl(['get', 'namespace', 'default']), {
    timeout: 60_000,
    interval: 500,
  })
  const ca = readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8')
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, kubeconfigOf(`https://127.0.0.1:${port}`, ca, tokenOf))
  const requestsOf = (caller: string) =>
    readFileSync(auditLog, 'utf8')
      .split('\n')
      .flatMap((line): AuditedRequest[] => (line === '' ? [] : [JSON.parse(line)]))
      .filter(({ user }) => user.username === caller)
  return { host: '127.0.0.1', port, ca, kubeconfig, kubectl, requestsOf }
}

const kubeconfigOf = (server: string, ca: string, tokenOf: Readonly<Record<string, string>>) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'real',
        cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: Object.entries(tokenOf).map(([name, token]) => ({ name, user: { token } })),
    contexts: Object.keys(tokenOf).map(name => ({
      name,
      context: { cluster: 'real', user: name },
    })),
  })

function start(name: string, args: string[]): void {
  const child: ChildProcess = spawn(assetOf(name) ?? name, args, { stdio: 'ignore' })
  onTestFinished(
    () =>
      new Promise<void>(ended => {
        if (child.exitCode !== null) return ended()
        child.once('exit', () => ended())
        child.kill('SIGKILL')
      }),
  )
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  await new Promise(closed => server.close(closed))
  return typeof address === 'object' && address !== null ? address.port : 0
}
