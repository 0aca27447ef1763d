/** What it costs to look through a cluster with 150,000 pods, 50,000 Jobs and 20,000 leases: the command line against a lab, once with and once without. */
import { type Lab, startLab } from '#lab/lab.ts'
import { crowd } from '../garbage/crowd.ts'
import { measuredAudit } from '../garbage/measured-audit.ts'
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'

/** For each pod: a third of a Job, and of leases two fifteenths. */
const shares = { jobs: 1 / 3, leases: 2 / 15 }
/** The lab has no other callers. */
const pace = { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 50 }
const timeoutsMs = { list: 120_000, configz: 30_000, summary: 30_000, inspect: 120_000 }

export const clusterGcPart: Part = {
  name: 'cluster-gc',
  nodes: 150_000,

  async run(pods, say) {
    const size = { pods, jobs: Math.round(pods * shares.jobs), leases: Math.round(pods * shares.leases) }
    say(`counted are pods; beside them ${size.jobs} Jobs and ${size.leases} leases`)
    const lab = await startLab([crowd(size)])
    try {
      return [
        await auditRow(lab, 'the audit, and all of its garbage', pods, true),
        await auditRow(lab, 'the audit of the nodes alone', pods, false),
      ]
    } finally {
      await lab.close()
    }
  },
}

async function auditRow(lab: Lab, name: string, pods: number, enabled: boolean): Promise<Row> {
  const before = requestsOf(lab)
  const measured = await measuredAudit(lab.environment, { pace, timeoutsMs, clusterGarbage: { enabled } })
  return { name, nodes: pods, runs: 1, ...measured, requests: requestsOf(lab) - before, bodyBytes: 0 }
}

const requestsOf = (lab: Lab): number =>
  Object.values(lab.requests().routes).reduce((sum, routes) => sum + Object.values(routes).reduce((all, count) => all + count, 0), 0)
