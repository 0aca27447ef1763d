/** Texts of leftover cluster objects and of their garbage collection by the control plane. */
import type { ClusterNeed } from '#model/finding/cluster-garbage.ts'
import type { GarbageFate } from '#model/finding/garbage-overview.ts'
import { counted, formatCount } from '#report/numbers.ts'

const needs: Record<ClusterNeed, string> = {
  pods: 'pods',
  jobs: 'Jobs',
  leases: 'leases',
  nodes: 'Nodes',
  volumes: 'volumes',
  certificates: 'certificate requests',
  owners: 'owners',
  finalizers: 'finalizers',
  disks: 'EBS disks',
  instances: 'instances',
}

const heads: Record<GarbageFate, string> = {
  never: 'Never',
  late: 'Late',
  held: 'Held',
  threshold: 'By count',
  with: 'Not by itself',
}

const garbage = {
  title: 'Cluster garbage',
  lead: 'Objects that the collectors of the control plane left behind, and what happens to them without action.',
  columns: {
    what: 'What',
    count: 'Count',
    oldest: 'Oldest',
    whose: 'Owner',
    fate: 'Is it deleted?',
    end: 'How to clean up',
  },
  needs,
  heads,
  notRead: 'Not read:',
  moreClusters: 'More clusters',
  clustersLeftOut: (count: number) => `${counted(count, 'more cluster')} not listed here.`,
  caption: (cluster: string) => `Leftover objects in ${cluster}`,
  nothingToClean: 'nothing to clean up',
  toClean: (count: number) => `${counted(count, 'kind')} of object to clean up`,
  notAllRead: 'not fully read',
  clean: (needs: string[]) => `Searched, nothing found: ${needs.join(', ')}.`,
  moreReasons: (count: number) => `${counted(count, 'more reason')} in the section Not audited.`,
  waived: 'waived',
  times: (count: number) => ` (${formatCount(count)})`,
  notLooked: 'No cluster was searched for leftover objects (policy clusterGarbage).',
  /** `all` null: all clusters were searched. */
  coverage: (looked: number, all: number | null, read: number, lists: number) =>
    `${all === null ? counted(looked, 'cluster') : `${formatCount(looked)} of ${counted(all, 'cluster')}`} searched, ${formatCount(read)} of ${counted(lists, 'list')} read to the end.`,
  assumedPrices:
    'Costs: EBS list price of us-east-1; provisioned IOPS and throughput only for disks read from EC2.',
  cost: (usd: string) => `about ${usd}\u00a0USD a month`,
  gap: (why: string, needs: string[]) => `${why}. Incomplete: ${needs.join(', ')}.`,
}

export const ofGarbage = { garbage }
