/** Changes of configuration files, each in a folder: what stops them, on which line, or nothing. */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GateDocument } from '#model/gate.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type GateText, gate } from '#pipeline/gate/gate.ts'
import { temporaryFolder } from './cli.ts'
import { gateWorld } from './gate-world.ts'

export interface GateChange {
  verdict: 'bad' | 'good'
  name: string
  group?: string
  /** Of a bad change: what stops it. */
  file?: string
  line?: number
  kind?: string
  text?: string
}

const folder = new URL('../pipeline/gate/changes/', import.meta.url).pathname

export const gateChanges: readonly GateChange[] = JSON.parse(
  readFileSync(join(folder, 'table.json'), 'utf8'),
)

/** A snapshot of the fleet that changes are tried on. */
export const gateSnapshot = (times = 1): string => snapshotOf(gateWorld(times))

/** One node of each group, where no nodes are counted. */
export const briefSnapshot = (): string =>
  snapshotOf(gateWorld().filter(line => !/"name":"[a-z]+-[1-9]"/.test(line)))

/** @param lines of a snapshot */
export function snapshotOf(lines: readonly string[]): string {
  const path = join(temporaryFolder(), 'snapshot.ndjson')
  writeFileSync(path, lines.join('\n'))
  return path
}

/** The files of a change, by their path in its folder. */
export function changedTexts({ verdict, name }: GateChange): GateText[] {
  const home = join(folder, verdict, name)
  const read = (file: string) => readFileSync(join(home, file), 'utf8')
  return globSync('**/*.*', { cwd: home })
    .filter(file => !file.startsWith('base/') && !file.endsWith('.d'))
    .sort()
    .map(file => ({
      file,
      text: read(file),
      base: hasBase({ verdict, name }) ? read(`base/${file}`) : null,
    }))
}

export const hasBase = ({ verdict, name }: Pick<GateChange, 'verdict' | 'name'>): boolean =>
  existsSync(join(folder, verdict, name, 'base'))

export const gated = (
  snapshot: string,
  texts: readonly GateText[],
  options: { group?: string | undefined; hasBase?: boolean } = {},
): Promise<GateDocument> =>
  gate(snapshot, {
    texts,
    groups: options.group === undefined ? [] : [{ file: null, group: options.group }],
    hasBase: options.hasBase ?? false,
    selection: everything,
    policy: defaultPolicy,
    version: '0.1.0',
  })
