/** A cluster with very many objects. Each object is made when its page is requested. */
import { jobObject, leaseObject } from '#lab/nodes/garbage-objects.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { ObjectSource, Scenario } from '#lab/scenarios/scenario.ts'
import { neglectedObjects } from './neglected.ts'

export interface Crowd {
  pods: number
  jobs: number
  leases: number
}

const podsPerNode = 100

/** Jobs without an owner, most of them without ttlSecondsAfterFinished, and leases of deleted nodes. */
export function crowd(size: Crowd): Scenario {
  return crowdOf('crowd', size.pods, {
    'jobs.batch': {
      count: size.jobs,
      item: (index, at) =>
        jobObject(at, { ...jobNamed(index), finishedHoursAgo: 30 + (index % 900) }),
    },
    'leases.coordination.k8s.io': deadLeases(size.leases),
  })
}

/** A cluster with almost no garbage collection so far. Two objects share data that no third object has. */
export function neglectedCrowd(size: Crowd): Scenario {
  const objects = neglectedObjects(size)
  return crowdOf('neglected', size.pods - (objects.pods?.count ?? 0), {
    ...objects,
    'leases.coordination.k8s.io': deadLeases(size.leases),
  })
}

function crowdOf(cluster: string, pods: number, objects: Record<string, ObjectSource>): Scenario {
  const plain = fleet({ nodes: Math.max(1, Math.round(pods / podsPerNode)), podsPerNode, cluster })
  return { ...plain, clusters: plain.clusters.map(each => ({ ...each, objects })) }
}

const deadLeases = (count: number): ObjectSource => ({
  count,
  item: (index, at) =>
    leaseObject(at, {
      node: `node-${String(index).padStart(6, '0')}`,
      renewedHoursAgo: 30 + (index % 900),
    }),
})

/** In some dozens of namespaces. */
const jobNamed = (index: number) => ({
  namespace: `team-${String(index % 60).padStart(2, '0')}`,
  name: `import-${String(index).padStart(7, '0')}`,
  ...(index % 5 === 0 && { ttlSeconds: 86_400 * 90 }),
})
