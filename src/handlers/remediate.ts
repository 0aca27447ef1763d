/** Remediation as a Lambda function: there only where the stack has it on. The answer says what came of it and how to go on. */
import type { RemediationAnswer } from '#model/remediation-request.ts'
import { runRemediation } from '#pipeline/remediation/service.ts'
import { parseSettings } from '#settings.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { parseRemediationEvent } from './remediate-event.ts'
import { openRunLog } from './run-log.ts'

export async function handler(event: unknown, context: LambdaContext): Promise<RemediationAnswer> {
  const log = openRunLog(context.awsRequestId)
  try {
    const answer = await runRemediation(parseRemediationEvent(event), parseSettings(process.env), {
      ...runtimeOf(context),
      watch: log.watch,
    })
    await log.remediated(answer)
    return answer
  } catch (error) {
    await log.failed(error)
    throw error
  }
}
