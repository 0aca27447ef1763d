/** What Lambda gives a handler, as the pipeline takes it. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '#package.json' with { type: 'json' }
import type { ServiceRuntime } from '#pipeline/service/runtime.ts'
import { policyTerms } from '#pipeline/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'

/** What of the Lambda context is used. Source: AWS Lambda developer guide, Node.js context object. */
export interface LambdaContext {
  awsRequestId: string
  getRemainingTimeInMillis(): number
  /** Clock that dates the run if a handler is called without Lambda. Default: the machine's clock. */
  now?: () => Date
}

export const runtimeOf = ({
  awsRequestId,
  getRemainingTimeInMillis,
  now = () => new Date(),
}: LambdaContext): Omit<ServiceRuntime, 'watch'> => ({
  version: packageJson.version,
  requestId: awsRequestId,
  remainingMs: getRemainingTimeInMillis(),
  folder: join(tmpdir(), `highwater-${awsRequestId}`),
  now,
  parsePolicy: (text, file) => parsePolicy(text, file, policyTerms),
})
