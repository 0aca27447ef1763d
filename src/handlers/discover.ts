/** First function of a fan-out: finds clusters and nodes, and divides them into shards. */

import { discoverShards } from '#pipeline/fan-out/discover.ts'
import { withFanOut } from '#pipeline/fan-out/files.ts'
import { parseSettings } from '#settings.ts'
import { parseRunEvent } from './fan-out-event.ts'
import { type LambdaContext, runLogged } from './lambda.ts'

export const handler = (event: unknown, context: LambdaContext) =>
  runLogged(context, 'step', async (log, runtime) => {
    log.about({ step: 'discover' })
    const { run } = parseRunEvent(event)
    const found = await withFanOut(run, parseSettings(process.env), runtime, discoverShards)
    await log.writeStep('discovered', { clusters: found.clusters, nodes: found.nodes }, null)
    return found
  })
