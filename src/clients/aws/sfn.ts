/** AWS Step Functions: executions of a state machine. Loaded only for a fan-out. */
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { type AwsError, awsCall, awsError, connectionTimeout, regionInArn } from './aws-failure.ts'

/** IAM actions of this file, for the function's role, on the state machine and its executions. */
export const sfnPermissions = ['states:StartExecution', 'states:DescribeExecution']

export interface Execution {
  stateMachineArn: string
  /** The name must be unique for 90 days. Source: Step Functions API reference, StartExecution. */
  name: string
  input: object
}

const idleTimeoutMs = 20_000

/**
 * Starts an execution. If one with the same name and input runs, Step Functions answers as for a new one. Source: its API reference, StartExecution.
 * @returns true: the execution runs; false: an ended execution has this name
 * @throws RequestFailure with a message for people, or the signal's reason
 */
export const startExecution = ({ stateMachineArn, name, input }: Execution, signal: AbortSignal) =>
  withClient('StartExecution', stateMachineArn, signal, async client => {
    const command = new StartExecutionCommand({
      stateMachineArn,
      name,
      input: JSON.stringify(input),
    })
    try {
      await client.send(command, { abortSignal: signal })
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
  withClient('DescribeExecution', stateMachineArn, signal, async client => {
    const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`
    const command = new DescribeExecutionCommand({ executionArn })
    return (await client.send(command, { abortSignal: signal })).status ?? ''
  })

async function withClient<T>(
  call: string,
  stateMachineArn: string,
  signal: AbortSignal,
  run: (client: SFNClient) => Promise<T>,
) {
  const region = regionInArn(stateMachineArn)
  const client = new SFNClient({
    region,
    requestHandler: { connectionTimeout, socketTimeout: idleTimeoutMs },
  })
  const what = `${call} of ${stateMachineArn}`
  const grant = `states:${call} on ${call === 'StartExecution' ? 'it' : 'its executions'}`
  try {
    return await awsCall({ service: 'Step Functions', what, region, grant, signal, explain }, () =>
      run(client),
    )
  } finally {
    client.destroy()
  }
}

const explain = ({ name, text }: AwsError) =>
  name === 'StateMachineDoesNotExist'
    ? `there is no such state machine (${text}). Deploy the stack again`
    : null
