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
export async function handler(event: unknown, context: LambdaContext): Promise<Record<string, never>> {
  const log = openRunLog(context.awsRequestId)
  try {
    const asked = parseShardEvent(event)
    const runtime = { ...runtimeOf(context), watch: log.watch }
    await inFanOut(asked.run, parseSettings(process.env), runtime, run => stepOf(asked, run))
    await log.stepped('step ended', asked)
    return {}
  } catch (error) {
    await log.failed(error)
    throw error
  }
}

function stepOf(asked: ShardEvent, run: FanOutContext): Promise<void> {
  switch (asked.step) {
    case 'read':
      return readShard(asked, run)
    case 'judge':
      return judgeCluster(asked.cluster, run)
    case 'lost':
      return noteLost(asked, run)
  }
}
