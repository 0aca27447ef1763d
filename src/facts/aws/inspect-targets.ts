/**
 * Which nodes SSM can inspect, and with which document; else the reason. No call is made.
 * Sources: EKS user guide (Auto Mode, Fargate, hybrid nodes); the documents' own precondition (Linux).
 */

import type { NodeIdentity } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import hashes from './inspect-documents.json' with { type: 'json' }

/* The SSM documents that read a node: names, hashes of their content, and schema of the output. `vitest run test/remediate -u` writes the hashes. */

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

export type InspectTarget =
  | {
      isReachable: true
      instanceId: string
      /** Configuration and runtime. */
      document: InspectDocument
      /** Use of disks. Null: the agent sees no disk of the host. */
      disksDocument: InspectDocument | null
    }
  | { isReachable: false; reason: string }

export type InspectIdentity = Pick<
  NodeIdentity,
  'owner' | 'amiFamily' | 'operatingSystem' | 'instanceId'
>

const noTarget = (reason: string): InspectTarget => ({ isReachable: false, reason })

export function inspectTargetOf({
  owner,
  amiFamily,
  operatingSystem,
  instanceId,
}: InspectIdentity): InspectTarget {
  if (owner === 'fargate') return noTarget('a Fargate node has no instance that SSM could reach')
  if (owner === 'auto-mode')
    return noTarget(
      'AWS runs this instance (EKS Auto Mode): it has no SSM agent for its owner, so mode ssm cannot read it',
    )
  if (operatingSystem === 'windows')
    return noTarget(
      'a Windows node: what is run on nodes runs on Linux only, so mode ssm cannot read it',
    )
  if (instanceId !== null) {
    const isBottlerocket = amiFamily === 'Bottlerocket'
    return {
      isReachable: true,
      instanceId,
      document: isBottlerocket ? 'Highwater-InspectBottlerocket' : 'Highwater-Inspect',
      disksDocument: isBottlerocket ? null : 'Highwater-InspectDisks',
    }
  }
  if (owner === 'hybrid')
    return noTarget(
      'a hybrid node that SSM did not activate (IAM Roles Anywhere): it has no mi-… id by which SSM would know it',
    )
  return noTarget('its spec.providerID names no EC2 instance, so SSM cannot reach it')
}

/** Whether SSM can measure the disks of the node. */
export function canMeasureDisks(identity: InspectIdentity): boolean {
  const target = inspectTargetOf(identity)
  return target.isReachable && target.disksDocument !== null
}
