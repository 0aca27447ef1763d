/** A container builder of this machine, and images made without a registry. */
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { assetOf } from './api-server.ts'

const run = promisify(execFile)

/** Options of `docker run` that the documents name. */
export const locked =
  '--rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges'

export type Builder = (...args: string[]) => Promise<string>

/** docker or podman, if it works here; else null. */
export function builderOf(): Builder | null {
  const runc = assetOf('runc')
  const podman = runc === null ? [] : ['--runtime', runc]
  for (const [name, ...first] of [['docker'], ['podman', ...podman]] as const) {
    try {
      execFileSync(name, ['info'], { stdio: 'ignore', timeout: 20_000 })
    } catch {
      continue
    }
    return async (...args) =>
      (await run(name, [...first, ...args], { timeout: 120_000, maxBuffer: 2 ** 24 })).stdout
  }
  return null
}

/** A folder with this machine's Node and the libraries that it loads, and with nothing else. */
export async function nodeFolder(root: string): Promise<void> {
  const node = realpathSync(process.execPath)
  const { stdout } = await run('ldd', [node])
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)
  for (const [from, to] of [[node, '/usr/bin/node'], ...libraries.map(path => [path, path])]) {
    mkdirSync(join(root, dirname(to!)), { recursive: true })
    cpSync(realpathSync(from!), join(root, to!))
  }
  mkdirSync(join(root, 'tmp'))
  chmodSync(join(root, 'tmp'), 0o1777)
}
