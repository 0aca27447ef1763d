/** Last of a fan-out as a Lambda function: what was judged of each cluster becomes one report. It answers as the function `audit` does. */
import { isTickRun, type RunAnswer } from '#model/run.ts'
import { inFanOut } from '#pipeline/fan-out/context.ts'
import { publishRun } from '#pipeline/fan-out/publish.ts'
import { parseSettings } from '#settings.ts'
import { parsePublishEvent } from './fan-out-event.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { openRunLog } from './run-log.ts'

export async function handler(event: unknown, context: LambdaContext): Promise<RunAnswer> {
  const log = openRunLog(context.awsRequestId)
  try {
    const { run, failure } = parsePublishEvent(event)
    if (isTickRun(run)) log.scheduled()
    const runtime = { ...runtimeOf(context), watch: log.watch, logMetrics: log.metrics }
    const answer = await inFanOut(run, parseSettings(process.env), runtime, found =>
      publishRun({ ...found, runtime, mapFailure: failure }),
    )
    await log.ended(answer)
    return answer
  } catch (error) {
    await log.failed(error)
    throw error
  }
}
