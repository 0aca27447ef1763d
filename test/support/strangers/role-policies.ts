/**
 * What the packaged template lets each function's role do, as moto checks it: of S3 it asks about the object, of all else about everything and without
 * conditions, so these are taken as wide. That the template narrows them is tested in test/pipeline/permissions.test.ts.
 */
import { packageService } from '#test/packaged.ts'
import { instantiate } from '#test/template.ts'

interface Statement {
  Effect: string
  Action: string[]
  Resource: unknown
}

/** By the function's name, as the state machine has it. */
export type RolePolicies = Readonly<Record<string, readonly Statement[]>>

const functions = ['Audit', 'Discover', 'AuditShard', 'Publish', 'Remediate']
const mails = { Sender: 'highwater@example.com', Recipients: 'team@example.com' }

/** @param bucket where reports are kept. @param prefix that the stack is set to */
export async function rolePolicies(bucket: string, prefix: string): Promise<RolePolicies> {
  const packaged = await packageService()
  try {
    const topic = { TopicArn: 'arn:aws:sns:us-east-1:123456789012:reports' }
    const given = {
      ...mails,
      ...topic,
      Prefix: prefix,
      FanOut: 'on',
      Remediation: 'on',
      ReadsBySsm: 'yes',
    }
    const { resources } = instantiate(packaged.template, given)
    const documentsOf = (role: string): { Statement: Statement[] }[] => [
      ...(
        (resources[role]?.Properties.Policies ?? []) as {
          PolicyDocument: { Statement: Statement[] }
        }[]
      ).map(each => each.PolicyDocument),
      ...Object.values(resources)
        .filter(
          ({ Type, Properties }) =>
            Type === 'AWS::IAM::Policy' && (Properties.Roles as string[]).includes(`<${role}>`),
        )
        .map(({ Properties }) => Properties.PolicyDocument as { Statement: Statement[] }),
    ]
    return Object.fromEntries(
      functions.map(name => [
        name,
        documentsOf(`${name}Role`).flatMap(({ Statement }) =>
          Statement.map(each => asMotoAsks(each, bucket)),
        ),
      ]),
    )
  } finally {
    packaged.remove()
  }
}

function asMotoAsks({ Effect, Action, Resource }: Statement, bucket: string): Statement {
  const isOfObjects = Action.every(action => action.startsWith('s3:'))
  const named = JSON.parse(
    JSON.stringify(Resource).replaceAll('<ReportBucket.Arn>', `arn:aws:s3:::${bucket}`),
  )
  return { Effect, Action, Resource: isOfObjects ? named : '*' }
}
