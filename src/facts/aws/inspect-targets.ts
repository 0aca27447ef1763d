/**
 * Which nodes SSM can inspect, and with which document; else the reason. No call is made.
 * Sources: EKS user guide (Auto Mode, Fargate, hybrid nodes); the documents' own precondition (Linux).
 */
import type { NodeIdentity } from '#model/input/record.ts'
import type { InspectDocument } from './inspect-documents.ts'

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
