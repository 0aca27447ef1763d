/**
 * Builds the peer. The unmodified files of upstream's pkg/kubelet/eviction and pkg/kubelet/images are copied, out of Go's module cache, into a
 * module of our own, each with one file of ours beside them: what is asked of them is not exported. All else of Kubernetes is imported.
 *
 * Go verifies every module by its checksum. The module lies in the temporary directory while it is built, and the program in the user's cache
 * directory, where the next run finds it. Nothing is written into this repository.
 */
import { type ExecFileException, execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const buildTimeoutMs = 600_000
const sources = import.meta.dirname
/** Of pkg/kubelet. */
const packages = ['eviction', 'images']

/** @returns the path of the program; it is made where there is none of these sources, this version and this Go */
export async function builtProgram(
  version: string,
  report: (line: string) => void,
): Promise<string> {
  const goVersion = await go(['version'])
  const folder = join(cacheFolder(), 'highwater', `upstream-${version}`)
  const program = join(folder, `replay-${await digestOf(version, goVersion)}`)
  if (await exists(program)) return program

  report(
    `upstream: fetching and building Kubernetes ${version} with ${goVersion.trim()}, some minutes the first time`,
  )
  const module = await mkdtemp(join(tmpdir(), 'highwater-upstream-'))
  try {
    const options = { cwd: module, signal: AbortSignal.timeout(buildTimeoutMs) }
    await writeModule(module, await downloaded(version, options), version)
    await go(['build', '-trimpath', '-ldflags=-s -w', '-o', join(module, 'replay'), '.'], options)
    // Programs of earlier sources are large, and of no more use.
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    // The two folders may lie on different disks, and nobody shall run half a program.
    await copyFile(join(module, 'replay'), `${program}.part`)
    await rename(`${program}.part`, program)
  } finally {
    await rm(module, { recursive: true, force: true })
  }
  return program
}

/** @returns the folder of the module in Go's module cache, where every file is read-only */
async function downloaded(version: string, options: GoOptions): Promise<string> {
  await go(['mod', 'download', `k8s.io/kubernetes@${version}`], options)
  return (
    await go(['list', '-m', '-f', '{{.Dir}}', `k8s.io/kubernetes@${version}`], options)
  ).trim()
}

async function writeModule(folder: string, upstream: string, version: string): Promise<void> {
  await writeFile(
    join(folder, 'go.mod'),
    moduleOf(await readFile(join(upstream, 'go.mod'), 'utf8'), version),
  )
  // Without it Go would ask the checksum database for each module.
  await writeFile(join(folder, 'go.sum'), await readFile(join(upstream, 'go.sum')))
  await copyGo(sources, folder)
  for (const name of packages) {
    await mkdir(join(folder, name))
    await copyGo(join(upstream, 'pkg/kubelet', name), join(folder, name))
    await copyGo(join(sources, name), join(folder, name))
  }
}

/**
 * Upstream's go.mod, which names every version it is built with, made ours. Its own components are required there as v0.0.0 and replaced by
 * folders that the module does not hold; they are published as v0.34.4 for v1.34.4.
 */
function moduleOf(upstream: string, version: string): string {
  const published = version.replace(/^v1/, 'v0')
  const ownComponents = [...upstream.matchAll(/^\s+(k8s\.io\/[a-z-]+) v0\.0\.0$/gm)].map(
    ([, path]) => path,
  )
  return [
    upstream
      .replace(/^module .*$/m, 'module highwater.local/upstream')
      .replace(/^replace \([^)]*\)$/m, '')
      .replace(/^(\s+k8s\.io\/[a-z-]+) v0\.0\.0$/gm, `$1 ${published}`),
    `require k8s.io/kubernetes ${version}`,
    ...ownComponents.map(path => `replace ${path} => ${path} ${published}`),
    '',
  ].join('\n')
}

async function copyGo(from: string, to: string): Promise<void> {
  for (const name of await goFiles(from)) await copyFile(join(from, name), join(to, name))
}

const goFiles = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter(name => name.endsWith('.go') && !name.endsWith('_test.go')).sort()

interface GoOptions {
  cwd?: string
  signal?: AbortSignal
}

/** @returns what it prints */
async function go(args: string[], options: GoOptions = {}): Promise<string> {
  const env = {
    ...process.env,
    GOFLAGS: '-mod=mod -buildvcs=false',
    GOWORK: 'off',
    CGO_ENABLED: '0',
  }
  try {
    return (await promisify(execFile)('go', args, { ...options, env, maxBuffer: 2 ** 26 })).stdout
  } catch (error) {
    throw new Error(reasonOf(error as ExecFileException), { cause: error })
  }
}

/** The first line that is no heading and no progress. */
function reasonOf(error: ExecFileException): string {
  if (error.code === 'ENOENT') return 'no `go` on the PATH'
  if (error.name === 'AbortError')
    return `the build took longer than ${buildTimeoutMs / 60_000} minutes`
  const lines = (error.stderr || error.message).split('\n').map(line => line.trim())
  return (
    lines.find(
      line => line !== '' && !/^(#|go: (downloading|finding|added|upgraded) )/.test(line),
    ) ?? error.name
  )
}

/** Of all that the program is made of and by. */
async function digestOf(...inputs: string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(inputs))
  for (const folder of ['.', ...packages]) {
    for (const name of await goFiles(join(sources, folder)))
      hash.update(await readFile(join(sources, folder, name)))
  }
  return hash
    .update(await readFile(import.meta.filename))
    .digest('hex')
    .slice(0, 12)
}

function cacheFolder(): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library/Caches')
  return process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
