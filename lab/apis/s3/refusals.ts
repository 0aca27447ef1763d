/** S3's errors. Source: Amazon S3 API reference, "Error responses". */
import { Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { S3Action } from '#lab/scenarios/scenario.ts'

export const noSuchBucket = (bucket: string) =>
  new Refusal(404, 'NoSuchBucket', 'The specified bucket does not exist', {
    details: { BucketName: bucket },
  })

export const noSuchKey = (key: string) =>
  new Refusal(404, 'NoSuchKey', 'The specified key does not exist.', { details: { Key: key } })

export const accessDenied = (
  { principal }: Caller,
  action: S3Action | `kms:${string}`,
  resource: string,
) =>
  new Refusal(
    403,
    'AccessDenied',
    `User: ${principal.arn} is not authorized to perform: ${action} on resource: "${resource}" because no identity-based policy allows the ${action} action`,
  )

export const preconditionFailed = (condition: 'If-Match' | 'If-None-Match') =>
  new Refusal(
    412,
    'PreconditionFailed',
    'At least one of the pre-conditions you specified did not hold',
    { details: { Condition: condition } },
  )

export const invalidArgument = (message: string) => new Refusal(400, 'InvalidArgument', message)

export const badDigest = (algorithm: string) =>
  new Refusal(
    400,
    'BadDigest',
    `The ${algorithm} you specified did not match the calculated checksum.`,
  )
