import { podGc } from '#replay/cluster-gc/sections/pods.ts'
import type { Family } from './family.ts'

interface PodInput {
  namespace: string
  name: string
  phase?: string
  reason?: string
  creationTimestamp?: string
  nodeName?: string
  deleting?: boolean
}

interface Input {
  terminatedPodGCThreshold: number
  pods?: PodInput[] | null
  nodes?: { name: string; ready?: boolean; outOfServiceTaint?: boolean }[] | null
}

const betweenPassesMs = 41_000

/** Two passes: the first one finds nodes gone that it has not missed before. */
export const podGcFamily: Family<Input> = {
  name: 'pod-gc',
  answer({ terminatedPodGCThreshold, pods, nodes }) {
    const pass = (left: PodInput[], missingMs: number) => {
      const missingForMs = new Map(left.map(({ nodeName = '' }) => [nodeName, missingMs]))
      const input = {
        pods: left.map(podOf),
        nodes: (nodes ?? []).map(nodeOf),
        terminatedPodThreshold: terminatedPodGCThreshold,
        missingForMs,
      }
      return podGc(input)
        .deletions.filter(({ certainty }) => certainty === 'certain')
        .map(({ pod }) => pod)
        .sort()
    }
    const firstPass = pass(pods ?? [], 0)
    const left = (pods ?? []).filter(
      ({ namespace, name }) => !firstPass.includes(`${namespace}/${name}`),
    )
    return { firstPass, after41s: pass(left, betweenPassesMs) }
  },
}

const podOf = ({
  namespace,
  name,
  phase,
  reason,
  creationTimestamp,
  nodeName,
  deleting,
}: PodInput) => ({
  metadata: {
    namespace,
    name,
    creationTimestamp,
    deletionTimestamp: deleting ? '2025-01-01T00:00:00Z' : undefined,
  },
  spec: { nodeName },
  status: { phase, reason },
})

const nodeOf = ({
  name,
  ready,
  outOfServiceTaint,
}: {
  name: string
  ready?: boolean
  outOfServiceTaint?: boolean
}) => ({
  metadata: { name },
  spec: {
    taints: outOfServiceTaint
      ? [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]
      : [],
  },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})
