/** Pods that somebody misses when they are not ready: of many alike, and the only one of its kind. */
import type { PodProfile } from '#lab/nodes/pod-profile.ts'
import { suffixOf } from '#lab/nodes/random.ts'
import type { DisruptionBudget } from './scenario.ts'

const registry = '111122223333.dkr.ecr.us-east-1.amazonaws.com'

/** @param index of the node in its nodegroup: every third has a pod that is the only one of its owner */
export const requiredPods = (node: string, index: number): PodProfile[] => [
  storefront(node),
  ...(index % 3 === 0 ? [ledger(node)] : []),
]

const storefront = (node: string): PodProfile => ({
  namespace: 'store',
  name: `storefront-6c54bd5869-${suffixOf(`${node}/storefront`)}`,
  owner: { kind: 'ReplicaSet', name: 'storefront-6c54bd5869' },
  labels: { app: 'storefront', 'pod-template-hash': '6c54bd5869' },
  containers: [
    {
      name: 'storefront',
      image: `${registry}/store/storefront:2026.11.3`,
      memoryMiB: 240,
      rootfsMiB: 12,
      logsMiB: 30,
      requests: { cpu: '250m', memory: '256Mi' },
      limits: { memory: '512Mi' },
      probes: ['readiness'],
    },
  ],
  phase: 'Running',
})

const ledger = (node: string): PodProfile => {
  const name = `ledger-${suffixOf(`${node}/ledger`, 3)}`
  return {
    namespace: 'store',
    name: `${name}-0`,
    owner: { kind: 'StatefulSet', name },
    labels: { app: 'ledger' },
    containers: [
      {
        name: 'ledger',
        image: `${registry}/store/ledger:8.1`,
        memoryMiB: 410,
        rootfsMiB: 4,
        logsMiB: 12,
        requests: { cpu: '500m', memory: '512Mi' },
        limits: { memory: '1024Mi' },
        probes: ['startup', 'readiness'],
      },
    ],
    phase: 'Running',
  }
}

/** @param nodes of the cluster; half of the storefronts may be missing at a time @param hasTightBudget none of the ledgers may */
export const requiredBudgets = (nodes: number, hasTightBudget: boolean): DisruptionBudget[] => [
  {
    namespace: 'store',
    name: 'storefront',
    matchLabels: { app: 'storefront' },
    minAvailable: Math.floor(nodes / 2),
  },
  ...(hasTightBudget
    ? [{ namespace: 'store', name: 'ledger', matchLabels: { app: 'ledger' }, minAvailable: nodes }]
    : []),
]
