/** The caller's AWS credentials, as the SDK finds them, or those of a role in another account. */
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers'

/** The right that the function's role needs to assume a role in another account. */
export const stsPermissions = ['sts:AssumeRole']

export type CredentialSource = ReturnType<typeof fromNodeProviderChain>
export type AwsCredentials = Awaited<ReturnType<CredentialSource>>

/**
 * Credentials for one account, from the SDK's own chain (environment, profile, SSO, instance or function role). If `roleArn` is given,
 * the chain's identity assumes that role. The credentials renew themselves.
 */
export function credentialSource(
  roleArn: string | null,
  externalId: string | null,
  region: string,
): CredentialSource {
  const own = fromNodeProviderChain({ clientConfig: { region } })
  if (roleArn === null) return own
  return fromTemporaryCredentials({
    masterCredentials: own,
    params: { RoleArn: roleArn, RoleSessionName: 'highwater', ExternalId: externalId ?? undefined },
    clientConfig: { region },
  })
}
