/** The SSM documents that read a node: names, hashes of their content, and schema of the output. `vitest run test/remediate -u` writes the hashes. */

import type { Policy } from '#model/policy.ts'
import hashes from './inspect-documents.json' with { type: 'json' }

export type InspectDocument = keyof typeof hashes

/** The schema of the answer of every document. */
export const inspectSchema = 'highwater.inspect/1'

export const inspectStep = 'inspect'

/** Hash (Sha256) by document name, for SendCommand. SSM refuses another content. */
export const inspectDocumentHashes: Readonly<Record<InspectDocument, string>> = hashes

export type InspectOutput = NonNullable<Policy['inspectOutput']>

/** Empty, or ends in a slash. */
export const outputFolder = ({ prefix }: InspectOutput): string =>
  prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`

/** Key in the folder. Source: Systems Manager user guide, running commands: output in S3. */
export const outputKey = (commandId: string, instanceId: string, stepName: string): string =>
  `${commandId}/${instanceId}/awsrunShellScript/${stepName}/stdout`

/** IAM actions that the instances' own roles need to write outputs. Source: Systems Manager user guide, instance permissions: S3 bucket for Run Command output. */
export const agentOutputPermissions = ['s3:PutObject', 's3:GetEncryptionConfiguration']
