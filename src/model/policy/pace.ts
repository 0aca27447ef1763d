/** Speed of reading, number of functions, and timeouts: `pace`, `fanOut`, `timeoutsMs`. */
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
      'upper bounds for one Kubernetes API server, and for SSM in one account and region; clusters: how many are read at once',
    ),
  fanOut: z
    .strictObject(
      withDefaults(defaults.fanOut, {
        aboveNodes: z.int().min(1).nullable(),
        acrossPlaces: z.boolean().describe('also if there are several accounts or regions'),
        nodesPerShard: z.int().min(10).max(1000),
        clustersAtOnce: z.int().min(1).max(500),
      }),
    )
    .describe(
      'when the service reads a fleet by many functions: above aboveNodes nodes (null: no limit), or above what one function can read by SSM',
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
      'how long one answer may take; inspect: how long the inspect document may take on a node',
    ),
}
