/** How fast is read, by how many functions and how long is waited: `pace`, `fanOut`, `timeoutsMs`. */
import * as z from 'zod'
import { defaults } from './defaults.ts'
import { withDefaults } from './values.ts'

const timeoutMs = z.int().min(100).max(600_000)

export const paceKeys = {
  pace: z
    .strictObject(
      withDefaults(defaults.pace, {
        requestsPerSecond: z.number().min(0.1).max(10_000),
        concurrency: z.int().min(1).max(200),
        clusters: z.int().min(1).max(50),
        ssmRequestsPerSecond: z.number().min(0.1).max(100),
      }),
    )
    .describe(
      'upper bounds for one Kubernetes API server, and for the SSM of one account and region; clusters: how many are read at once',
    ),
  fanOut: z
    .strictObject(
      withDefaults(defaults.fanOut, {
        aboveNodes: z.int().min(1).nullable(),
        acrossPlaces: z.boolean().describe('whenever there are several accounts or regions, too'),
        nodesPerShard: z.int().min(10).max(1000),
        clustersAtOnce: z.int().min(1).max(500),
      }),
    )
    .describe(
      'when the service reads a fleet by many functions instead of one: above this many nodes, or above what SSM lets one function read; aboveNodes null: never for its size',
    ),
  timeoutsMs: z
    .strictObject(
      withDefaults(defaults.timeoutsMs, {
        list: timeoutMs,
        configz: timeoutMs,
        summary: timeoutMs,
        inspect: timeoutMs,
      }),
    )
    .describe(
      'how long one answer may take; inspect: until a node that SSM was asked to inspect has done so',
    ),
}
