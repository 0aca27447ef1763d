/** AWS Step Functions: executions of a state machine. Loaded only where a fleet is handed to one. */
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { awsError, awsFailure, requestFailure } from './aws-failure.ts'

/** What this file calls, for the function's role: on the state machine, and on its executions. */
export const sfnPermissions = ['states:StartExecution', 'states:DescribeExecution']

export interface Execution {
  stateMachineArn: string
  /** Taken for 90 days. Source: Step Functions API reference, StartExecution. */
  name: string
  input: object
}

const connectionTimeoutMs = 5_000
const idleTimeoutMs = 20_000

/**
 * An execution that already runs with the same input counts as started: Step Functions returns the same answer. Source: its API reference, StartExecution.
 * @returns whether it is under way; false: its name is taken, by one that is over
 * @throws RequestFailure with a message for people, or the signal's reason
 */
export const startExecution = (
  { stateMachineArn, name, input }: Execution,
  signal: AbortSignal,
): Promise<boolean> =>
  asking('StartExecution', stateMachineArn, signal, async client => {
    try {
      await client.send(
        new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }),
        { abortSignal: signal },
      )
      return true
    } catch (error) {
      if (awsError(error).name === 'ExecutionAlreadyExists') return false
      throw error
    }
  })

/**
 * @returns `RUNNING`, `SUCCEEDED`, `FAILED`, `TIMED_OUT`, `ABORTED` or `PENDING_REDRIVE`
 * @throws RequestFailure with a message for people, or the signal's reason
 */
export const executionStatus = (
  { stateMachineArn, name }: Omit<Execution, 'input'>,
  signal: AbortSignal,
): Promise<string> =>
  asking('DescribeExecution', stateMachineArn, signal, async client => {
    const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`
    const { status = '' } = await client.send(new DescribeExecutionCommand({ executionArn }), {
      abortSignal: signal,
    })
    return status
  })

async function asking<T>(
  call: string,
  stateMachineArn: string,
  signal: AbortSignal,
  ask: (client: SFNClient) => Promise<T>,
): Promise<T> {
  const region = stateMachineArn.split(':')[3] ?? ''
  const client = new SFNClient({
    region,
    requestHandler: { connectionTimeout: connectionTimeoutMs, socketTimeout: idleTimeoutMs },
  })
  try {
    return await ask(client)
  } catch (error) {
    signal.throwIfAborted()
    const { name: code, text } = awsError(error)
    if (code === 'StateMachineDoesNotExist')
      throw requestFailure(
        error,
        `Step Functions ${call} of ${stateMachineArn}: there is no such state machine (${text}). Deploy the stack anew`,
      )
    throw awsFailure(error, {
      service: 'Step Functions',
      endpointVariable: 'AWS_ENDPOINT_URL_SFN',
      what: `${call} of ${stateMachineArn}`,
      region,
      grant:
        call === 'StartExecution'
          ? 'states:StartExecution on it'
          : `states:${call} on its executions`,
    })
  } finally {
    client.destroy()
  }
}
