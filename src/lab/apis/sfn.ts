/**
 * Step Functions as far as starting goes, protocol JSON 1.0: an execution is noted, nobody runs it. Source: the service model `sfn`, and the Step Functions
 * API reference, StartExecution.
 */
import { type Api, type LabRequest, Refusal, type Reply, type Route } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { authenticated } from './rest-json.ts'

const action = 'StartExecution'
const inputMaxBytes = 262_144

export interface LabExecution {
  stateMachineArn: string
  name: string
  input: unknown
  /** RFC 3339. */
  startedAt: string
}

export function sfnApi(world: World): Api<Caller> {
  const start: Route<Caller> = {
    id: action,
    match: request => (request.method === 'POST' && request.headers['x-amz-target'] === `AWSStepFunctions.${action}` ? {} : null),
    parameters: ['stateMachineArn', 'name', 'input'],
    answer(request, _, { principal }) {
      if (world.sfn.denied)
        throw new Refusal(
          400,
          'AccessDeniedException',
          `User: ${principal.arn} is not authorized to perform: states:${action} because no identity-based policy allows the states:${action} action`,
        )
      return json(started(inputOf(request), world))
    },
  }
  return {
    name: 'sfn',
    routes: [start],
    parametersOf: request => new URLSearchParams(Object.fromEntries(Object.keys(inputOf(request)).map(name => [name, '']))),
    authenticate: request => authenticated(request, world, 'states'),
    error: ({ status, code, message }) => json({ __type: code, message }, status),
  }
}

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

const json = (body: object, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify(body),
})

function inputOf(request: LabRequest): RawObject {
  const body: unknown = JSON.parse(request.body.toString() || '{}')
  if (!isRawObject(body)) throw new Refusal(400, 'SerializationException', 'The body is no object.')
  return body
}
