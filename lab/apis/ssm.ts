/** SSM as an auditor uses it: managed instances and Run Command, protocol JSON 1.1. Source: the service model `ssm`, and the SSM API reference. */
import { randomUUID } from 'node:crypto'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { type Api, notImplemented, Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { awsJsonApi, notAuthorized } from './aws-json.ts'
import { md5Hex, type StoredObject } from './s3/object-store.ts'
import { runOn, type Step, stepOf } from './ssm/run.ts'
import type { Command, Invocation } from './ssm/state.ts'

const commandInstancesMax = 50

type Action = (input: RawObject, world: World) => RawObject

const actions: Readonly<Record<string, { parameters: readonly string[]; run: Action }>> = {
  DescribeDocument: { parameters: ['Name', 'DocumentVersion'], run: describeDocument },
  DescribeInstanceInformation: {
    parameters: ['Filters', 'MaxResults', 'NextToken'],
    run: describeInstances,
  },
  SendCommand: {
    parameters: [
      ...[
        'DocumentName',
        'DocumentVersion',
        'DocumentHash',
        'DocumentHashType',
        'InstanceIds',
        'Parameters',
        'Comment',
        'TimeoutSeconds',
      ],
      ...['MaxConcurrency', 'MaxErrors', 'OutputS3BucketName', 'OutputS3KeyPrefix'],
    ],
    run: sendCommand,
  },
  ListCommandInvocations: {
    parameters: ['CommandId', 'InstanceId', 'MaxResults', 'NextToken'],
    run: listInvocations,
  },
  GetCommandInvocation: {
    parameters: ['CommandId', 'InstanceId', 'PluginName'],
    run: getInvocation,
  },
}

export const ssmApi = (world: World): Api<Caller> =>
  awsJsonApi(world, {
    ...{ name: 'ssm', signingName: 'ssm', version: '1.1', target: 'AmazonSSM' },
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, { parameters, run }]) => [
        name,
        {
          parameters,
          answer(input, caller) {
            const action = `ssm:${name}`
            if (world.ssm.scenario.denied.includes(action))
              throw new Refusal(400, 'AccessDeniedException', notAuthorized(caller, action))
            if (isThrottled(name, world))
              throw new Refusal(400, 'ThrottlingException', 'Rate exceeded')
            return run(input, world)
          },
        },
      ]),
    ),
  })

function isThrottled(action: string, { ssm }: World): boolean {
  const left = ssm.throttlesLeftOf.get(action) ?? 0
  if (ssm.throttlesLeft > 0) ssm.throttlesLeft -= 1
  else if (left > 0) ssm.throttlesLeftOf.set(action, left - 1)
  else return false
  return true
}

/** A page of a list; the token is the index at which the next one begins. */
function page<Item>(
  items: readonly Item[],
  { MaxResults, NextToken }: RawObject,
): { items: Item[]; more: { NextToken?: string } } {
  const start = NextToken === undefined ? 0 : Number(NextToken)
  if (!Number.isInteger(start))
    throw new Refusal(400, 'InvalidNextToken', 'The specified token is not valid.')
  const end = start + Math.min(50, typeof MaxResults === 'number' ? MaxResults : 50)
  return {
    items: items.slice(start, end),
    more: end < items.length ? { NextToken: String(end) } : {},
  }
}

function describeDocument({ Name }: RawObject, { ssm }: World): RawObject {
  const document = ssm.documents.get(String(Name))
  if (!document)
    throw new Refusal(400, 'InvalidDocument', `Document with name ${String(Name)} does not exist.`)
  return {
    Document: {
      Name: document.name,
      DocumentVersion: '1',
      DefaultVersion: '1',
      LatestVersion: '1',
      DocumentFormat: 'JSON',
      DocumentType: 'Command',
      SchemaVersion: '2.2',
      PlatformTypes: ['Linux'],
      Hash: document.sha256,
      HashType: 'Sha256',
      Status: 'Active',
    },
  }
}

function describeInstances(input: RawObject, { ssm, at }: World): RawObject {
  const filters = Array.isArray(input.Filters) ? input.Filters.filter(isRawObject) : []
  if (filters.some(({ Key }) => Key !== 'InstanceIds'))
    throw notImplemented("the lab's ssm filters by InstanceIds only")
  const wanted = filters.map(
    ({ Values }) => new Set(Array.isArray(Values) ? Values.map(String) : []),
  )
  if (wanted.some(ids => ids.size > 100))
    throw new Refusal(
      400,
      'ValidationException',
      'Member must have length less than or equal to 100',
    )
  const { items, more } = page(
    ssm.instanceIds().filter(id => wanted.every(ids => ids.has(id))),
    input,
  )
  return {
    InstanceInformationList: items.map(id => {
      const {
        version = '3.3.3598.0',
        platform = 'Linux',
        pingStatus = 'Online',
        lastPingMinutesAgo = 0,
      } = ssm.agentOf(id)!
      // An agent that answers is as near as the caller's clock; a lost one is of the world's night.
      const heardMs = pingStatus === 'Online' ? Date.now() : Date.parse(at)
      return {
        InstanceId: id,
        PingStatus: pingStatus,
        LastPingDateTime: heardMs / 1000 - 60 * lastPingMinutesAgo,
        AgentVersion: version,
        PlatformType: platform,
        PlatformName:
          platform === 'Linux' ? 'Amazon Linux' : 'Microsoft Windows Server 2022 Datacenter',
        ResourceType: id.startsWith('mi-') ? 'ManagedInstance' : 'EC2Instance',
      }
    }),
    ...more,
  }
}

function sendCommand(input: RawObject, world: World): RawObject {
  const { ssm } = world
  const ids = Array.isArray(input.InstanceIds) ? input.InstanceIds.map(String) : []
  if (ids.length === 0 || ids.length > commandInstancesMax)
    throw new Refusal(
      400,
      'ValidationException',
      "Value at 'instanceIds' failed to satisfy constraint: 1 to 50 members",
    )
  if (new Set(ids).size < ids.length)
    throw new Refusal(
      400,
      'DuplicateInstanceId',
      'You can’t specify an instance ID in more than one place.',
    )
  const document = ssm.documents.get(String(input.DocumentName))
  if (!document)
    throw new Refusal(
      400,
      'InvalidDocument',
      `Document with name ${String(input.DocumentName)} does not exist.`,
    )
  if (
    input.DocumentVersion !== undefined &&
    !/^(1|\$LATEST|\$DEFAULT)$/.test(String(input.DocumentVersion))
  )
    throw new Refusal(
      400,
      'InvalidDocumentVersion',
      'The document version is not valid or doesn’t exist.',
    )
  if (input.DocumentHash !== undefined && input.DocumentHash !== document.sha256)
    throw new Refusal(
      400,
      'InvalidDocumentContent',
      'The document hash does not match the content of the document.',
    )
  if (ids.filter(ssm.isRefused).length > 0)
    throw new Refusal(400, 'InvalidInstanceId', 'Instances not in a valid state for account')
  const parameters = isRawObject(input.Parameters) ? input.Parameters : {}
  const step = stepOf(document.content, parameters)
  const bucket = typeof input.OutputS3BucketName === 'string' ? input.OutputS3BucketName : null
  const command: Command = {
    id: randomUUID(),
    document: document.name,
    comment: String(input.Comment ?? ''),
    parameters,
    requestedAtMs: Date.now(),
    stepName: step.name,
    output: bucket === null ? null : { bucket, prefix: String(input.OutputS3KeyPrefix ?? '') },
    invocations: new Map(ids.map(id => [id, pending(id, ssm.scenario.unseenFirst)])),
  }
  ssm.commands.set(command.id, command)
  void runAll(command, step, world)
  return {
    Command: {
      CommandId: command.id,
      DocumentName: command.document,
      Comment: command.comment,
      InstanceIds: ids,
      Status: 'Pending',
      StatusDetails: 'Pending',
      RequestedDateTime: command.requestedAtMs / 1000,
      TargetCount: ids.length,
    },
  }
}

const pending = (instanceId: string, unseenLeft: number): Invocation => ({
  instanceId,
  status: 'Pending',
  statusDetails: 'Pending',
  responseCode: -1,
  stdout: '',
  stderr: '',
  unseenLeft,
})

/** Longer output goes to S3, where the command says so: `prefix/command/instance/awsrunShellScript/step/stdout`. */
async function runAll(
  { id, stepName, output, invocations }: Command,
  step: Step,
  { ssm, s3 }: World,
): Promise<void> {
  const work = async (invocation: Invocation) => {
    const agent = ssm.agentOf(invocation.instanceId)
    const said = agent ? await runOn(agent, step, invocation) : ''
    const key = [output?.prefix, id, invocation.instanceId, 'awsrunShellScript', stepName, 'stdout']
      .filter(part => part)
      .join('/')
    const mayWrite =
      output !== null &&
      s3.scenario.buckets.includes(output.bucket) &&
      !s3.scenario.denied.includes('s3:PutObject')
    if (mayWrite && said !== '') s3.objects.put(output.bucket, key, stored(Buffer.from(said)))
  }
  await Promise.all([...invocations.values()].map(work))
}

const stored = (body: Buffer): StoredObject => ({
  body,
  etag: md5Hex(body),
  lastModifiedMs: Date.now(),
  headers: { 'content-type': 'text/plain' },
})

const commandOf = ({ CommandId }: RawObject, { ssm }: World): Command => {
  const command = ssm.commands.get(String(CommandId))
  if (!command) throw new Refusal(400, 'InvalidCommandId', 'The specified command ID isn’t valid.')
  return command
}

/** False, once less often each time, while the invocation is not yet consistent. */
function isSeen(invocation: Invocation): boolean {
  if (invocation.unseenLeft === 0) return true
  invocation.unseenLeft -= 1
  return false
}

function listInvocations(input: RawObject, world: World): RawObject {
  const command = commandOf(input, world)
  const wanted = [...command.invocations.values()].filter(
    ({ instanceId }) => input.InstanceId === undefined || input.InstanceId === instanceId,
  )
  const { items, more } = page(wanted.filter(isSeen), input)
  return {
    CommandInvocations: items.map(({ instanceId, status, statusDetails }) => ({
      CommandId: command.id,
      InstanceId: instanceId,
      DocumentName: command.document,
      Comment: command.comment,
      RequestedDateTime: command.requestedAtMs / 1000,
      Status: status,
      StatusDetails: statusDetails,
    })),
    ...more,
  }
}

function getInvocation(input: RawObject, world: World): RawObject {
  const command = commandOf(input, world)
  const invocation = command.invocations.get(String(input.InstanceId))
  if (!invocation || !isSeen(invocation))
    throw new Refusal(
      400,
      'InvocationDoesNotExist',
      'The command ID and managed node ID you specified didn’t match any invocations.',
    )
  if (input.PluginName !== undefined && input.PluginName !== command.stepName)
    throw new Refusal(400, 'InvalidPluginName', 'The plugin name isn’t valid.')
  return {
    CommandId: command.id,
    InstanceId: invocation.instanceId,
    Comment: command.comment,
    DocumentName: command.document,
    PluginName: command.stepName,
    ResponseCode: invocation.responseCode,
    Status: invocation.status,
    StatusDetails: invocation.statusDetails,
    StandardOutputContent: invocation.stdout,
    StandardErrorContent: invocation.stderr,
    ExecutionStartDateTime: new Date(command.requestedAtMs).toISOString(),
  }
}
