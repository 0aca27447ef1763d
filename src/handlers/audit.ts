/** The audit as a Lambda function: by its schedule, or on demand. The answer is the run's outcome; a run with something left to do ends red. */
import type { RunAnswer } from '#model/run.ts'
import { runService } from '#pipeline/service/service.ts'
import { parseSettings } from '#settings.ts'
import { parseAuditEvent } from './event.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { openRunLog } from './run-log.ts'

export async function handler(event: unknown, context: LambdaContext): Promise<RunAnswer> {
  const log = openRunLog(context.awsRequestId)
  try {
    const request = parseAuditEvent(event)
    // The metrics are those of reports.
    if (request.scheduledTime !== null && !request.isObservation) log.scheduled()
    const runtime = { ...runtimeOf(context), watch: log.watch, logMetrics: log.metrics }
    const answer = await runService(request, parseSettings(process.env), runtime)
    await log.ended(answer)
    return answer
  } catch (error) {
    await log.failed(error)
    throw error
  }
}
