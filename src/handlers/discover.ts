/** First of a fan-out as a Lambda function: finds clusters and nodes, and leaves the work in shards. */
import { inFanOut } from '#pipeline/fan-out/context.ts'
import { type Discovered, discoverShards } from '#pipeline/fan-out/discover.ts'
import { parseSettings } from '#settings.ts'
import { parseRunEvent } from './fan-out-event.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { openRunLog } from './run-log.ts'

export async function handler(event: unknown, context: LambdaContext): Promise<Discovered> {
  const log = openRunLog(context.awsRequestId)
  log.about({ step: 'discover' })
  try {
    const { run } = parseRunEvent(event)
    const discovered = await inFanOut(
      run,
      parseSettings(process.env),
      { ...runtimeOf(context), watch: log.watch },
      discoverShards,
    )
    await log.stepped(
      'discovered',
      { clusters: discovered.clusters, nodes: discovered.nodes },
      null,
    )
    return discovered
  } catch (error) {
    await log.failed(error, 'step')
    throw error
  }
}
