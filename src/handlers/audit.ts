/** Runs the audit as a Lambda function, on a schedule or on demand. Returns the run's outcome; an incomplete run fails. */
import type { RunAnswer } from '#model/run.ts'
import { runService } from '#pipeline/service/service.ts'
import { parseSettings } from '#settings.ts'
import { parseAuditEvent } from './event.ts'
import { type LambdaContext, logged } from './lambda.ts'

export const handler = (event: unknown, context: LambdaContext): Promise<RunAnswer> =>
  logged(context, 'run', async (log, runtime) => {
    const request = parseAuditEvent(event)
    // Observations publish no report, so they make no metrics.
    if (request.scheduledTime !== null && !request.isObservation) log.scheduled()
    const answer = await runService(request, parseSettings(process.env), runtime)
    await log.ended(answer)
    return answer
  })
