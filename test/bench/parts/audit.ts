/**
 * What an audit of a fleet costs beside the least that the same answers cost, and beside `kubectl` and `@kubernetes/client-node`. All read the
 * same server, one after the other, in rounds; the rows are medians. A fifth of the fleet is measured, too: what an audit costs at all, and what
 * each node adds, are told apart by two sizes.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServerStart, ServerUsage } from '../audit/fleet-server.ts'
import type { FloorWork } from '../audit/floor.ts'
import { summaryPath } from '../audit/paths.ts'
import { auditTargets } from '../audit/targets.ts'
import type { Part } from '../main.ts'
import { median, type Row } from '../measure.ts'
import { measuredAudit } from '../measured-audit.ts'
import { type Measured, measuredProcess } from '../measured-process.ts'
import { packedProgram } from '../packed-program.ts'

const concurrency = 32
const usualRuns = 5
const kubectlNodes = 200
const kubectlAtOnce = 16
const clientNodeNodes = 500
/** As fast as the policy allows; a busy machine is no server that does not answer. */
const policy = {
  pace: { requestsPerSecond: 10_000, concurrency },
  timeoutsMs: { list: 300_000, configz: 120_000, summary: 120_000 },
}
const programs = {
  server: fileURLToPath(import.meta.resolve('../audit/fleet-server.ts')),
  floor: fileURLToPath(import.meta.resolve('../audit/floor.ts')),
  clientNode: fileURLToPath(import.meta.resolve('../audit/client-node.ts')),
}

export const auditPart: Part = {
  name: 'audit',
  nodes: 5000,
  runs: usualRuns,
  targets: auditTargets,

  async run(nodes, say, { runs = usualRuns }) {
    const options = { program: packedProgram(), runs, say }
    const few = await auditRows(Math.ceil(nodes / 5), { ...options, hasPeers: false })
    return [...(await auditRows(nodes, { ...options, hasPeers: true })), ...few]
  },
}

interface AuditRowsOptions {
  /** The CLI's command. */
  program: readonly string[]
  /** Rounds, beside one audit that is not measured. */
  runs: number
  /** Also kubectl, where it is installed, and client-node. */
  hasPeers: boolean
  say(line: string): void
}

export async function auditRows(
  nodes: number,
  { program, runs, hasPeers, say }: AuditRowsOptions,
): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-bench-'))
  const fleet = await startServer(nodes, folder)
  try {
    const own = await ownContenders(fleet, program)
    const contenders = hasPeers ? [...own, ...(await peersOf(fleet, say))] : own
    const samples = new Map<string, Sample[]>()
    for (let round = 0; round < runs; round++)
      for (const contender of contenders) {
        const sample = await fleet.sample(contender)
        samples.set(contender.name, [...(samples.get(contender.name) ?? []), sample])
        say(sampleText(contender, sample))
      }
    return contenders.map(({ name, nodes: read }) => rowOf(name, read, samples.get(name) ?? []))
  } finally {
    fleet.server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface OnceOptions {
  pace?: { requestsPerSecond: number; concurrency: number }
  /** How long the kubelet of the first node takes for an answer. Then the time-outs are the policy's own. */
  slowMs?: number
}

/** One audit of a fleet, beside nothing else. */
export async function auditOnce(
  nodes: number,
  program: readonly string[],
  { pace = policy.pace, slowMs = 0 }: OnceOptions = {},
): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-bench-'))
  const fleet = await startServer(nodes, folder, slowMs)
  const { kubeconfig } = fleet
  const options = slowMs > 0 ? { pace } : { ...policy, pace }
  try {
    const name = `${nodes} nodes`
    const run = () => measuredAudit(program, {}, options, ['--kubeconfig', kubeconfig])
    return rowOf(name, nodes, [await fleet.sample({ name, nodes, run })])
  } finally {
    fleet.server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Contender {
  name: string
  nodes: number
  run(): Promise<Measured>
}

interface Sample extends Measured {
  server: ServerUsage
}

interface Fleet {
  server: ChildProcess
  names: readonly string[]
  folder: string
  kubeconfig: string
  connection: Pick<FloorWork, 'server' | 'ca' | 'token'>
  sample(contender: Contender): Promise<Sample>
}

async function startServer(nodes: number, folder: string, slowMs = 0): Promise<Fleet> {
  const server = fork(programs.server, [String(nodes), String(slowMs)])
  const [start]: [ServerStart] = await Promise.race([
    once(server, 'message') as Promise<[ServerStart]>,
    once(server, 'exit').then(([code]) => {
      throw new Error(`the server of the bench ended with ${code}`)
    }),
  ])
  const path = join(folder, 'kubeconfig')
  writeFileSync(path, start.kubeconfig)
  const [{ cluster }] = JSON.parse(start.kubeconfig).clusters
  const usage = async (): Promise<ServerUsage> => {
    server.send('usage')
    const [used] = await once(server, 'message')
    return used
  }
  return {
    server,
    names: start.names,
    folder,
    kubeconfig: path,
    connection: {
      server: cluster.server,
      ca: Buffer.from(cluster['certificate-authority-data'], 'base64').toString(),
      token: start.token,
    },
    async sample(contender) {
      await usage()
      const measured = await contender.run()
      return { ...measured, server: await usage() }
    },
  }
}

/** `collect` shows what an audit takes without replay, rules and report. The first audit is not measured: it shows which requests an audit makes, and fills the server's memory. */
async function ownContenders(fleet: Fleet, program: readonly string[]): Promise<Contender[]> {
  const { names, folder, kubeconfig, connection } = fleet
  const audit: Contender = {
    name: 'audit',
    nodes: names.length,
    run: () => measuredAudit(program, {}, policy, ['--kubeconfig', kubeconfig]),
  }
  const collect: Contender = {
    name: 'collect',
    nodes: names.length,
    run: () =>
      measuredProcess([...program, 'collect', '--kubeconfig', kubeconfig], {
        inFolder(home) {
          writeFileSync(join(home, 'highwater.yaml'), JSON.stringify(policy))
          return ['--out', join(home, 'snapshot.ndjson.gz')]
        },
      }),
  }
  const { server } = await fleet.sample(audit)
  const work: FloorWork = { ...connection, concurrency, requests: server.requests }
  const workFile = join(folder, 'floor.json')
  writeFileSync(workFile, JSON.stringify(work))
  const floor = ['node', programs.floor, workFile]
  return [audit, collect, { name: 'floor', nodes: names.length, run: () => measuredProcess(floor) }]
}

async function peersOf(fleet: Fleet, say: (line: string) => void): Promise<Contender[]> {
  const { names, folder, kubeconfig } = fleet
  const namesFile = join(folder, 'names.json')
  const few = names.slice(0, clientNodeNodes)
  writeFileSync(namesFile, JSON.stringify(few))
  const args = ['node', programs.clientNode, kubeconfig, String(concurrency), namesFile]
  const clientNode = { name: 'client-node', nodes: few.length, run: () => measuredProcess(args) }
  if (isThere('kubectl')) return [clientNode, kubectl(fleet)]
  say('kubectl is not installed here, so it is not measured')
  return [clientNode]
}

function kubectl({ names, kubeconfig, folder }: Fleet): Contender {
  const few = names.slice(0, kubectlNodes)
  const paths = join(folder, 'paths')
  writeFileSync(paths, `${few.map(summaryPath).join('\n')}\n`)
  const script = `xargs -P${kubectlAtOnce} -n1 kubectl --kubeconfig "$1" get --raw <"$2" >/dev/null`
  const command = ['bash', '-c', script, 'bash', kubeconfig, paths]
  return { name: 'kubectl', nodes: few.length, run: () => measuredProcess(command) }
}

function isThere(command: string): boolean {
  try {
    execFileSync(command, ['version', '--client'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const sampleText = ({ name, nodes }: Contender, { wallMs, cpuMs, peakRssBytes, server }: Sample) =>
  `${name} of ${nodes} nodes: ${seconds(wallMs)} s, ${seconds(cpuMs)} s of CPU beside ${seconds(server.cpuMs)} s of the server's, ` +
  `${Math.round(peakRssBytes / 2 ** 20)} MiB, ${server.requests.length} requests, ${server.failed} refused`

const seconds = (ms: number) => (ms / 1000).toFixed(2)

function rowOf(name: string, nodes: number, samples: readonly Sample[]): Row {
  const of = (value: (sample: Sample) => number) => median(samples.map(value))
  return {
    name,
    nodes,
    runs: samples.length,
    wallMs: of(({ wallMs }) => wallMs),
    cpuMs: of(({ cpuMs }) => cpuMs),
    peakRssBytes: of(({ peakRssBytes }) => peakRssBytes),
    requests: of(({ server }) => server.requests.length),
    bodyBytes: of(({ server }) => server.bodyBytes),
  }
}
