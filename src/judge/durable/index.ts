import { bottlerocket } from './bottlerocket.ts'
import type { DurableTarget } from './durable.ts'
import { eksctl } from './eksctl.ts'
import { karpenter } from './karpenter.ts'
import { kops } from './kops.ts'
import { launchTemplate } from './launch-template.ts'
import { nodeadm } from './nodeadm.ts'

const snippet = `# EKS Auto Mode fixes the kubelet's configuration; the disk's size is all that can be changed.
apiVersion: eks.amazonaws.com/v1
kind: NodeClass
spec:
  ephemeralStorage:
    size: # larger than now, for example 160Gi
`

const autoMode: DurableTarget = {
  target: 'auto-mode',
  isFor: ({ owner }) => owner === 'auto-mode',
  snippet: () => snippet,
}

/** Tools that create nodes come before the files that an image reads. The first match is used. */
export const durableTargets: readonly DurableTarget[] = [
  autoMode,
  karpenter,
  eksctl,
  kops,
  bottlerocket,
  nodeadm,
  launchTemplate,
]
