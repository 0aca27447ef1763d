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
  const folders = [process.env.KUBEBUILDER_ASSETS ?? '', ...(process.env.PATH ?? '').split(delimiter)].filter(folder => folder !== '')
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
export const hasApiServer = ['etcd', 'kube-apiserver', 'kubectl'].every(name => assetOf(name) !== null)

export interface ApiServer {
  host: string
  port: number
  /** PEM */
  ca: string
  /** As its administrator. @throws Error with what kubectl said */
  kubectl(args: string[]): Promise<string>
}

/** For one test. There are no controllers and no nodes: what is applied is admitted and kept, and nothing comes of it. */
export async function startApiServer(): Promise<ApiServer> {
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
  const [signing, verifying, tokens] = ['sa.key', 'sa.pub', 'tokens.csv'].map(name => join(folder, name)) as [string, string, string]
  const token = randomBytes(16).toString('hex')
  writeFileSync(signing, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(verifying, publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(tokens, `${token},admin,admin,system:masters\n`)
  start('kube-apiserver', [
    ...[
      `--etcd-servers=http://127.0.0.1:${client}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, 'certs')}`,
    ],
    ...['--authorization-mode=RBAC', `--token-auth-file=${tokens}`, '--service-cluster-ip-range=10.0.0.0/24'],
    ...['--service-account-issuer=https://kubernetes.default.svc', `--service-account-key-file=${verifying}`],
    ...[`--service-account-signing-key-file=${signing}`, '--endpoint-reconciler-type=none'],
  ])
  const kubectl = async (args: string[]) => {
    const server = [`--server=https://127.0.0.1:${port}`, `--token=${token}`, '--insecure-skip-tls-verify']
    const { stdout } = await run(assetOf('kubectl') ?? '', [...server, ...args], { env: { HOME: home }, maxBuffer: 2 ** 24 })
    return stdout
  }
  await vi.waitFor(() => kubectl(['get', '--raw', '/readyz']), { timeout: 120_000, interval: 500 })
  // The namespace of that name is made a moment after the server is ready.
  await vi.waitFor(() => kubectl(['get', 'namespace', 'default']), { timeout: 60_000, interval: 500 })
  return { host: '127.0.0.1', port, ca: readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8'), kubectl }
}

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
