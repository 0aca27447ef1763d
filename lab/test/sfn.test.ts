import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { enterLab, scenario } from './support.ts'

const stateMachineArn = 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater'
const arnOf = (name: string) =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`

let lab: Lab
beforeAll(async () => {
  lab = await enterLab(scenario([{ name: 'own' }]))
})
afterAll(() => lab.close())

const sfn = () => new SFNClient({ maxAttempts: 1 })
const start = (name: string, input = '{}') =>
  sfn().send(new StartExecutionCommand({ stateMachineArn, name, input }))
const describeOf = (name: string) =>
  sfn().send(new DescribeExecutionCommand({ executionArn: arnOf(name) }))
const taken = { name: 'ExecutionAlreadyExists' }

// As the API reference has it of standard state machines: StartExecution, and the names it says are taken.
describe('Step Functions in the lab', () => {
  it('starts an execution once for each name, and tells it again while it runs with the same input', async () => {
    const [first, second] = [await start('twice'), await start('twice')]
    expect(second).toMatchObject({ executionArn: arnOf('twice'), startDate: first.startDate })
    await expect(start('twice', '{"other":1}')).rejects.toMatchObject(taken)
    expect(await describeOf('twice')).toMatchObject({
      name: 'twice',
      stateMachineArn,
      status: 'RUNNING',
      input: '{}',
    })
    expect(lab.executions()).toHaveLength(1)
  })

  it.each(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'] as const)(
    'gives the name of one that %s to no other',
    async status => {
      await start(status)
      lab.endExecution(status, status)
      await expect(start(status)).rejects.toMatchObject(taken)
      expect(await describeOf(status)).toMatchObject({ status })
      expect(() => lab.endExecution(status, 'FAILED')).toThrow(
        `no execution named ${status} is under way`,
      )
    },
  )

  it('knows no execution that nobody started', async () => {
    await expect(describeOf('never')).rejects.toMatchObject({ name: 'ExecutionDoesNotExist' })
  })
})
