/** `docs/holders.md`: what can hold a disk of a node, who writes it, what frees it, and who acts. */

import { type HolderFacts, holders } from '#facts/holders.ts'
import { english } from '#report/languages/language.ts'

const acts: Record<HolderFacts['notFreedBy'][number] | HolderFacts['freedBy'], string> = {
  'image-gc': 'image GC',
  'image-deletion': 'the deletion of its image',
  'container-gc': 'container GC',
  'pod-deletion': 'the deletion of its pods',
  'process-end': 'the end of the process',
  restart: 'a restart',
  nothing: 'nothing',
}

const actors: Record<HolderFacts['actor'], string> = {
  platform: 'who runs the nodes',
  owner: 'who runs the workload',
  vendor: 'who makes the image or the runtime',
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

export function holdersDocument(): string {
  const columns = ['holder', 'what it is', 'written by', 'freed by', 'not freed by', 'who acts']
  const rows = Object.entries(holders).map(([id, one]) => [
    `\`${id}\``,
    one.what,
    one.writer,
    acts[one.freedBy],
    one.notFreedBy.map(act => acts[act]).join(', ') || 'unknown',
    `${actors[one.actor]}: ${one.steps.map(step => `\`${step}\``).join(', ')}`,
    one.source,
  ])
  const all = [...columns, 'source']
  return [
    '# What can hold a disk of a node?',
    '',
    '`npm run docs` writes this page from the table of holders (`src/facts/holders.ts`). The page, the terminal and `highwater predict` name',
    'a holder by its line in a ledger, such as',
    `*${english.words.ledger.holders['leftover-snapshots']}*. A restart is that of the container, the kubelet or the runtime.`,
    '',
    row(all),
    row(all.map(() => '---')),
    ...rows.map(row),
    '',
  ].join('\n')
}
