/**
 * The programs of a lab node: the small tools of this machine that read, reckon and move files, and stand-ins for what speaks with daemons. There are no
 * others on its PATH, so a script that keeps to HIGHWATER_ROOT opens no connection and changes nothing of this machine.
 */
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAsset } from '#asset.ts'
import type { Machine } from './machine.ts'

/** Coreutils, findutils, and the like. */
const everyday = [
  ...[
    'awk',
    'base64',
    'cat',
    'chmod',
    'chown',
    'date',
    'find',
    'getconf',
    'grep',
    'gzip',
    'head',
    'iconv',
    'id',
    'ln',
    'mkdir',
    'mktemp',
    'mv',
    'rm',
    'sed',
  ],
  ...['sh', 'sha256sum', 'sleep', 'sort', 'stat', 'timeout', 'tr', 'true', 'wc'],
]

const standIns: Record<Machine['programs'], readonly string[]> = {
  host: [
    'crictl',
    'ctr',
    'curl',
    'df',
    'du',
    'findmnt',
    'journalctl',
    'logrotate',
    'nodeadm',
    'nproc',
    'sync',
    'systemctl',
  ],
  'control-container': ['apiclient', 'df', 'sync'],
}

const folders = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
]

/** Where this machine has the program; null: it does not. */
export const systemProgram = (name: string): string | null =>
  folders.map(folder => join(folder, name)).find(path => existsSync(path)) ?? null

/** @param find where the real ones are; null: this node does not have that one */
export function writeBin(
  folder: string,
  find: (name: string) => string | null,
  scripts: Readonly<Record<string, string>>,
): void {
  mkdirSync(folder)
  for (const name of everyday) {
    const real = name in scripts ? null : find(name)
    if (real !== null) symlinkSync(real, join(folder, name))
  }
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), script)
    chmodSync(join(folder, name), 0o755)
  }
}

export const standInsOf = (programs: Machine['programs']): Record<string, string> =>
  Object.fromEntries(
    standIns[programs].map(name => [name, readAsset(`lab/machines/stand-ins/${name}.sh`)]),
  )
