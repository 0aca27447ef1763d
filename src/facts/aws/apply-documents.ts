/** The SSM documents that change a node: their names, the hashes of their content, what they take. The hashes are written by `vitest run test/remediate -u`. */
import hashes from './apply-documents.json' with { type: 'json' }

export const applySchema = 'highwater.apply/1'

/** By name: `DocumentHash` (Sha256) for SendCommand, with which SSM refuses any other content. */
export const applyDocumentHashes: Readonly<Record<keyof typeof hashes, string>> = hashes

/** From this one on the agent hands parameters over as environment variables. Source: Systems Manager user guide, interpolationType ENV_VAR. */
export const applyAgentVersion = '3.3.2746.0'

/** The only files of the kubelet that are ever written, by method. Sources: awslabs/amazon-eks-ami, templates/al2 and nodeadm/internal/kubelet. */
export const applyPaths = {
  'kubelet-file': [
    '/etc/kubernetes/kubelet/kubelet-config.json',
    '/etc/kubernetes/kubelet/config.json',
  ],
  nodeadm: ['/etc/eks/nodeadm.d/50-highwater.yaml'],
  'drop-in': ['/etc/kubernetes/kubelet/config.json.d/90-highwater.conf'],
} as const
