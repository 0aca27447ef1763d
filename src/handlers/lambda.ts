/** The common part of the Lambda handlers: context, runtime and log. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '#package.json' with { type: 'json' }
import { policyTerms } from '#pipeline/audit/shelves.ts'
import type { ServiceRuntime } from '#pipeline/service/runtime.ts'
import { parsePolicy } from '#policy/parse.ts'
import { openRunLog, type RunLog } from './run-log.ts'

/** The used part of the Lambda context. Source: AWS Lambda developer guide, Node.js context object. */
export interface LambdaContext {
  awsRequestId: string
  getRemainingTimeInMillis(): number
  /** Clock that dates the run if a handler is called without Lambda. Default: the machine's clock. */
  now?: () => Date
  /** Waits before the second reading. Default: the machine's timer. */
  sleep?: ServiceRuntime['sleep']
}

/** Runs an invocation; logs its error and throws the error again. @param what the unit that failed, for the log */
export async function logged<T>(
  { awsRequestId, getRemainingTimeInMillis, now = () => new Date(), sleep }: LambdaContext,
  what: 'run' | 'step',
  run: (log: RunLog, runtime: ServiceRuntime) => Promise<T>,
): Promise<T> {
  const log = openRunLog(awsRequestId)
  try {
    return await run(log, {
      version: packageJson.version,
      requestId: awsRequestId,
      remainingMs: getRemainingTimeInMillis(),
      folder: join(tmpdir(), `highwater-${awsRequestId}`),
      now,
      sleep,
      parsePolicy: (text, file) => parsePolicy(text, file, policyTerms),
      watch: log.watch,
    })
  } catch (error) {
    await log.failed(error, what)
    throw error
  }
}
