/** A cluster with more of its own objects than anybody looks at, each made when its page is. */
import { jobObject, leaseObject } from '#lab/nodes/garbage-objects.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { ObjectSource, Scenario } from '#lab/scenarios/scenario.ts'

export interface Crowd {
  pods: number
  jobs: number
  leases: number
}

const podsPerNode = 100
const cluster = 'crowd'

export function crowd({ pods, jobs, leases }: Crowd): Scenario {
  const nodes = Math.max(1, Math.round(pods / podsPerNode))
  const plain = fleet({ nodes, podsPerNode, cluster })
  const objects: Record<string, ObjectSource> = {
    'jobs.batch': { count: jobs, item: (index, at) => jobObject(at, { ...jobNamed(index), finishedHoursAgo: 30 + (index % 900) }) },
    'leases.coordination.k8s.io': {
      count: leases,
      item: (index, at) => leaseObject(at, { node: `node-${String(index).padStart(6, '0')}`, renewedHoursAgo: 30 + (index % 900) }),
    },
  }
  return { ...plain, clusters: plain.clusters.map(each => ({ ...each, objects })) }
}

/** In some dozens of namespaces, most of them without a time to live. */
const jobNamed = (index: number) => ({
  namespace: `team-${String(index % 60).padStart(2, '0')}`,
  name: `import-${String(index).padStart(7, '0')}`,
  ...(index % 5 === 0 && { ttlSeconds: 86_400 * 90 }),
})
