/**
 * The state machine of a fan-out, executed by an interpreter of the States Language that others wrote. It knows no ItemReader: a task that reads the items is
 * put before each map that has one, and fails as the map would.
 */
import { readFileSync } from 'node:fs'
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'

interface State {
  Type: string
  Next?: string
  Catch?: { Next: string }[]
  ItemReader?: { Parameters: object }
  ItemProcessor?: Machine
  [field: string]: unknown
}

interface Machine {
  StartAt: string
  States: Record<string, State>
}

export const stateMachine: Machine = JSON.parse(
  readFileSync('src/pipeline/fan-out/state-machine.json', 'utf8'),
)

/** Source: Step Functions developer guide, Quotas: input or output of a state. */
const payloadMaxBytes = 262_144

export interface Functions {
  /** What fails throws an Error whose name the state machine sees. @param name of the function, as in `${NameArn}` */
  invoke(name: string, event: unknown): Promise<unknown>
  /** What it throws fails the map whose items these would be. Source: Step Functions developer guide, Error names. */
  readObject(bucket: string, key: string): Promise<unknown>
}

export interface Execution {
  output: unknown
  /** The largest that went into a task or came out of one. */
  largestPayloadBytes: number
}

/** @throws what the execution ends with when it fails */
export async function execute(
  input: unknown,
  { invoke, readObject }: Functions,
): Promise<Execution> {
  let largestPayloadBytes = 0
  const measured = <Payload>(payload: Payload): Payload => {
    const bytes = Buffer.byteLength(JSON.stringify(payload) ?? '')
    largestPayloadBytes = Math.max(largestPayloadBytes, bytes)
    if (bytes > payloadMaxBytes)
      throw Object.assign(new Error(`${bytes} bytes`), { name: 'States.DataLimitExceeded' })
    return payload
  }
  const task = async ({ FunctionName, Payload }: { FunctionName: string; Payload: unknown }) => {
    const answer = await invoke(
      /^\$\{(\w+)Arn\}$/.exec(FunctionName)?.[1] ?? FunctionName,
      measured(Payload),
    )
    return { Payload: measured(answer ?? null) }
  }
  const read = async ({ Bucket, Key }: { Bucket: string; Key: string }) => {
    try {
      return await readObject(Bucket, Key)
    } catch (error) {
      throw Object.assign(
        new Error(error instanceof Error ? error.message : String(error), { cause: error }),
        { name: 'States.ItemReaderFailed' },
      )
    }
  }
  const definition = withItemsRead(stateMachine)
  const names = tasksOf(definition)
  const handlers = Object.fromEntries(
    names.map(name => [name, name.startsWith(readerOf('')) ? read : task]),
  )
  const machine = new StateMachine(definition as unknown as StateMachineDefinition, {
    // fan-out.test.ts validates the definition, once.
    validationOptions: { noValidate: true },
  })
  const { result } = machine.run(input as Parameters<typeof machine.run>[0], {
    overrides: {
      taskResourceLocalHandlers: handlers as never,
      retryIntervalOverrides: Object.fromEntries(names.map(name => [name, 10])),
    },
  })
  return { output: await result, largestPayloadBytes }
}

const readerOf = (map: string) => `Items of ${map}`
const itemsField = 'itemsOfMap'

function withItemsRead({ StartAt, States, ...rest }: Machine): Machine {
  const readers = new Map(
    Object.entries(States).flatMap(([name, { ItemReader }]) =>
      ItemReader ? [[name, ItemReader.Parameters] as const] : [],
    ),
  )
  const to = (name: string) => (readers.has(name) ? readerOf(name) : name)
  const states = Object.entries(States).flatMap(
    ([name, { ItemReader: _reader, ItemProcessor, Next, Catch, ...state }]) => {
      const parameters = readers.get(name)
      const caught = Catch?.map(one => ({ ...one, Next: to(one.Next) }))
      const made = {
        ...state,
        ...(Next !== undefined && { Next: to(Next) }),
        ...(caught && { Catch: caught }),
        ...(ItemProcessor && { ItemProcessor: withItemsRead(ItemProcessor) }),
        ...(parameters && { ItemsPath: `$.${itemsField}` }),
      }
      const reader = {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Parameters: parameters,
        ResultPath: `$.${itemsField}`,
        ...(caught && { Catch: caught }),
        Next: name,
      }
      return [...(parameters ? [[readerOf(name), reader] as const] : []), [name, made] as const]
    },
  )
  return { ...rest, StartAt: to(StartAt), States: Object.fromEntries(states) as Machine['States'] }
}

const tasksOf = ({ States }: Machine): string[] =>
  Object.entries(States).flatMap(([name, { Type, ItemProcessor }]) => [
    ...(Type === 'Task' ? [name] : []),
    ...(ItemProcessor ? tasksOf(ItemProcessor) : []),
  ])
