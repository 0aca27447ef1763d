/** The SSM documents that change a node: names, hashes of their content, and what they accept. `vitest run test/remediate -u` writes the hashes. */
import hashes from './apply-documents.json' with { type: 'json' }

export const applySchema = 'highwater.apply/1'

/** Hash (Sha256) by document name, for SendCommand. SSM refuses another content. */
export const applyDocumentHashes: Readonly<Record<keyof typeof hashes, string>> = hashes

/** The first agent version that passes parameters as environment variables. Source: Systems Manager user guide, interpolationType ENV_VAR. */
export const applyAgentVersion = '3.3.2746.0'

/** The only kubelet files that a plan may write, by method. Sources: awslabs/amazon-eks-ami, templates/al2 and nodeadm/internal/kubelet. */
export const applyPaths = {
  'kubelet-file': [
    '/etc/kubernetes/kubelet/kubelet-config.json',
    '/etc/kubernetes/kubelet/config.json',
  ],
  nodeadm: ['/etc/eks/nodeadm.d/50-highwater.yaml'],
  'drop-in': ['/etc/kubernetes/kubelet/config.json.d/90-highwater.conf'],
} as const
