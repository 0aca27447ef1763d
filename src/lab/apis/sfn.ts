/**
 * Step Functions as far as starting goes, protocol JSON 1.0: an execution is noted, nobody runs it. Source: the service model `sfn`, and the Step Functions
 * API reference, StartExecution.
 */
import { type Api, Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import type { RawObject } from '#model/record.ts'
import { awsJsonApi, notAuthorized } from './aws-json.ts'

const inputMaxBytes = 262_144

export interface LabExecution {
  stateMachineArn: string
  name: string
  input: unknown
  /** RFC 3339. */
  startedAt: string
}

export const sfnApi = (world: World): Api<Caller> =>
  awsJsonApi(world, {
    ...{ name: 'sfn', signingName: 'states', version: '1.0', target: 'AWSStepFunctions' },
    actions: {
      StartExecution: {
        parameters: ['stateMachineArn', 'name', 'input'],
        answer(input, caller) {
          if (world.sfn.denied) throw new Refusal(400, 'AccessDeniedException', notAuthorized(caller, 'states:StartExecution'))
          return started(input, world)
        },
      },
    },
  })

/** One that is under way is told again to whoever asks for the same. */
function started({ stateMachineArn, name, input }: RawObject, { sfn }: World): RawObject {
  const arn = String(stateMachineArn)
  if (!sfn.stateMachines.some(machine => arn.endsWith(`:stateMachine:${machine}`)))
    throw new Refusal(400, 'StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`)
  if (typeof name !== 'string' || !/^[\w-]{1,80}$/.test(name)) throw new Refusal(400, 'InvalidName', `Invalid Name: '${name}'`)
  if (typeof input !== 'string' || Buffer.byteLength(input) > inputMaxBytes)
    throw new Refusal(400, 'InvalidExecutionInput', 'Invalid input')
  const executionArn = `${arn.replace(':stateMachine:', ':execution:')}:${name}`
  const parsed: unknown = JSON.parse(input)
  const known = sfn.executions.find(execution => execution.stateMachineArn === arn && execution.name === name)
  if (known && JSON.stringify(known.input) !== JSON.stringify(parsed))
    throw new Refusal(400, 'ExecutionAlreadyExists', `Execution Already Exists: '${executionArn}'`)
  const execution = known ?? { stateMachineArn: arn, name, input: parsed, startedAt: new Date().toISOString() }
  if (!known) sfn.executions.push(execution)
  return { executionArn, startDate: Date.parse(execution.startedAt) / 1000 }
}
