/** AWS Step Functions: one execution of a state machine. Loaded only where a fleet is handed to one. */
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { awsError, awsFailure, requestFailure } from './aws-failure.ts'

/** What this file calls, for the function's role: on the state machine. */
export const sfnPermissions = ['states:StartExecution']

export interface Execution {
  stateMachineArn: string
  /** The same name and input start nothing a second time, for 90 days. Source: Step Functions API reference, StartExecution. */
  name: string
  input: object
}

const connectionTimeoutMs = 5_000
const idleTimeoutMs = 20_000

/**
 * @returns whether it was started now; false: it had been before, and is under way or over
 * @throws RequestFailure with a message for people, or the signal's reason
 */
export async function startExecution({ stateMachineArn, name, input }: Execution, signal: AbortSignal): Promise<boolean> {
  const region = stateMachineArn.split(':')[3] ?? ''
  const client = new SFNClient({ region, requestHandler: { connectionTimeout: connectionTimeoutMs, socketTimeout: idleTimeoutMs } })
  try {
    await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }), { abortSignal: signal })
    return true
  } catch (error) {
    signal.throwIfAborted()
    const { name: code, text } = awsError(error)
    // One that is over; one that is under way is simply told again.
    if (code === 'ExecutionAlreadyExists') return false
    if (code === 'StateMachineDoesNotExist')
      throw requestFailure(
        error,
        `Step Functions StartExecution of ${stateMachineArn}: there is no such state machine (${text}). Deploy the stack anew`,
      )
    throw awsFailure(error, {
      service: 'Step Functions',
      endpointVariable: 'AWS_ENDPOINT_URL_SFN',
      what: `StartExecution of ${stateMachineArn}`,
      region,
      grant: `${sfnPermissions.join(', ')} on it`,
    })
  } finally {
    client.destroy()
  }
}
