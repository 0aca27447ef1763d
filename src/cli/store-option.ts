/** A store as the command line names it: a folder, or `s3://bucket/prefix`. */
import { resolve } from 'node:path'
import { sdkRegion } from '#clients/eks.ts'
import { folderStore } from '#clients/folder-store.ts'
import { s3Store } from '#clients/s3.ts'
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'

export const storeHelp = 'a folder or s3://BUCKET/PREFIX'

/** @throws OperatorError when it names no bucket, or no region is set */
export async function openStore(named: string): Promise<Store> {
  if (!named.startsWith('s3://')) return folderStore(resolve(named))
  // Source: Amazon S3 user guide, Bucket naming rules.
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(named)
  if (match === null) throw new OperatorError(`${named} names no bucket: write s3://BUCKET or s3://BUCKET/PREFIX`)
  const region = await sdkRegion()
  if (region === null) throw new OperatorError('No AWS region is set for the bucket: set AWS_REGION, or a region in the AWS profile')
  const prefix = (match[2] ?? '').replace(/\/+$/, '')
  return s3Store({ bucket: match[1] ?? '', prefix: prefix === '' ? '' : `${prefix}/`, region })
}
