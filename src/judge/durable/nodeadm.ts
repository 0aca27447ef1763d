/**
 * NodeConfig, as AL2023 and hybrid nodes read it. Since 1.29, kubelets merge it by key into the image's own configuration.
 * Source: amazon-eks-ami nodeadm/doc/api.md, doc/examples.md; terraform-aws-eks modules/_user_data; eks-hybrid internal/kubelet
 */
import type { RawObject } from '#base/raw-object.ts'
import { comments, type DurableTarget, indent, isEmpty, settableFields, yaml } from './durable.ts'

export const nodeadm: DurableTarget = {
  target: 'nodeadm',
  isFor: ({ owner, amiFamily }) =>
    amiFamily === 'AL2023' || (owner === 'hybrid' && amiFamily !== 'Bottlerocket'),

  snippet(request) {
    const { config, leftOut } = settableFields(request)
    if (isEmpty(config)) return comments(['A NodeConfig can hold nothing of this fix.', ...leftOut])
    if (request.origin.owner === 'hybrid')
      return `${comments(['Hybrid nodes: for the NodeConfig file that nodeadm init reads on the machine.', ...leftOut])}${nodeConfig(config)}`
    return mimePart(`${comments([...inLaunchTemplate, ...leftOut])}${nodeConfig(config)}`)
  },
}

const inLaunchTemplate = [
  'User data of the launch template. Where there is some, add this as its last part: the last one wins. The part with spec.cluster stays.',
  'With terraform-aws-modules/eks it is an entry of cloudinit_pre_nodeadm (content_type application/node.eks.aws).',
  'Nodes have it when they are replaced.',
]

export const nodeConfig = (config: RawObject) => `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
${indent(yaml(config), 6)}`

const mimePart = (body: string) => `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="HIGHWATER"

--HIGHWATER
Content-Type: application/node.eks.aws

${body}
--HIGHWATER--
`
