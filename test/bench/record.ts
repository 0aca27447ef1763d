/** Keeps the rows of a part in docs/benchmarks.md: its section is replaced, the others stay. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { Row } from './measure.ts'

/** What a part has to reach. */
export interface Target {
  what: string
  /** As measured. */
  figure: string
  isMet: boolean
  /** Why it is not met, and the next step. */
  otherwise: string
}

const path = 'docs/benchmarks.md'
const head = `# How fast is highwater, and how much memory does it take?

Each section is written by \`npm run bench -- PART --record\`, and holds medians of one machine. CPU time and memory compare better than wall
time, because other programs share the machine.
`

export function record(part: string, rows: readonly Row[], targets: readonly Target[]): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : head
  const [start, ...sections] = before.split(/\n(?=## )/)
  const others = sections.filter(section => !section.startsWith(`## ${part}\n`))
  const all = [...others, sectionOf(part, rows, targets)].toSorted()
  writeFileSync(
    path,
    [start?.trimEnd(), ...all.map(section => section.trim())].join('\n\n').concat('\n'),
  )
}

function sectionOf(part: string, rows: readonly Row[], targets: readonly Target[]): string {
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${gibibytes(totalmem())} GiB`
  const date = new Date().toISOString().slice(0, 10)
  const lines = [
    `## ${part}`,
    '',
    `${date}, Node ${process.version}, ${machine}.`,
    '',
    '| name | count | runs | wall s | CPU s | peak MiB | requests | body MB |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.map(rowText),
    ...(targets.length > 0 ? ['', '| target | measured | |', '|---|---:|---|'] : []),
    ...targets.map(
      ({ what, figure, isMet, otherwise }) =>
        `| ${what} | ${figure} | ${isMet ? 'met' : `not met: ${otherwise}`} |`,
    ),
  ]
  return lines.join('\n')
}

const rowText = ({ name, nodes, runs, wallMs, cpuMs, peakRssBytes, requests, bodyBytes }: Row) =>
  `| ${[
    name,
    nodes,
    runs,
    (wallMs / 1000).toFixed(2),
    (cpuMs / 1000).toFixed(2),
    peakRssBytes === 0 ? '' : Math.round(peakRssBytes / 2 ** 20),
    requests,
    (bodyBytes / 1e6).toFixed(1),
  ].join(' | ')} |`

const gibibytes = (bytes: number) => Math.round(bytes / 2 ** 30)
