/** What lies beside a lab node's root folder: the state of its daemons, where no script of a document looks. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Installed, KubeletStart } from '#lab/machines/start.ts'

export const installedIn = (node: string): Installed =>
  JSON.parse(readFileSync(join(node, 'installed.json'), 'utf8'))

/** Null: its kubelet has not been started anew. */
export function lastStart(node: string): KubeletStart | null {
  try {
    return JSON.parse(readFileSync(join(node, 'start.json'), 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** Whole or not at all: the lab reads while a node's programs write. */
export function replace(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}
