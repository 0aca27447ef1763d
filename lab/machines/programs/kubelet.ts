/**
 * Starts a lab node's kubelet anew: it reads its files and flags as they are now, checks them, and from then on `start.json` tells what it runs with.
 * Nothing stays running. Exit code 1: it has exited, and systemd will try again.
 *
 *   node kubelet.ts NODE
 */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RawObject } from '#base/raw-object.ts'
import { kubeletPid, processFiles, unitState } from '#lab/machines/process-files.ts'
import type { ChangeFault, Installed, InstalledKubelet, KubeletStart } from '#lab/machines/start.ts'
import { installedIn, lastStart, replace } from './beside.ts'
import { checkConfiguration } from './check-configuration.ts'
import { readConfiguration } from './read-configuration.ts'

const [node = ''] = process.argv.slice(2)
const installed = installedIn(node)
const root = join(node, installed.host)
const commandLine = commandLineOf(installed.kubelet)
const before = lastStart(node)
const start = startOf(before)
replace(join(node, 'start.json'), JSON.stringify(start))
showProcess(start, installed)
answer(start)
if (installed.fault?.kind === 'disk-full' && installed.fault.from === 'restart')
  writeFileSync(join(node, 'full'), '')
if (!start.isUp) process.exitCode = 1

function startOf(previous: KubeletStart | null): KubeletStart {
  const atMs = Date.now() + installed.clockAheadMs
  const begun = { number: (previous?.number ?? 1) + 1, atMs }
  try {
    const configuration = readConfiguration(root, commandLine, installed.kubelet)
    checkConfiguration(configuration)
    const isOther = !isDeepStrictEqual(configuration, firstConfiguration())
    const exits = exitsBy(installed.fault, isOther)
    if (exits !== null) throw new Error(exits)
    return {
      ...begun,
      isUp: true,
      isHealthy: !(installed.fault?.kind === 'sick' && isOther),
      why: null,
      downSinceMs: null,
      configuration,
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      ...begun,
      isUp: false,
      isHealthy: false,
      why,
      downSinceMs: previous?.downSinceMs ?? atMs,
      configuration: null,
    }
  }
}

function exitsBy(fault: ChangeFault | null, isOther: boolean): string | null {
  if (fault?.kind === 'never-up')
    return 'failed to run Kubelet: unable to determine runtime API version: rpc error: code = Unavailable'
  if (fault?.kind === 'only-old' && isOther)
    return 'failed to run Kubelet: failed to initialize top level QOS containers'
  return null
}

/** What its answers came to before anything was changed. */
function firstConfiguration(): RawObject {
  return JSON.parse(readFileSync(join(node, 'first.json'), 'utf8'))
}

/** Whatever stands before them, the flags of such a file begin after `ARGS=`. */
function commandLineOf({ command, environment }: InstalledKubelet): string[] {
  const given = environment.flatMap(path => {
    const place = join(root, path)
    if (!existsSync(place)) return []
    const [, flags = ''] = /ARGS=["']?([^"'\n]*)/.exec(readFileSync(place, 'utf8')) ?? []
    return flags.split(/\s+/).filter(Boolean)
  })
  return [...command, ...given]
}

function showProcess(
  { number, atMs, isUp, why }: KubeletStart,
  { kubelet, host }: Installed,
): void {
  const [, boot = '0'] = /^btime (\d+)/m.exec(readIfThere(join(root, 'proc/stat'))) ?? []
  const sinceBootMs = atMs - Number(boot) * 1000
  for (let pid = kubeletPid(1); pid < kubeletPid(number); pid++)
    rmSync(join(root, `proc/${pid}`), { recursive: true, force: true })
  if (host === 'root' && isUp)
    for (const [path, text] of Object.entries(
      processFiles(
        kubeletPid(number),
        `${kubelet.cgroup}${kubelet.unit}`,
        commandLine,
        sinceBootMs / 1000,
      ),
    ))
      replace(join(root, path), text)
  const unit = join(node, 'answers', `unit.${kubelet.unit}`)
  const lines = readIfThere(unit)
    .split('\n')
    .filter(
      line =>
        line !== '' &&
        !/^(ActiveState|SubState|MainPID|ExecMainStartTimestampMonotonic)=/.test(line),
    )
  replace(unit, `${[...lines, ...unitState(number, isUp, sinceBootMs)].join('\n')}\n`)
  if (why !== null)
    appendFileSync(
      join(node, 'answers', `journal.${kubelet.unit}`),
      `${new Date(atMs).toISOString().slice(0, 19)}+0000 kubelet[${kubeletPid(number)}]: E "command failed" err="${why}"\n`,
    )
}

/** What its own ports answer to root on the node. */
function answer({ isUp, isHealthy, configuration }: KubeletStart): void {
  const healthz = join(node, 'answers', 'healthz')
  const configz = join(node, 'answers', 'configz.json')
  rmSync(healthz, { force: true })
  rmSync(configz, { force: true })
  if (!isUp || configuration === null) return
  writeFileSync(healthz, `${String(configuration.healthzPort)} ${isHealthy ? 'ok' : 'sick'}\n`)
  // A node's certificate is a node's, and the webhook allows no node another kubelet's endpoints, nor its own.
  const { authorization } = configuration as { authorization?: { mode?: string } }
  if (authorization?.mode === 'AlwaysAllow')
    writeFileSync(configz, JSON.stringify({ kubeletconfig: configuration }))
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
