/**
 * The cost of an audit of a cluster with 150,000 pods, 50,000 Jobs and 20,000 leases, by the command line against a lab: of its nodes alone, with
 * Jobs without an owner, and with almost no garbage collection so far. It fails if an audit requests a page of a list twice.
 */
import { type Lab, startLab } from '#lab/lab.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { crowd, neglectedCrowd } from '../garbage/crowd.ts'
import { tooManyPages } from '../garbage/list-requests.ts'
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'
import { measuredAudit } from '../measured-audit.ts'
import { packedProgram } from '../packed-program.ts'

/** Number for each pod. */
const shares = { jobs: 1 / 3, leases: 2 / 15 }
/** Long, because a busy machine answers late. The pace is the default: a faster one would hold more answers at once. */
const timeoutsMs = { list: 120_000, configz: 30_000, summary: 30_000, inspect: 120_000 }

const neglected = 'and all neglected'

export const clusterGcPart: Part = {
  name: 'cluster-gc',
  nodes: 150_000,
  targets: rows =>
    rows.map(({ name, peakRssBytes }) => {
      const mostMiB = name === neglected ? 288 : 256
      return {
        what: `${name}: peak memory below ${mostMiB} MiB`,
        figure: `${Math.round(peakRssBytes / 2 ** 20)} MiB`,
        isMet: peakRssBytes < mostMiB * 2 ** 20,
        otherwise: 'pages under way and kept objects together; next: smaller pages',
      }
    }),

  async run(pods, say) {
    const size = {
      pods,
      jobs: Math.round(pods * shares.jobs),
      leases: Math.round(pods * shares.leases),
    }
    say(`counted are pods; beside them ${size.jobs} Jobs and ${size.leases} leases`)
    const audits = [
      { name: 'the nodes alone', scenario: crowd(size), enabled: false },
      { name: 'and Jobs without an owner', scenario: crowd(size), enabled: true },
      { name: neglected, scenario: neglectedCrowd(size), enabled: true },
    ]
    const program = packedProgram()
    const rows: Row[] = []
    for (const audit of audits) rows.push(await auditRow(program, audit, pods, say))
    return rows
  },
}

interface Audit {
  name: string
  scenario: Scenario
  enabled: boolean
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
    const mebibytes = Math.round(row.peakRssBytes / 2 ** 20)
    say(`${name}: ${mebibytes} MiB, ${row.requests} requests, no page of a list twice`)
    return row
  } finally {
    await lab.close()
  }
}

const requestsOf = (lab: Lab): number =>
  Object.values(lab.requests().routes).reduce(
    (sum, routes) => sum + Object.values(routes).reduce((all, count) => all + count, 0),
    0,
  )
