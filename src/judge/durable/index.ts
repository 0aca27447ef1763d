import { autoMode } from './auto-mode.ts'
import { bottlerocket } from './bottlerocket.ts'
import type { DurableTarget } from './durable.ts'
import { eksctl } from './eksctl.ts'
import { karpenter } from './karpenter.ts'
import { launchTemplate } from './launch-template.ts'
import { nodeadm } from './nodeadm.ts'

/** Who makes nodes before what their image reads: the first that fits is the one. */
export const durableTargets: readonly DurableTarget[] = [
  autoMode,
  karpenter,
  eksctl,
  bottlerocket,
  nodeadm,
  launchTemplate,
]
