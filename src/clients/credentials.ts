/** The caller's AWS credentials, as the SDK finds them, or those of a role in another account. */
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers'

/** The right that the function's role needs for a role in another account. */
export const stsPermissions = ['sts:AssumeRole']

export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
}

export type CredentialSource = () => Promise<AwsCredentials>

/**
 * Credentials for one account: the SDK's own chain (environment, profile, SSO, instance or function role), then the role, if one is named.
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
