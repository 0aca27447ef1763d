/** Accounts and regions of a policy, and account ids. */

import { OperatorError } from '#base/operator-error.ts'
import { type CredentialSource, credentialSource } from '#clients/aws/credentials.ts'
import { noRegion, sdkRegion } from '#clients/aws/eks.ts'
import { callerAccount } from '#clients/aws/sts.ts'
import { accountInArn } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'

/** A region, and the credentials of an account. */
export interface AwsPlace {
  region: string
  /** The role to assume; its ARN contains the account. Null: the caller's account. */
  roleArn: string | null
  externalId: string | null
  credentials: CredentialSource
}

/** Returns every pair of role and region once, in the policy's order. @throws OperatorError if the caller's own region is needed and unknown */
export async function awsPlaces({ accounts }: Pick<Policy, 'accounts'>): Promise<AwsPlace[]> {
  const places = new Map<string, AwsPlace>()
  for (const { roleArn, externalId, regions } of accounts)
    for (const region of regions ?? [await ownRegion()]) {
      const key = JSON.stringify([roleArn, region])
      const credentials = credentialSource(roleArn, externalId, region)
      if (!places.has(key)) places.set(key, { region, roleArn, externalId, credentials })
    }
  return [...places.values()]
}

async function ownRegion() {
  const region = await sdkRegion()
  if (region === null)
    throw new OperatorError(
      `${noRegion()}. Set AWS_REGION or a profile with a region, or give --region`,
    )
  return region
}

/**
 * Whether a policy names more than one pair of account and region. Only the policy's text decides, so an unavailable service cannot change the result.
 * @throws OperatorError as awsPlaces
 */
export async function isAcrossPlaces(policy: Pick<Policy, 'accounts'>): Promise<boolean> {
  const places = await awsPlaces(policy)
  const keys = places.map(({ roleArn, region }) =>
    JSON.stringify([roleArn && accountInArn(roleArn), region]),
  )
  return new Set(keys).size > 1
}

export interface Accounts {
  /** The account in the role's ARN; without a role, the caller's account from STS. Null: STS did not answer. */
  accountOf(place: AwsPlace): Promise<string | null>
}

/** Calls STS when the caller's account is first needed. */
export function accountsOf(signal: AbortSignal): Accounts {
  let own: Promise<string | null> | null = null
  return {
    async accountOf({ roleArn, region, credentials }) {
      if (roleArn !== null) return accountInArn(roleArn)
      own ??= callerAccount(region, credentials, signal).catch(() => null)
      return own
    },
  }
}
