/**
 * What it costs to look through a cluster with 150,000 pods, 50,000 Jobs and 20,000 leases: the command line against a lab, as anybody starts it. Once
 * for its nodes alone, once for Jobs of nobody, once where next to nothing was ever collected. It fails where an audit holds more than its bound, or
 * asks for a page of a list that it has had.
 */
import { type Lab, startLab } from '#lab/lab.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { crowd, neglectedCrowd } from '../garbage/crowd.ts'
import { tooManyPages } from '../garbage/list-requests.ts'
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'
import { measuredAudit } from '../measured-audit.ts'
import { packedProgram } from '../packed-program.ts'

/** For each pod: a third of a Job, and of leases two fifteenths. */
const shares = { jobs: 1 / 3, leases: 2 / 15 }
/** A busy machine is no API server that hangs. The pace is everybody's: asked faster, more answers are there at once. */
const timeoutsMs = { list: 120_000, configz: 30_000, summary: 30_000, inspect: 120_000 }

export const clusterGcPart: Part = {
  name: 'cluster-gc',
  nodes: 150_000,
  targets: rows =>
    rows
      .slice(0, 2)
      .map(({ name, peakRssBytes }) => ({
        what: `${name}: peak memory below 256 MiB`,
        figure: `${Math.round(peakRssBytes / 2 ** 20)} MiB`,
        isMet: peakRssBytes < 256 * 2 ** 20,
        otherwise: 'pages under way and kept objects together; next: smaller pages',
      })),

  async run(pods, say) {
    const size = {
      pods,
      jobs: Math.round(pods * shares.jobs),
      leases: Math.round(pods * shares.leases),
    }
    say(`counted are pods; beside them ${size.jobs} Jobs and ${size.leases} leases`)
    const audits = [
      { name: 'the nodes alone', scenario: crowd(size), enabled: false, mostMiB: 256 },
      { name: 'and Jobs of nobody', scenario: crowd(size), enabled: true, mostMiB: 256 },
      { name: 'and all neglected', scenario: neglectedCrowd(size), enabled: true, mostMiB: 288 },
    ]
    const program = packedProgram()
    const rows: Row[] = []
    const large: string[] = []
    for (const audit of audits) {
      const row = await auditRow(program, audit, pods, say)
      rows.push(row)
      if (row.peakRssBytes > audit.mostMiB * 2 ** 20)
        large.push(`${told(row)}, more than ${audit.mostMiB}`)
    }
    if (large.length > 0) throw new Error(large.join('; '))
    return rows
  },
}

interface Audit {
  name: string
  scenario: Scenario
  enabled: boolean
  /** It may hold so much, resident. */
  mostMiB: number
}

async function auditRow(
  program: readonly string[],
  { name, scenario, enabled }: Audit,
  pods: number,
  say: (line: string) => void,
): Promise<Row> {
  const lab = await startLab(scenario)
  try {
    const measured = await measuredAudit(program, lab.environment, {
      timeoutsMs,
      clusterGarbage: { enabled },
    })
    const again = tooManyPages(scenario, lab.requests())
    if (again.length > 0) throw new Error(`${name}: lists were fetched twice: ${again.join('; ')}`)
    const row = { name, nodes: pods, runs: 1, ...measured, requests: requestsOf(lab), bodyBytes: 0 }
    say(`${told(row)}, ${row.requests} requests, no page of a list twice`)
    return row
  } finally {
    await lab.close()
  }
}

const told = ({ name, peakRssBytes }: Row): string =>
  `${name}: ${Math.round(peakRssBytes / 2 ** 20)} MiB`

const requestsOf = (lab: Lab): number =>
  Object.values(lab.requests().routes).reduce(
    (sum, routes) => sum + Object.values(routes).reduce((all, count) => all + count, 0),
    0,
  )
