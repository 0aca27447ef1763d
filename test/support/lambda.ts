/** The function's handler, invoked as Lambda does, with the lab's endpoints. */
import { randomUUID } from 'node:crypto'
import { vi } from 'vitest'
import { handler } from '#handlers/audit.ts'
import { handler as auditShardHandler } from '#handlers/audit-shard.ts'
import { handler as discoverHandler } from '#handlers/discover.ts'
import type { LambdaContext } from '#handlers/lambda.ts'
import { handler as publishHandler } from '#handlers/publish.ts'
import { handler as remediateHandler } from '#handlers/remediate.ts'
import { labApprovalKey, labRunKey } from '#lab/world.ts'
import type { RemediationAnswer } from '#model/plan.ts'
import type { RunAnswer } from '#model/run.ts'
import { undoneWithTest, withEnvironment } from './undo.ts'

export const serviceEnvironment = {
  HIGHWATER_BUCKET: 'highwater-lab',
  HIGHWATER_RUN_KEY_ID: labRunKey,
  HIGHWATER_APPROVAL_KEY_ID: labApprovalKey,
  HIGHWATER_SENDER: 'highwater@example.com',
  HIGHWATER_RECIPIENTS: 'team@example.com',
  HIGHWATER_REMEDIATION: 'on',
  HIGHWATER_MEMBER_ROLE_ARNS: 'arn:aws:iam::444455556666:role/highwater',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
}

const lambdaContext = (remainingMs = 120_000): LambdaContext => ({
  awsRequestId: randomUUID(),
  getRemainingTimeInMillis: () => remainingMs,
})

type Invoke<Answer> = (
  event: unknown,
  environment?: Record<string, string>,
  remainingMs?: number,
) => Promise<Answer>

/** Settings go by the environment, as they do in Lambda: set for this call only. */
const invoking =
  <Answer>(handle: (event: unknown, context: LambdaContext) => Promise<Answer>): Invoke<Answer> =>
  async (event, environment = {}, remainingMs) => {
    const undo = withEnvironment({ ...serviceEnvironment, ...environment })
    try {
      return await handle(event, lambdaContext(remainingMs))
    } finally {
      undo()
    }
  }

/** What a call writes for CloudWatch: its log lines, and its metrics by their dimensions. */
export interface Written {
  lines: Record<string, unknown>[]
  /** `NodesRead{service=…}` */
  metrics: Record<string, number>
  text: string
}

/** @param call  one that invokes a function; it may fail. Levels and names are those of a deployed function. */
export async function written(
  call: () => Promise<unknown>,
): Promise<Written & { outcome: PromiseSettledResult<unknown> }> {
  let text = ''
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(chunk => {
      text += String(chunk)
      return true
    }),
  )
  const undo = undoneWithTest(() => {
    for (const spy of spies) spy.mockRestore()
  })
  const [outcome] = await Promise.allSettled([call()])
  undo()
  const objects: Record<string, unknown>[] = text
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
  const metrics: Record<string, number> = {}
  for (const object of objects.filter(isEmbedded))
    for (const { Dimensions, Metrics } of object._aws.CloudWatchMetrics)
      for (const { Name } of Metrics)
        metrics[
          `${Name}{${Dimensions.flat()
            .map(name => `${name}=${object[name]}`)
            .join()}}`
        ] = Number([object[Name]].flat()[0])
  return { lines: objects.filter(object => !isEmbedded(object)), metrics, text, outcome }
}

interface Embedded extends Record<string, unknown> {
  _aws: { CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[] }
}

const isEmbedded = (object: Record<string, unknown>): object is Embedded => '_aws' in object

export const invoke: Invoke<RunAnswer> = invoking(handler)
/** The functions of a fan-out, as the state machine names them. They run at the same time, so their environment is the process's. */
export const fanOutHandlers: Readonly<Record<string, (event: unknown) => Promise<unknown>>> = {
  Discover: event => discoverHandler(event, lambdaContext()),
  AuditShard: event => auditShardHandler(event, lambdaContext()),
  Publish: event => publishHandler(event, lambdaContext()),
}

export const invokeRemediate: Invoke<RemediationAnswer> = invoking(remediateHandler)
