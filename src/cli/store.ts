/** The store for journals of runs and the history of audits: `s3://bucket/prefix`, or a folder of this machine. */

import { OperatorError } from '#base/operator-error.ts'
import { noRegion, sdkRegion } from '#clients/aws/eks.ts'
import { kmsMacKey } from '#clients/aws/kms.ts'
import { folderStore } from '#clients/store/folder-store.ts'
import { defaultKeyFile, fileMacKey } from '#clients/store/key-file.ts'
import { s3Store } from '#clients/store/s3.ts'

export const defaultStore = 'highwater-remediation'

/** @throws OperatorError */
export async function storeAt(place: string) {
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
export async function regionOf(what: string) {
  const region = await sdkRegion()
  if (region !== null) return region
  throw new OperatorError(
    `${noRegion()}, so it is not known where ${what} is. Set AWS_REGION or a profile with a region`,
  )
}

/** Warns that a folder's lease protects only this folder. */
export const folderWarning = (place: string) =>
  `The journal is kept in the folder ${place}. Its lease is visible in this folder only: if several people or machines apply plans, use --store s3://bucket/prefix.\n`

/* The keys that seal approvals and journals: of KMS for a bucket, of this machine for a folder. */

/** The Lambda functions use the same variables. */
const variables = { approvals: 'HIGHWATER_APPROVAL_KEY_ID', runs: 'HIGHWATER_RUN_KEY_ID' } as const

/** @param store as given; undefined: no store @throws OperatorError if a bucket has no key */
export async function keyFor(use: keyof typeof variables, store: string | undefined) {
  const keyId = process.env[variables[use]]
  if (keyId) return kmsMacKey({ keyId, region: await regionOf(`the key ${keyId}`) })
  if (store?.includes('://'))
    throw new OperatorError(
      `${store} may be written by others, so what lies there is sealed by KMS. Set ${variables[use]} to the stack's ${use === 'runs' ? 'RunKeyArn' : 'ApprovalKeyArn'} (its outputs)`,
    )
  return fileMacKey(defaultKeyFile())
}
