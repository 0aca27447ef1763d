/** How fast is read, by how many functions and how long is waited: `pace`, `fanOut`, `timeoutsMs`. */
import * as z from 'zod'
import { defaults } from './defaults.ts'

const timeoutMs = z.int().min(100).max(600_000)

export const paceKeys = {
  pace: z
    .strictObject({
      requestsPerSecond: z.number().min(0.1).max(10_000).default(defaults.pace.requestsPerSecond),
      concurrency: z.int().min(1).max(200).default(defaults.pace.concurrency),
      clusters: z.int().min(1).max(50).default(defaults.pace.clusters),
      ssmRequestsPerSecond: z
        .number()
        .min(0.1)
        .max(100)
        .default(defaults.pace.ssmRequestsPerSecond),
    })
    .default(defaults.pace)
    .describe(
      'upper bounds for one Kubernetes API server, and for the SSM of one account and region; clusters: how many are read at once',
    ),
  fanOut: z
    .strictObject({
      aboveNodes: z.int().min(1).nullable().default(defaults.fanOut.aboveNodes),
      acrossPlaces: z
        .boolean()
        .default(defaults.fanOut.acrossPlaces)
        .describe('whenever there are several accounts or regions, too'),
      nodesPerShard: z.int().min(10).max(1000).default(defaults.fanOut.nodesPerShard),
      clustersAtOnce: z.int().min(1).max(500).default(defaults.fanOut.clustersAtOnce),
    })
    .default(defaults.fanOut)
    .describe(
      'when the service reads a fleet by many functions instead of one: above this many nodes, or above what SSM lets one function read; aboveNodes null: never for its size',
    ),
  timeoutsMs: z
    .strictObject({
      list: timeoutMs.default(defaults.timeoutsMs.list),
      configz: timeoutMs.default(defaults.timeoutsMs.configz),
      summary: timeoutMs.default(defaults.timeoutsMs.summary),
      inspect: timeoutMs.default(defaults.timeoutsMs.inspect),
    })
    .default(defaults.timeoutsMs)
    .describe(
      'how long one answer may take; inspect: until a node that SSM was asked to inspect has done so',
    ),
}
