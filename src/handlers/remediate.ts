/** Remediation as a Lambda function, deployed only if the stack turns it on. The answer has the result and the next step. */
import { OperatorError } from '#model/operator-error.ts'
import type { RemediationAnswer } from '#model/remediation-request.ts'
import { runRemediation } from '#pipeline/remediation/service.ts'
import { parseSettings } from '#settings.ts'
import { type LambdaContext, runtimeOf } from './lambda.ts'
import { parseRemediationEvent } from './remediate-event.ts'
import { openRunLog } from './run-log.ts'

/** Shown in the function's error; its log has all. */
const mostUnsealed = 10

export async function handler(event: unknown, context: LambdaContext): Promise<RemediationAnswer> {
  const log = openRunLog(context.awsRequestId)
  const answer = await runRemediation(parseRemediationEvent(event), parseSettings(process.env), {
    ...runtimeOf(context),
    watch: log.watch,
  }).catch(async error => {
    await log.failed(error)
    throw error
  })
  await log.remediated(answer)
  // The alarm for red calls names it to people.
  if ('unsealed' in answer && answer.unsealed.length > 0)
    throw new OperatorError(answer.unsealed.slice(0, mostUnsealed).join(' '), { isBadInput: false })
  return answer
}
