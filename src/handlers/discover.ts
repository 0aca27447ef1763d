/** First of a fan-out as a Lambda function: finds clusters and nodes, and leaves the work in shards. */

import { inFanOut } from '#pipeline/fan-out/context.ts'
import { type Discovered, discoverShards } from '#pipeline/fan-out/discover.ts'
import { parseSettings } from '#settings.ts'
import { parseRunEvent } from './fan-out-event.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { openRunLog } from './run-log.ts'

export async function handler(event: unknown, context: LambdaContext): Promise<Discovered> {
  const log = openRunLog(context.awsRequestId)
  try {
    const { run } = parseRunEvent(event)
    const discovered = await inFanOut(run, parseSettings(process.env), { ...runtimeOf(context), watch: log.watch }, discoverShards)
    await log.stepped('discovered', discovered)
    return discovered
  } catch (error) {
    await log.failed(error)
    throw error
  }
}
