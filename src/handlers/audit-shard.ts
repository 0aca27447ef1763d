/** Middle function of a fan-out: reads a shard of nodes, judges a cluster whose shards are read, or notes why either failed. */
import { type FanOutContext, withFanOut } from '#pipeline/fan-out/files.ts'
import { judgeCluster } from '#pipeline/fan-out/judge-cluster.ts'
import { noteLost } from '#pipeline/fan-out/lost.ts'
import { readShard } from '#pipeline/fan-out/read-shard.ts'
import { parseSettings } from '#settings.ts'
import { parseShardEvent, type ShardEvent } from './fan-out-event.ts'
import { type LambdaContext, runLogged } from './lambda.ts'

/** Returns nothing: the results are in the bucket, and the state machine passes none of them on. */
export const handler = (event: unknown, context: LambdaContext): Promise<Record<string, never>> =>
  runLogged(context, 'step', async (log, runtime) => {
    const parsed = parseShardEvent(event)
    const { run, step, cluster } = parsed
    const shard = 'shard' in parsed && parsed.shard !== null && { shard: parsed.shard }
    log.about({ step, clusterNumber: cluster, ...shard })
    const lost = await withFanOut(run, parseSettings(process.env), runtime, inRun =>
      stepOf(parsed, inRun),
    )
    await log.writeStep(lost === null ? 'step ended' : 'lost', {}, lost)
    return {}
  })

/** @returns why a part of the run is lost; null: nothing is lost */
async function stepOf(event: ShardEvent, run: FanOutContext) {
  if (event.step === 'lost') return noteLost(event, run)
  if (event.step === 'read') await readShard(event, run)
  else await judgeCluster(event.cluster, run)
  return null
}
