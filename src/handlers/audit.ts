/** The audit as a Lambda function: by its schedule, or on demand. The answer is the run's outcome; a run with something left to do ends red. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunAnswer } from '#model/run.ts'
import packageJson from '#package.json' with { type: 'json' }
import { runService } from '#pipeline/service.ts'
import { policyTerms } from '#pipeline/shelves.ts'
import { parsePolicy } from '#policy.ts'
import { parseSettings } from '#settings.ts'
import { parseAuditEvent } from './event.ts'
import { openRunLog } from './run-log.ts'

/** What of the Lambda context is used. Source: AWS Lambda developer guide, Node.js context object. */
export interface LambdaContext {
  awsRequestId: string
  getRemainingTimeInMillis(): number
}

export async function handler(event: unknown, { awsRequestId, getRemainingTimeInMillis }: LambdaContext): Promise<RunAnswer> {
  const log = openRunLog(awsRequestId)
  try {
    const request = parseAuditEvent(event)
    const answer = await runService(request, parseSettings(process.env), {
      version: packageJson.version,
      requestId: awsRequestId,
      remainingMs: getRemainingTimeInMillis(),
      folder: join(tmpdir(), `highwater-${awsRequestId}`),
      now: () => new Date(),
      parsePolicy: (text, file) => parsePolicy(text, file, policyTerms),
      logMetrics: log.metrics,
    })
    log.ended(answer, request.scheduledTime !== null)
    return answer
  } catch (error) {
    log.failed(error)
    throw error
  }
}
