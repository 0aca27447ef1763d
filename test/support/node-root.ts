/** A pretend node: a root folder, and a PATH of its own in which programs can be missing or be stand-ins. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeBin } from '#lab/machines/bin.ts'
import { writeRoot } from '#lab/machines/root.ts'
import { applyDocuments, documents, scriptOf } from '#remediate/scripts/documents.ts'
import { temporaryFolder } from './cli.ts'
import { isSlow } from './slow.ts'

export interface NodeRoot {
  /** By path; what is told as a Buffer is written as it is. */
  files: Record<string, string | Buffer>
  links?: Record<string, string>
  folders?: string[]
  /** By name: what a stand-in runs. */
  tools?: Record<string, string>
  /** Programs that this node does not have. */
  missing?: string[]
  environment?: Record<string, string>
  /** Of the processor, in tenths of a second, in place of what the script allows. */
  allCpu?: number
}

export interface Run {
  stdout: string
  stderr: string
  status: number | null
  root: string
}

const writtenAt = new Date('2026-11-20T12:00:00Z')

export const which = (name: string): string | null =>
  (process.env.PATH ?? '')
    .split(':')
    .concat(['/usr/bin', '/bin', '/usr/sbin', '/sbin'])
    .map(folder => join(folder, name))
    .find(path => existsSync(path)) ?? null

/** The scripts as the documents have them. */
export function scriptNamed(name: string): string {
  const document = [...documents, ...applyDocuments].find(known => known.name === name)
  if (document === undefined) throw new Error(`there is no document ${name}`)
  return scriptOf(document)
}

export function stand(
  { files, links = {}, folders = [], tools = {}, missing = [] }: NodeRoot,
  platform: Platform,
): { root: string; path: string } {
  const folder = temporaryFolder()
  const root = join(folder, 'root')
  const path = join(folder, 'bin')
  writeRoot(root, { files, links, folders: ['proc', ...folders] }, writtenAt)
  const scripts = Object.entries(tools).filter(([name]) => !missing.includes(name))
  writeBin(
    path,
    name => (missing.includes(name) ? null : platform.programs(name)),
    Object.fromEntries(scripts.map(([name, script]) => [name, `#!/bin/sh\n${script}\n`])),
  )
  return { root, path }
}

export interface Platform {
  name: string
  shell: string[]
  programs: (name: string) => string | null
}

const applets = () =>
  execFileSync(which('busybox') ?? '', ['--list'], { encoding: 'utf8' }).split('\n')

/** The shells and the small tools that this machine has. */
export function platforms(): Platform[] {
  const found: Platform[] = []
  for (const shell of ['dash', 'bash']) {
    const real = which(shell)
    if (real === null) continue
    // As on Amazon Linux, and as on Ubuntu.
    const awk = shell === 'bash' ? which('gawk') : which('mawk')
    const programs = (name: string) => (name === 'awk' && awk !== null ? awk : which(name))
    found.push({ name: shell, shell: shell === 'bash' ? [real, '--posix'] : [real], programs })
  }
  const busybox = which('busybox')
  if (busybox !== null) {
    const known = new Set(applets())
    found.push({
      name: 'busybox',
      shell: [busybox, 'sh'],
      programs: name => (known.has(name) ? busybox : null),
    })
  }
  return found
}

/**
 * Every shell in `npm run test:slow`; otherwise the next one of them with each call, so that the tests of a file take all of them.
 *
 * @returns a function for the loop of a test
 */
export function shellsInTurn(): () => Platform[] {
  const all = platforms()
  let turn = 0
  return () => (isSlow ? all : all.slice(turn++ % all.length).slice(0, 1))
}

/** Runs it to its end. Its output is bytes from anywhere: read as UTF-8 with the wrong ones replaced. */
export function inspect(
  document: string,
  node: NodeRoot,
  platform: Platform,
  output = 'short',
): Run {
  const { root, path } = stand(node, platform)
  const script = join(dirname(path), 'script.sh')
  const text = scriptNamed(document)
  writeFileSync(
    script,
    node.allCpu === undefined ? text : text.replace(/^all_cpu=\d+$/gm, `all_cpu=${node.allCpu}`),
  )
  const [shell = 'sh', ...options] = platform.shell
  const { stdout, stderr, status } = spawnSync(shell, [...options, script], {
    env: {
      PATH: path,
      HIGHWATER_ROOT: root,
      HIGHWATER_OUTPUT: output,
      AWS_SSM_INSTANCE_ID: 'i-0123456789abcdef0',
      TMPDIR: dirname(path),
      ...node.environment,
    },
    cwd: dirname(path),
    maxBuffer: 64 * 1024 * 1024,
    timeout: 90_000,
  })
  return { stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8'), status, root }
}
