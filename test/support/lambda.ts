/** The function's handler, invoked as Lambda does, with the lab's endpoints. */
import { randomUUID } from 'node:crypto'
import { handler } from '#handlers/audit.ts'
import type { LambdaContext } from '#handlers/lambda.ts'
import { handler as remediateHandler } from '#handlers/remediate.ts'
import type { RemediationAnswer } from '#model/remediation-request.ts'
import type { RunAnswer } from '#model/run.ts'

export const serviceEnvironment = {
  HIGHWATER_BUCKET: 'highwater-lab',
  HIGHWATER_SENDER: 'highwater@example.com',
  HIGHWATER_RECIPIENTS: 'team@example.com',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
}

const lambdaContext = (remainingMs = 120_000): LambdaContext => ({
  awsRequestId: randomUUID(),
  getRemainingTimeInMillis: () => remainingMs,
})

type Invoke<Answer> = (event: unknown, environment?: Record<string, string>, remainingMs?: number) => Promise<Answer>

/** Settings go by the environment, as they do in Lambda: set for this call only. */
const invoking =
  <Answer>(handle: (event: unknown, context: LambdaContext) => Promise<Answer>): Invoke<Answer> =>
  async (event, environment = {}, remainingMs) => {
    const before = { ...process.env }
    Object.assign(process.env, serviceEnvironment, environment)
    try {
      return await handle(event, lambdaContext(remainingMs))
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
      Object.assign(process.env, before)
    }
  }

export const invoke: Invoke<RunAnswer> = invoking(handler)
export const invokeRemediate: Invoke<RemediationAnswer> = invoking(remediateHandler)
