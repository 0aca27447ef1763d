/** Last function of a fan-out: publishes one report of all judged clusters. It answers as the function `audit` does. */
import { isTickRun, type RunAnswer } from '#model/run.ts'
import { withFanOut } from '#pipeline/fan-out/files.ts'
import { publishRun } from '#pipeline/service/service.ts'
import { parseSettings } from '#settings.ts'
import { parsePublishEvent } from './fan-out-event.ts'
import { type LambdaContext, runLogged } from './lambda.ts'

export const handler = (event: unknown, context: LambdaContext): Promise<RunAnswer> =>
  runLogged(context, 'run', async (log, runtime) => {
    const { run, failure } = parsePublishEvent(event)
    if (isTickRun(run)) log.markScheduled()
    const answer = await withFanOut(run, parseSettings(process.env), runtime, inRun =>
      publishRun({ ...inRun, mapFailure: failure }),
    )
    await log.writeRunEnd(answer)
    return answer
  })
