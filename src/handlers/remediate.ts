/** Remediation as a Lambda function, deployed only if the stack turns it on. Returns the result and the next step. */
import { OperatorError } from '#base/operator-error.ts'
import type { RemediationAnswer } from '#model/plan/remediation-request.ts'
import { runRemediation } from '#pipeline/remediation/run/service.ts'
import { parseSettings } from '#settings.ts'
import { type LambdaContext, logged } from './lambda.ts'
import { parseRemediationEvent } from './remediate-event.ts'

/** Maximum number of unsealed objects named in the function's error; the log names all. */
const mostUnsealed = 10

export async function handler(event: unknown, context: LambdaContext): Promise<RemediationAnswer> {
  const answer = await logged(context, 'run', async (log, runtime) => {
    const request = parseRemediationEvent(event)
    const found = await runRemediation(request, parseSettings(process.env), runtime)
    await log.remediated(found)
    return found
  })
  // The error text reaches people through the alarm on failed invocations.
  if ('unsealed' in answer && answer.unsealed.length > 0)
    throw new OperatorError(answer.unsealed.slice(0, mostUnsealed).join(' '), { isBadInput: false })
  return answer
}
