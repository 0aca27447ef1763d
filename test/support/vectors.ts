/** Upstream's own answers, as they lie in test/vectors/: a folder a version, a file a family. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface VectorFile {
  family: string
  version: string
  cases: { name: string; input: unknown; expected: unknown }[]
}

export function vectorFiles(): VectorFile[] {
  const root = fileURLToPath(new URL('../vectors/', import.meta.url))
  return globSync('*/*.json', { cwd: root })
    .filter(file => basename(file) !== 'index.json')
    .sort()
    .map(file => ({
      family: basename(file, '.json'),
      version: dirname(file),
      cases: JSON.parse(readFileSync(`${root}${file}`, 'utf8')) as VectorFile['cases'],
    }))
}
