/** Texts of leftover cluster objects and of their garbage collection by the control plane. */
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { GarbageFate } from '#model/garbage-overview.ts'
import { counted, formatCount } from '#report/numbers.ts'

/** Names of the objects by rule. A rule without a name is shown with its title. */
const kinds: Record<string, string> = {
  'evicted-pods': 'Evicted pods',
  'failed-pods': 'Failed pods',
  'terminated-pods-near-threshold': 'All finished pods',
  'pod-stuck-terminating': 'Terminating pods',
  'job-without-ttl': 'Finished Jobs without TTL',
  'overdue-job-ttl': 'Jobs with expired TTL',
  'job-history-beyond-limit': 'Finished Jobs of CronJobs',
  'released-volume': 'Released volumes with policy Retain',
  'volume-not-deleted': 'Released volumes with policy Delete',
  'volume-held-in-deletion': 'Terminating volumes and PVCs',
  'unattached-disk': 'Unattached EBS disks',
  'node-without-instance': 'Nodes without instance',
  'node-not-ready-long': 'Nodes that are not Ready',
  'leftover-lease': 'Leases of removed nodes',
  'unrenewed-lease': 'Leases that their nodes do not renew',
  'pending-certificate-request': 'Pending certificate requests',
  'uncollected-certificate-request': 'Expired certificate requests',
  'dangling-owner': 'Objects whose owners do not exist',
  'blocked-foreground-deletion': 'Owners that wait for their dependents',
  'orphaned-dependent': 'Objects orphaned by their controllers',
  'stuck-finalizer': 'Other objects that finalizers hold',
}

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
  kinds,
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
