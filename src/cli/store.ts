/** The store for journals of runs and the history of audits: `s3://bucket/prefix`, or a folder of this machine. */

import { OperatorError } from '#base/operator-error.ts'
import { noRegion, sdkRegion } from '#clients/aws/eks.ts'
import { folderStore } from '#clients/store/folder-store.ts'
import { s3Store } from '#clients/store/s3.ts'
import type { Store } from '#clients/store/store.ts'

export const defaultStore = 'highwater-remediation'

/** @throws OperatorError */
export async function storeAt(place: string): Promise<Store> {
  if (!place.includes('://')) return folderStore(place)
  const { bucket, prefix = '' } =
    /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<prefix>.*))?$/.exec(place)
      ?.groups ?? {}
  if (bucket === undefined)
    throw new OperatorError(
      `${JSON.stringify(place.slice(0, 200))} is no store: write s3://bucket/prefix, or a folder`,
    )
  const region = await regionOf(place)
  const folder = prefix.replace(/(?<!\/)\/+$/, '')
  return s3Store({ bucket, prefix: folder === '' ? '' : `${folder}/`, region })
}

/** The region of the SDK. @throws OperatorError */
export async function regionOf(what: string): Promise<string> {
  const region = await sdkRegion()
  if (region !== null) return region
  throw new OperatorError(
    `${noRegion()}, so it is not known where ${what} is. Set AWS_REGION or a profile with a region`,
  )
}

/** Warns that a folder's lease protects only this folder. */
export const folderWarning = (place: string): string =>
  `The journal is kept in the folder ${place}. Its lease is visible in this folder only: if several people or machines apply plans, use --store s3://bucket/prefix.\n`
