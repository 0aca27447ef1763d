/** What Lambda gives a handler, as the pipeline takes it. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '#model/operator-error.ts'
import type { Policy } from '#model/policy.ts'
import packageJson from '#package.json' with { type: 'json' }
import type { ServiceRuntime } from '#pipeline/service/runtime.ts'
import { policyTerms } from '#pipeline/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'

/** What of the Lambda context is used. Source: AWS Lambda developer guide, Node.js context object. */
export interface LambdaContext {
  awsRequestId: string
  getRemainingTimeInMillis(): number
  /** By which the run is dated, for whoever calls a handler without Lambda. Default: the machine's clock. */
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
  parsePolicy: (text, file) => deployedPolicy(parsePolicy(text, file, policyTerms), file),
})

/**
 * A policy file lies in a bucket: it cannot show the function's own token to kubelets, unless the stack lets it.
 * @throws OperatorError
 */
function deployedPolicy(policy: Policy, file: string): Policy {
  if (policy.kubelet.useOwnToken && process.env.HIGHWATER_SHOWS_OWN_TOKEN !== 'yes')
    throw new OperatorError(
      `${file}: kubelet.useOwnToken needs the stack's parameter showsOwnToken=yes, or name kubelet.roleArn`,
    )
  return policy
}
