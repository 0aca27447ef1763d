/** What lies beside a machine's root folder when it stands: what its stand-ins need to start its kubelet anew, and the programs of its fault. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programUrl } from '#asset.ts'
import { systemProgram } from './bin.ts'
import { faultyTools } from './faulty-tools.ts'
import type { Machine } from './machine.ts'
import type { Installed } from './start.ts'

/** @param aheadMs how far the lab's clock is ahead of this machine's */
export function install(
  folder: string,
  { kubelet, nodeadm, running, fault, programs }: Machine,
  aheadMs: number,
): void {
  if (fault?.kind === 'disk-full' && fault.from === 'start') writeFileSync(join(folder, 'full'), '')
  if (!kubelet) return
  const clockAheadMs = aheadMs + (fault?.kind === 'clock-skew' ? fault.byMs : 0)
  const installed: Installed = {
    kubelet,
    nodeadm: nodeadm ?? null,
    fault: fault ?? null,
    clockAheadMs,
    host: programs === 'host' ? 'root' : 'host',
  }
  writeFileSync(join(folder, 'installed.json'), JSON.stringify(installed))
  writeFileSync(join(folder, 'first.json'), JSON.stringify(running))
  writeFileSync(join(folder, 'unit'), `${kubelet.unit}\n`)
  const program = join(folder, 'run')
  const sources = fileURLToPath(programUrl('lab/machines/programs/$program'))
  const cache = getCompileCacheDir() ?? ''
  writeFileSync(
    program,
    `#!/bin/sh\nprogram=$1\nshift\nNODE_COMPILE_CACHE='${cache}' exec '${process.execPath}' "${sources}" '${folder}' "$@"\n`,
  )
  chmodSync(program, 0o755)
}

/** @param bin its ordinary programs @returns those that its fault puts before them */
export function ownBin(folder: string, bin: string, { fault, programs }: Machine): string {
  const own = join(folder, 'bin')
  mkdirSync(own)
  for (const [name, script] of Object.entries(
    fault ? faultyTools(fault, folder, bin, systemProgram) : {},
  )) {
    // What this kind of node does not have, its fault does not bring.
    if (!existsSync(join(bin, name))) continue
    // The agent's container is no place where the swap is.
    if (name === 'mv' && programs === 'control-container') continue
    writeFileSync(join(own, name), script)
    chmodSync(join(own, name), 0o755)
  }
  return own
}
