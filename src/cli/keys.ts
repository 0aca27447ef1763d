/** The keys that seal approvals and journals: of KMS for a bucket, of this machine for a folder. */

import { OperatorError } from '#base/operator-error.ts'
import { kmsMacKey } from '#clients/aws/kms.ts'
import { defaultKeyFile, fileMacKey } from '#clients/store/key-file.ts'
import type { MacKey } from '#clients/store/mac-key.ts'
import { regionOf } from './store.ts'

/** The Lambda functions use the same variables. */
const variables = { approvals: 'HIGHWATER_APPROVAL_KEY_ID', runs: 'HIGHWATER_RUN_KEY_ID' } as const

/** @param store as given; undefined: no store @throws OperatorError if a bucket has no key */
export async function keyFor(
  of: keyof typeof variables,
  store: string | undefined,
): Promise<MacKey> {
  const keyId = process.env[variables[of]]
  if (keyId) return kmsMacKey({ keyId, region: await regionOf(`the key ${keyId}`) })
  if (store?.includes('://'))
    throw new OperatorError(
      `${store} may be written by others, so what lies there is sealed by KMS. Set ${variables[of]} to the stack's ${of === 'runs' ? 'RunKeyArn' : 'ApprovalKeyArn'} (its outputs)`,
    )
  return fileMacKey(defaultKeyFile())
}
