/** A lab whose nodes are changed by the commands of the terminal, and what is true of its nodes afterwards: read through the API server and from their disks. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lab, type SentCommand, startLab } from '#lab/lab.ts'
import {
  type RemediationNode,
  type RemediationOptions,
  remediationNodes,
  remediationScenario,
} from '#lab/scenarios/remediation.ts'
import type { Plan, PlanStep, RemediationRun } from '#model/plan.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import type { Run } from './cli.ts'

/** Runs `highwater ARGS` against a lab. */
export type Terminal = (args: string[], lab: Lab) => Promise<Run>

/** By path in its folder: the SHA-256 of each file of its configuration. */
export type Disk = Readonly<Record<string, string>>

const settings = [
  '--set',
  'imageGCHighThresholdPercent=70',
  '--set',
  'imageGCLowThresholdPercent=50',
]

export class RemediationLab {
  readonly lab: Lab
  readonly nodes: ReadonlyMap<string, RemediationNode>
  readonly #folder: string
  readonly #terminal: Terminal

  private constructor(lab: Lab, nodes: number, folder: string, terminal: Terminal) {
    this.lab = lab
    this.nodes = new Map(
      remediationNodes(nodes).map(node => [`${node.cluster}/${node.name}`, node]),
    )
    this.#folder = folder
    this.#terminal = terminal
  }

  /** With a folder of its own for plans, approvals and the journal. */
  static async start(
    options: RemediationOptions,
    remediation: Readonly<Record<string, unknown>>,
    terminal: Terminal,
  ): Promise<RemediationLab> {
    const folder = mkdtempSync(join(tmpdir(), 'highwater-remediation-'))
    const lab = await startLab(remediationScenario(options), { documents: deployedDocuments() })
    const pace = {
      requestsPerSecond: 1000,
      concurrency: 20,
      clusters: 4,
      ssmRequestsPerSecond: 100,
    }
    const policy = {
      modes: [{ match: {}, mode: 'both' }],
      pace,
      remediation: { pauseMs: 0, leaseTtlMs: 15_000, verifyTimeoutMs: 120_000, ...remediation },
    }
    // JSON is YAML.
    writeFileSync(join(folder, 'highwater.yaml'), JSON.stringify(policy))
    return new RemediationLab(lab, options.nodes ?? 60, folder, terminal)
  }

  async close(): Promise<void> {
    await this.lab.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** A file in its folder; without a name the folder. */
  at(name = ''): string {
    return join(this.#folder, name)
  }

  run(...args: string[]): Promise<Run> {
    return this.#terminal([...args, '--policy', this.at('highwater.yaml')], this.lab)
  }

  /** 70/50 on all nodes, or on those that are named. @throws Error when there is none */
  async plan(name = 'plan', ...more: string[]): Promise<{ plan: Plan; said: Run }> {
    const out = this.at(`${name}.json`)
    const said = await this.run('plan', '--out', out, ...settings, ...more)
    if (said.code !== 0 && said.code !== 3) throw new Error(`no plan was made: ${said.stderr}`)
    return { plan: JSON.parse(readFileSync(out, 'utf8')), said }
  }

  approve({ digest }: Plan, name = 'plan'): Promise<Run> {
    return this.#terminal(
      ['approve', this.at(`${name}.json`), '--digest', digest, '--by', 'Ada Lovelace'],
      this.lab,
    )
  }

  apply(name = 'plan', ...more: string[]): Promise<Run> {
    const approval = this.at(`${name}.approval.json`)
    return this.run(
      'apply',
      this.at(`${name}.json`),
      '--approval',
      approval,
      '--store',
      this.at('store'),
      '--format',
      'json',
      ...more,
    )
  }

  rollback({ id }: Plan): Promise<Run> {
    return this.run('rollback', id, '--store', this.at('store'), '--format', 'json')
  }

  /** Those that may change something. */
  changes(): SentCommand[] {
    return this.lab.commands().filter(({ document }) => !document.startsWith('Highwater-Inspect'))
  }

  /** @throws Error where nothing has run on it */
  diskOf({ instanceId }: Pick<RemediationNode, 'instanceId'>): Disk {
    const base = this.#baseOf(instanceId)
    const settingsFile = join(base, 'answers', 'apiclient.settings.kubernetes.json')
    const found = [join(base, 'root', 'etc'), join(base, 'host', 'etc')].flatMap(filesIn)
    return Object.fromEntries([...found, settingsFile].flatMap(path => hashed(base, path)))
  }

  /** How often its kubelet was started since the lab began. */
  startsOf({ instanceId }: Pick<RemediationNode, 'instanceId'>): number {
    const start = textOf(join(this.#baseOf(instanceId), 'start.json'))
    return start === null ? 0 : (JSON.parse(start) as { number: number }).number - 1
  }

  /** Which file each of its configuration and of the run's own notes is, and when it was written last: a run that does nothing leaves all of it. */
  stampsOf({ instanceId }: Pick<RemediationNode, 'instanceId'>): Disk {
    const base = this.#baseOf(instanceId)
    const found = [
      join(base, 'root', 'etc'),
      join(base, 'host', 'etc'),
      join(base, 'root', 'var/lib/highwater'),
    ].flatMap(filesIn)
    return Object.fromEntries(found.map(path => [path.slice(base.length), stampOf(path)]))
  }

  #baseOf(instanceId: string): string {
    const machine = this.lab.machineOf(instanceId)
    if (machine === null) throw new Error(`nothing has run on ${instanceId}`)
    return join(machine.root, '..')
  }
}

/** The last JSON document of what a command printed. @throws Error that holds all of what it said */
export function runOf({ code, stdout, stderr }: Run): RemediationRun {
  if (!stdout.startsWith('{')) throw new Error(`the command ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

const documents: Readonly<Record<string, string>> = {
  bottlerocket: 'Highwater-ApplyBottlerocket',
  'sync-file': 'Highwater-SyncFile',
}

/** What SSM has to be given for a step, byte by byte; its content is compared unpacked. */
export const shownOf = (step: PlanStep) => ({
  document: documents[step.method] ?? 'Highwater-ApplyKubeletConfig',
  instanceId: step.instanceId,
  OldSha256: step.oldSha256,
  NewSha256: step.newSha256,
  content: step.content,
  ...(step.method !== 'bottlerocket' && { Method: step.method, Path: step.path }),
})

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function stampOf(path: string): string {
  const { ino, mtimeMs, size } = statSync(path)
  return `${ino} ${mtimeMs} ${size}`
}

function hashed(base: string, path: string): [string, string][] {
  const text = textOf(path)
  return text === null
    ? []
    : [[path.slice(base.length), createHash('sha256').update(text).digest('hex')]]
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
