/**
 * Step Functions as far as starting goes, protocol JSON 1.0: an execution is noted, and runs until somebody says how it ended. Source: the service model `sfn`,
 * and the Step Functions API reference, StartExecution and DescribeExecution.
 */

import type { RawObject } from '#base/raw-object.ts'
import { type Api, Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { awsJsonApi, notAuthorized } from './aws-json.ts'
import type { LabExecution } from './sfn-execution.ts'

const inputMaxBytes = 262_144

export const sfnApi = (world: World): Api<Caller> =>
  awsJsonApi(world, {
    ...{ name: 'sfn', signingName: 'states', version: '1.0', target: 'AWSStepFunctions' },
    actions: {
      StartExecution: {
        parameters: ['stateMachineArn', 'name', 'input'],
        answer(input, caller) {
          if (world.sfn.denied)
            throw new Refusal(
              400,
              'AccessDeniedException',
              notAuthorized(caller, 'states:StartExecution'),
            )
          return started(input, world)
        },
      },
      DescribeExecution: { parameters: ['executionArn'], answer: input => described(input, world) },
    },
  })

/** One that is under way is told again to whoever asks for the same; the name of one that is over stays taken. */
function started({ stateMachineArn, name, input }: RawObject, { sfn }: World): RawObject {
  const arn = String(stateMachineArn)
  if (!sfn.stateMachines.some(machine => arn.endsWith(`:stateMachine:${machine}`)))
    throw new Refusal(400, 'StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`)
  if (typeof name !== 'string' || !/^[\w-]{1,80}$/.test(name))
    throw new Refusal(400, 'InvalidName', `Invalid Name: '${name}'`)
  if (typeof input !== 'string' || Buffer.byteLength(input) > inputMaxBytes)
    throw new Refusal(400, 'InvalidExecutionInput', 'Invalid input')
  const executionArn = executionArnOf({ stateMachineArn: arn, name })
  const parsed: unknown = JSON.parse(input)
  const known = sfn.executions.find(
    execution => execution.stateMachineArn === arn && execution.name === name,
  )
  if (
    known &&
    (known.status !== 'RUNNING' || JSON.stringify(known.input) !== JSON.stringify(parsed))
  )
    throw new Refusal(400, 'ExecutionAlreadyExists', `Execution Already Exists: '${executionArn}'`)
  const execution: LabExecution = known ?? {
    stateMachineArn: arn,
    name,
    input: parsed,
    startedAt: new Date().toISOString(),
    status: 'RUNNING',
  }
  if (!known) sfn.executions.push(execution)
  return { executionArn, startDate: Date.parse(execution.startedAt) / 1000 }
}

function described({ executionArn }: RawObject, { sfn }: World): RawObject {
  const execution = sfn.executions.find(one => executionArnOf(one) === executionArn)
  if (!execution)
    throw new Refusal(400, 'ExecutionDoesNotExist', `Execution Does Not Exist: '${executionArn}'`)
  const { stateMachineArn, name, input, startedAt, status } = execution
  return {
    executionArn,
    stateMachineArn,
    name,
    status,
    startDate: Date.parse(startedAt) / 1000,
    input: JSON.stringify(input),
  }
}

const executionArnOf = ({
  stateMachineArn,
  name,
}: Pick<LabExecution, 'stateMachineArn' | 'name'>): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`
