/** The caller's AWS credentials, as the SDK finds them, or those of a role in another account. */
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers'

/** What a role in another account costs the function's role. */
export const stsPermissions = ['sts:AssumeRole']

export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
}

export type CredentialSource = () => Promise<AwsCredentials>

/**
 * Credentials for one account: the SDK's own chain (environment, profile, SSO, instance or function role), and from there the role, if one is named.
 * They renew themselves.
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
    params: {
      RoleArn: roleArn,
      RoleSessionName: 'highwater',
      ...(externalId === null ? {} : { ExternalId: externalId }),
    },
    clientConfig: { region },
  })
}
