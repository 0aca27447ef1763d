/** Middle of a fan-out as a Lambda function: reads a shard of nodes, or judges a cluster whose shards are read, or notes why one of both was not done. */
import { type FanOutContext, inFanOut } from '#pipeline/fan-out/context.ts'
import { judgeCluster } from '#pipeline/fan-out/judge-cluster.ts'
import { noteLost } from '#pipeline/fan-out/lost.ts'
import { readShard } from '#pipeline/fan-out/read-shard.ts'
import { parseSettings } from '#settings.ts'
import { parseShardEvent, type ShardEvent } from './fan-out-event.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { openRunLog } from './run-log.ts'

/** Nothing: what was done lies in the bucket, and the state machine carries none of it. */
export async function handler(
  event: unknown,
  context: LambdaContext,
): Promise<Record<string, never>> {
  const log = openRunLog(context.awsRequestId)
  try {
    const asked = parseShardEvent(event)
    const { step, cluster } = asked
    log.about({
      step,
      clusterNumber: cluster,
      ...('shard' in asked && asked.shard !== null && { shard: asked.shard }),
    })
    const runtime = { ...runtimeOf(context), watch: log.watch }
    const lost = await inFanOut(asked.run, parseSettings(process.env), runtime, run =>
      stepOf(asked, run),
    )
    await log.stepped(lost === null ? 'step ended' : 'lost', {}, lost)
    return {}
  } catch (error) {
    await log.failed(error, 'step')
    throw error
  }
}

/** @returns why a part of the run comes to nothing; null: it does not */
async function stepOf(asked: ShardEvent, run: FanOutContext): Promise<string | null> {
  switch (asked.step) {
    case 'read':
      await readShard(asked, run)
      return null
    case 'judge':
      await judgeCluster(asked.cluster, run)
      return null
    case 'lost':
      return noteLost(asked, run)
  }
}
