/** The SSM API: managed instances, and Run Command with a pinned document. */

import {
  DescribeDocumentCommand,
  DescribeInstanceInformationCommand,
  GetCommandInvocationCommand,
  ListCommandInvocationsCommand,
  SendCommandCommand,
  SSMClient,
} from '@aws-sdk/client-ssm'
import { RequestFailure } from '#clients/failure.ts'
import { Pace, type PaceLimits, sleep } from '#clients/pace.ts'
import { describedInstancesMax, ssmPageMax } from '#facts/aws/limits.ts'
import {
  type AwsError,
  awsError,
  awsFailure,
  countingSlowDowns,
  isThrottling,
  requestFailure,
} from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'

/** IAM actions of this file, for the function's role. */
export const ssmPermissions = [
  'ssm:DescribeDocument',
  'ssm:DescribeInstanceInformation',
  'ssm:SendCommand',
  'ssm:ListCommandInvocations',
  'ssm:GetCommandInvocation',
]

const maxAttempts = 6

/** A document, pinned by version and hash. SSM refuses to run it if its content has another hash. */
export interface PinnedDocument {
  name: string
  /** A number; `$LATEST` could change at any time. */
  version: string
  sha256: string
}

export interface Command {
  document: PinnedDocument
  /** At most 50. An unknown instance makes SSM refuse the whole command. */
  instanceIds: readonly string[]
  parameters: Readonly<Record<string, string>>
  /** Text for the account's command history; at most 100 characters. */
  comment: string
  /** Time to reach the agent, at least 30 s. The script may run longer. */
  deliveryTimeoutSeconds: number
  /** Bucket for outputs that are longer than SSM keeps. The instance's own role writes there. Null: none. */
  output: { bucket: string; prefix: string } | null
}

export interface ManagedInstance {
  instanceId: string
  pingStatus: string
  /** RFC 3339; null: unknown. */
  lastPingAt: string | null
  agentVersion: string
  platformType: string
}

export interface Invocation {
  instanceId: string
  status: string
  statusDetails: string
}

export interface InvocationOutput {
  status: string
  responseCode: number
  /** The first 24,000 characters. */
  stdout: string
}

interface CallOptions {
  abortSignal: AbortSignal
}

/** All calls throw RequestFailure with a message for people, or the signal's reason. */
export class SsmApi {
  readonly region: string
  private readonly client: SSMClient
  private readonly pace: Pace

  constructor(region: string, credentials: CredentialSource, limits: PaceLimits) {
    this.region = region
    // This class retries, because the SDK's own retries would ignore the pace.
    this.client = countingSlowDowns('SSM', new SSMClient({ region, credentials, maxAttempts: 1 }))
    this.pace = new Pace(limits)
  }

  /** The default version of a document in the account; null: there is no such document. */
  async document(name: string, signal: AbortSignal): Promise<PinnedDocument | null> {
    const what = `DescribeDocument ${name}`
    try {
      const { Document } = await this.call(what, signal, options =>
        this.client.send(new DescribeDocumentCommand({ Name: name }), options),
      )
      const { DocumentVersion = '', Hash = '', HashType = 'Sha256' } = Document ?? {}
      return { name, version: DocumentVersion, sha256: HashType === 'Sha256' ? Hash : '' }
    } catch (error) {
      if (error instanceof RequestFailure && awsError(error.cause).name === 'InvalidDocument')
        return null
      throw error
    }
  }

  /** Those of the given instances that SSM manages. */
  async instances(instanceIds: readonly string[], signal: AbortSignal) {
    const found: ManagedInstance[] = []
    for (let start = 0; start < instanceIds.length; start += describedInstancesMax) {
      const Values = instanceIds.slice(start, start + describedInstancesMax)
      const query = { Filters: [{ Key: 'InstanceIds', Values }], MaxResults: ssmPageMax }
      for await (const { InstanceInformationList = [] } of pagesOf(NextToken => {
        const command = new DescribeInstanceInformationCommand({ ...query, NextToken })
        return this.call('DescribeInstanceInformation', signal, options =>
          this.client.send(command, options),
        )
      }))
        found.push(
          ...InstanceInformationList.map(found => ({
            instanceId: found.InstanceId ?? '',
            pingStatus: found.PingStatus ?? '',
            lastPingAt: found.LastPingDateTime?.toISOString() ?? null,
            agentVersion: found.AgentVersion ?? '',
            platformType: found.PlatformType ?? '',
          })),
        )
    }
    return found
  }

  /** Sends a command. Retried only if throttled: SSM has no idempotency token, so a retry could run the script twice. @returns the command's id */
  async send(
    { document, instanceIds, parameters, comment, deliveryTimeoutSeconds, output }: Command,
    signal: AbortSignal,
  ) {
    const command = new SendCommandCommand({
      DocumentName: document.name,
      DocumentVersion: document.version,
      DocumentHash: document.sha256,
      DocumentHashType: 'Sha256',
      InstanceIds: [...instanceIds],
      Parameters: Object.fromEntries(
        Object.entries(parameters).map(([name, value]) => [name, [value]]),
      ),
      Comment: comment,
      TimeoutSeconds: deliveryTimeoutSeconds,
      MaxConcurrency: '100%',
      // A failure on one node does not stop the others.
      MaxErrors: '100%',
      ...(output && { OutputS3BucketName: output.bucket, OutputS3KeyPrefix: output.prefix }),
    })
    const what = `SendCommand ${document.name} (version ${document.version}) to ${instanceIds.length} instances`
    const answer = await this.call(
      what,
      signal,
      options => this.client.send(command, options),
      isThrottling,
    )
    const id = answer.Command?.CommandId
    if (!id)
      throw requestFailure(null, `SSM ${what} in ${this.region}: the answer names no command`)
    return id
  }

  /** Invocations of a command, on the instances that it has reached so far. */
  async invocations(commandId: string, signal: AbortSignal) {
    const query = { CommandId: commandId, MaxResults: ssmPageMax }
    const found: Invocation[] = []
    for await (const { CommandInvocations = [] } of pagesOf(NextToken => {
      const command = new ListCommandInvocationsCommand({ ...query, NextToken })
      return this.call('ListCommandInvocations', signal, options =>
        this.client.send(command, options),
      )
    }))
      for (const { InstanceId = '', Status = '', StatusDetails = '' } of CommandInvocations)
        found.push({ instanceId: InstanceId, status: Status, statusDetails: StatusDetails })
    return found
  }

  /** The output of the document's step. Retried while SSM does not yet know the invocation. */
  async output(
    commandId: string,
    instanceId: string,
    stepName: string,
    signal: AbortSignal,
  ): Promise<InvocationOutput> {
    const command = new GetCommandInvocationCommand({
      CommandId: commandId,
      InstanceId: instanceId,
      PluginName: stepName,
    })
    const answer = await this.call(
      `GetCommandInvocation of ${instanceId}`,
      signal,
      options => this.client.send(command, options),
      error => isTransient(error) || awsError(error).name === 'InvocationDoesNotExist',
    )
    return {
      status: answer.Status ?? '',
      responseCode: answer.ResponseCode ?? -1,
      stdout: answer.StandardOutputContent ?? '',
    }
  }

  /** Errors that prevent reading command answers, by action. No command is sent: the test names a command that never existed. */
  async answersUnreadable(signal: AbortSignal) {
    const CommandId = '00000000-0000-4000-8000-000000000000'
    const InstanceId = 'i-00000000000000000'
    const list = new ListCommandInvocationsCommand({ CommandId, MaxResults: 1 })
    const get = new GetCommandInvocationCommand({ CommandId, InstanceId })
    const calls: Record<string, (options: CallOptions) => Promise<unknown>> = {
      ListCommandInvocations: options => this.client.send(list, options),
      GetCommandInvocation: options => this.client.send(get, options),
    }
    const reasons = new Map<string, unknown>()
    for (const [action, run] of Object.entries(calls)) {
      try {
        await this.call(action, signal, run, isThrottling)
      } catch (error) {
        signal.throwIfAborted()
        const isUnknown =
          error instanceof RequestFailure &&
          /^(Invalid|Invocation)/.test(awsError(error.cause).name)
        if (!isUnknown) reasons.set(`ssm:${action}`, error)
      }
    }
    return reasons
  }

  close() {
    this.client.destroy()
  }

  private async call<T>(
    what: string,
    signal: AbortSignal,
    run: (options: CallOptions) => Promise<T>,
    isWorthATry = isTransient,
  ) {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.pace.run(() => run({ abortSignal: signal }), signal)
        this.pace.raiseRate()
        return answer
      } catch (error) {
        signal.throwIfAborted()
        if (attempt === maxAttempts || !isWorthATry(error))
          throw awsFailure(error, { service: 'SSM', what, region: this.region, explain })
        if (isThrottling(error)) this.pace.lowerRate(retryAfterMs(attempt))
        else await sleep(retryAfterMs(attempt), signal)
      }
    }
  }
}

/** Yields all pages of a list. Each request of a page has its own tries. */
async function* pagesOf<Page extends { NextToken?: string | undefined }>(
  read: (NextToken: string | undefined) => Promise<Page>,
) {
  let token: string | undefined
  do {
    const page = await read(token)
    token = page.NextToken || undefined
    yield page
  } while (token !== undefined)
}

/** Half a second, doubled each time: together 15 s. */
const retryAfterMs = (attempt: number) => 500 * 2 ** (attempt - 1)

const isTransient = (error: unknown) => {
  const { status, code } = awsError(error)
  return isThrottling(error) || (status !== null && status >= 500) || code === 'ECONNRESET'
}

/** Whether SSM refused a command because it does not know one of the instances. */
export const namesUnknownInstance = (error: unknown) =>
  error instanceof RequestFailure && awsError(error.cause).name === 'InvalidInstanceId'

/** Source: SSM API reference, SendCommand, Errors. */
const refusals: Readonly<Record<string, string>> = {
  InvalidDocument:
    'there is no such document here, or its content is not the one that this version of highwater runs. Deploy the stack again',
  InvalidDocumentVersion: 'the document has no such version. Deploy the stack again',
  InvalidDocumentContent:
    'the document is not the one that this version of highwater runs. Deploy the stack again',
  InvalidInstanceId: 'one of the instances is not managed by SSM here, or has just gone',
  InvocationDoesNotExist: 'SSM knows of no such invocation, though it was sent',
  UnsupportedPlatformType: 'the document does not run on this platform',
}

const explain = ({ name, text }: AwsError) =>
  Object.hasOwn(refusals, name) ? `${refusals[name]} (${name}: ${text})` : null
