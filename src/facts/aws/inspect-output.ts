import type { Policy } from '#model/policy.ts'

export type InspectOutput = NonNullable<Policy['inspectOutput']>

/** Empty, or ends in a slash. */
export const outputFolder = ({ prefix }: InspectOutput): string =>
  prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`

/** Key in the folder. Source: Systems Manager user guide, running commands: output in S3. */
export const outputKey = (commandId: string, instanceId: string, stepName: string): string =>
  `${commandId}/${instanceId}/awsrunShellScript/${stepName}/stdout`

/** IAM actions that the instances' own roles need to write outputs. Source: Systems Manager user guide, instance permissions: S3 bucket for Run Command output. */
export const agentOutputPermissions = ['s3:PutObject', 's3:GetEncryptionConfiguration']
