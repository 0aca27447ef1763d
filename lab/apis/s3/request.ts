/** An S3 request once it is known who asks, what for and with which content. */
import type { Caller } from '#lab/credentials.ts'
import type { S3Action } from '#lab/scenarios/scenario.ts'
import { labAccount, type World } from '#lab/world.ts'
import type { Payload } from './payload.ts'
import { accessDenied, noSuchBucket } from './refusals.ts'

export interface S3Caller extends Caller {
  payload: Payload
}

export interface S3Request {
  world: World
  caller: S3Caller
  bucket: string
  /** Empty where the bucket itself is meant. */
  key: string
  query: URLSearchParams
  headers: Record<string, string>
  payload: Payload
}

/** @throws Refusal when the bucket is not there, or the caller may not do that with it. */
export function allow({ world, caller, bucket, key, headers }: S3Request, action: S3Action): void {
  const { scenario } = world.s3
  if (!scenario.buckets.includes(bucket)) throw noSuchBucket(bucket)
  const isOwner =
    caller.principal.account === labAccount &&
    (headers['x-amz-expected-bucket-owner'] ?? labAccount) === labAccount
  if (isOwner && !scenario.denied.includes(action)) return
  const resource = `arn:aws:s3:::${bucket}${action.startsWith('s3:ListBucket') ? '' : `/${key}`}`
  throw accessDenied(caller, action, resource)
}
