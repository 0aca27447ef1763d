/** The audit as a Lambda function: by its schedule, or on demand. The answer is the run's outcome; a run with something left to do ends red. */
import type { RunAnswer } from '#model/run.ts'
import { runService } from '#pipeline/service.ts'
import { parseSettings } from '#settings.ts'
import { parseAuditEvent } from './event.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { openRunLog } from './run-log.ts'

export async function handler(event: unknown, context: LambdaContext): Promise<RunAnswer> {
  const log = openRunLog(context.awsRequestId)
  try {
    const request = parseAuditEvent(event)
    const runtime = { ...runtimeOf(context), logMetrics: log.metrics }
    const answer = await runService(request, parseSettings(process.env), runtime)
    log.ended(answer, request.scheduledTime !== null)
    return answer
  } catch (error) {
    log.failed(error)
    throw error
  }
}
