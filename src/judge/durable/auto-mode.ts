/** EKS Auto Mode: only `spec.ephemeralStorage` of the NodeClass is the user's. Source: aws/containers-roadmap#2876; EKS user guide, node class */
import type { DurableTarget } from './durable.ts'

const snippet = `# EKS Auto Mode fixes the kubelet's configuration; the disk's size is all that can be changed.
apiVersion: eks.amazonaws.com/v1
kind: NodeClass
spec:
  ephemeralStorage:
    size: # larger than now, for example 160Gi
`

export const autoMode: DurableTarget = {
  target: 'auto-mode',
  isFor: ({ owner }) => owner === 'auto-mode',
  snippet: () => snippet,
}
