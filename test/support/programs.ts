/** Programs of others, as a test starts them where somebody has them: in KUBEBUILDER_ASSETS, as controller-runtime's tests take theirs, or on the PATH. */
import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'

/** Far above what a slow machine needs. */
const startMs = 120_000

/** Its path; null: it is not here. */
export function findProgram(name: string): string | null {
  const folders = [
    process.env.KUBEBUILDER_ASSETS ?? '',
    ...(process.env.PATH ?? '').split(delimiter),
  ].filter(folder => folder !== '')
  return folders.map(folder => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** What it said last stays with it. */
export type Started = ChildProcess & { said?: string }

export function started(
  program: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Started {
  const child: Started = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...more },
  })
  child.stderr?.on('data', chunk => {
    child.said = `${child.said ?? ''}${chunk}`.slice(-4000)
  })
  return child
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise(done => child.once('close', done))
  child.kill('SIGKILL')
  await closed
}

/** @throws Error when one of the programs has ended, or the time is over */
export async function until(
  isSo: () => Promise<boolean>,
  children: readonly Started[],
): Promise<void> {
  for (const deadline = performance.now() + startMs; ; ) {
    const gone = children.find(
      ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null,
    )
    if (gone)
      throw new Error(
        `${gone.spawnfile} ended with ${gone.exitCode ?? gone.signalCode}: ${gone.said}`,
      )
    if (await isSo().catch(() => false)) return
    if (performance.now() > deadline)
      throw new Error(`not up after ${startMs / 1000} s: ${children.at(-1)?.said}`)
    await new Promise(done => setTimeout(done, 200))
  }
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports: number[] = []
  for (const server of servers) {
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    const address = server.address()
    ports.push(typeof address === 'object' && address ? address.port : 0)
  }
  for (const server of servers) await new Promise(done => server.close(done))
  return ports
}
