/** How long a function and the command line take to start, beside a Node that does nothing; and how large each function's archive is. */
import { statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packageService } from '#test/packaged.ts'
import type { Part } from '../main.ts'
import { median, type Row } from '../measure.ts'
import { measuredProcess } from '../measured-process.ts'
import { packedProgram } from '../packed-program.ts'
import type { Target } from '../record.ts'
import { auditOnce } from './audit.ts'

const functions = ['audit', 'auditShard', 'discover', 'publish', 'remediate']
const commands = [['--version'], ['--help'], ['explain']]
const nothing = 'node -e 0'
const emptyHandler = 'an empty handler'
const fewNodes = 8
const smallAudit = `audit of ${fewNodes} nodes`
const mostAudits = 5
const mostOfSmallAudit = { cpuMs: 450, mebibytes: 110 }
const mostMsAbove = 150
const mostBytes = 2 ** 20
const tooSlow =
  'V8 spends half of it on compiling the bundle; next: load languages, templates and yaml when they are used'

export const startPart: Part = {
  name: 'start',
  nodes: 1,
  runs: 11,
  targets: startTargets,

  async run(_nodes, _say, { runs = 11 }) {
    const packaged = await packageService()
    const program = packedProgram()
    const empty = join(packaged.bundles, 'empty.cjs')
    writeFileSync(empty, 'exports.handler = async () => undefined')
    const bundles = functions.map(name => join(packaged.bundles, `${name}.cjs`))
    const starts = [
      { name: nothing, args: ['node', '-e', '0'], bodyBytes: 0 },
      { name: emptyHandler, args: importOf(empty), bodyBytes: 0 },
      ...bundles.map(bundle => {
        const name = basename(bundle, '.cjs')
        const { size } = statSync(join(packaged.archives, `${name}.zip`))
        return { name: `import of ${name}`, args: importOf(bundle), bodyBytes: size }
      }),
      ...commands.map(args => ({
        name: `highwater ${args.join(' ')}`,
        args: [...program, ...args],
        bodyBytes: 0,
      })),
    ]
    try {
      const smallAudits: Row[] = []
      for (let run = 0; run < Math.min(runs, mostAudits); run++)
        smallAudits.push(await auditOnce(fewNodes, program))
      const samples = starts.map(() => [] as Awaited<ReturnType<typeof measuredProcess>>[])
      for (let run = 0; run < runs; run++)
        for (const [index, { args }] of starts.entries())
          samples[index]?.push(await measuredProcess(args))
      const ofStarts = starts.map(({ name, bodyBytes }, index): Row => {
        const of = (key: 'wallMs' | 'cpuMs' | 'peakRssBytes') =>
          median((samples[index] ?? []).map(sample => sample[key]))
        return {
          ...{ name, nodes: 1, runs, requests: 0, bodyBytes },
          ...{ wallMs: of('wallMs'), cpuMs: of('cpuMs'), peakRssBytes: of('peakRssBytes') },
        }
      })
      const middle = (key: 'wallMs' | 'cpuMs' | 'peakRssBytes') =>
        median(smallAudits.map(row => row[key]))
      const small: Row = {
        ...(smallAudits[0] as Row),
        ...{ name: smallAudit, runs: smallAudits.length },
        ...{
          wallMs: middle('wallMs'),
          cpuMs: middle('cpuMs'),
          peakRssBytes: middle('peakRssBytes'),
        },
      }
      return [...ofStarts, small]
    } finally {
      packaged.remove()
    }
  },
}

const importOf = (bundle: string) => ['node', '-e', `require(${JSON.stringify(bundle)})`]

function startTargets(rows: readonly Row[]): Target[] {
  const wallOf = (name: string) => rows.find(row => row.name === name)?.wallMs ?? Number.NaN
  return rows.flatMap(({ name, wallMs, cpuMs, peakRssBytes, bodyBytes }): Target[] => {
    if (name === nothing || name === emptyHandler) return []
    if (name === smallAudit) return [smallAuditTarget(cpuMs, peakRssBytes / 2 ** 20, rows)]
    const base = name.startsWith('import of') ? emptyHandler : nothing
    const above = wallMs - wallOf(base)
    const start = {
      what: `${name} at most ${mostMsAbove} ms over ${base}`,
      figure: `${Math.round(above)} ms`,
      isMet: above <= mostMsAbove,
      otherwise: tooSlow,
    }
    if (bodyBytes === 0) return [start]
    const archive = {
      what: `${name}: archive at most 1 MB`,
      figure: `${(bodyBytes / 1e6).toFixed(2)} MB`,
      isMet: bodyBytes <= mostBytes,
      otherwise: 'the bundle holds what the function does not call; next: split it',
    }
    return [start, archive]
  })
}

function smallAuditTarget(cpuMs: number, mebibytes: number, rows: readonly Row[]): Target {
  const most = mostOfSmallAudit
  const secondsOf = (name: string) =>
    ((rows.find(row => row.name === name)?.cpuMs ?? Number.NaN) / 1000).toFixed(2)
  return {
    what: `${smallAudit} at most ${most.cpuMs / 1000} s of CPU and ${most.mebibytes} MiB`,
    figure: `${(cpuMs / 1000).toFixed(2)} s, ${Math.round(mebibytes)} MiB`,
    isMet: cpuMs <= most.cpuMs && mebibytes <= most.mebibytes,
    otherwise: `\`${nothing}\` takes ${secondsOf(nothing)} s and \`highwater --version\` ${secondsOf('highwater --version')} s; the rest reads certificates, opens TLS, and compiles what judges and writes the first report`,
  }
}
