/** Nodes that no plan writes to. Only the durable fix, a text for people, helps these nodes. */
import { hybridInstanceForm } from '#facts/eks/kubelet-places.ts'
import type { NodeIdentity } from '#model/input/record.ts'

/** Why a plan must not change the node; null: a plan may change it. */
export function whyNever({ owner, operatingSystem, name }: NodeIdentity): string | null {
  if (owner === 'fargate') return 'Fargate: AWS runs this kubelet, and nothing of it can be set'
  if (owner === 'auto-mode')
    return 'EKS Auto Mode: AWS fixes the settings of its kubelets; only the disk of the NodeClass is yours'
  if (owner === 'karpenter')
    return 'Karpenter: the node is short-lived and drifts back; set it in the EC2NodeClass, which replaces the nodes'
  if (operatingSystem === 'windows')
    return 'Windows: its nodes are audited, and set by user data only'
  if (owner === 'hybrid' && !hybridInstanceForm.test(name))
    return 'a hybrid node of IAM Roles Anywhere: SSM does not know it; set it in the NodeConfig on the machine'
  return null
}

/** The id by which SSM knows the node; null: SSM does not know the node. */
export const instanceIdOf = ({ owner, name, instanceId }: NodeIdentity): string | null =>
  owner === 'hybrid' && hybridInstanceForm.test(name) ? name : instanceId
