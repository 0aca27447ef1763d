/** Leftover objects of a cluster, and what the control plane does about them. */
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { GarbageFate, GarbageRowKind } from '#model/garbage-overview.ts'
import { counted, formatCount } from '#report/numbers.ts'

/** Name in a table, and what happens to the objects; by fate if that differs. */
export interface GarbageWords {
  name: string
  fate?: string | Partial<Record<GarbageFate['is'], string>>
}

const kinds: Record<GarbageRowKind, GarbageWords> = {
  'evicted-pods': {
    name: 'Evicted pods',
    fate: 'deleted with their owners, or when pod GC reaches its threshold',
  },
  'failed-pods': {
    name: 'Failed pods',
    fate: 'deleted with their owners, or when pod GC reaches its threshold',
  },
  'finished-pods': { name: 'All finished pods' },
  'terminating-pods': { name: 'Terminating pods' },
  'jobs-without-ttl': {
    name: 'Finished Jobs without TTL',
    fate: 'nothing deletes them: no ttlSecondsAfterFinished and no owner',
  },
  'owned-jobs': {
    name: 'Finished Jobs with other owners, without TTL',
    fate: 'deleted by their owners or with them',
  },
  'jobs-with-ttl': { name: 'Finished Jobs with TTL', fate: 'the TTL controller deletes them' },
  'overdue-jobs': {
    name: 'Jobs with expired TTL',
    fate: { late: 'the TTL controller should have deleted them' },
  },
  'cronjob-history': {
    name: 'Finished Jobs of CronJobs',
    fate: {
      late: 'some exceed the history limits of their CronJobs, which delete those',
      with: 'within the history limits of their CronJobs',
    },
  },
  'released-volumes': {
    name: 'Released volumes with policy Retain',
    fate: 'reclaim policy Retain: nothing deletes them',
  },
  'undeleted-volumes': {
    name: 'Released volumes with policy Delete',
    fate: {
      late: 'their drivers should have deleted them',
      never: 'nothing in this cluster can delete such volumes',
    },
  },
  'held-volumes': { name: 'Terminating volumes and PVCs' },
  'retained-ephemeral-volumes': {
    name: 'Ephemeral volumes with policy Retain',
    fate: 'each volume stays when its pod is deleted',
  },
  'unattached-disks': {
    name: 'Unattached EBS disks',
    fate: {
      never: 'no PersistentVolume uses them: nothing deletes them',
      unknown: 'not all volumes were read: one may use them',
    },
  },
  'instances-without-node': {
    name: 'Instances without Node',
    fate: 'they run, and cost, until a user terminates them',
  },
  'nodes-without-instance': {
    name: 'Nodes without instance',
    fate: 'the cloud controller should have deleted them',
  },
  'not-ready-nodes': {
    name: 'Nodes that are not Ready',
    fate: 'they stay as long as their instances exist',
  },
  'left-taints': {
    name: 'Taints left on Ready nodes',
    fate: 'nothing removes them; pods avoid these nodes',
  },
  'leftover-leases': {
    name: 'Leases of removed nodes',
    fate: 'they have no owner: nothing deletes them',
  },
  'collectable-leases': {
    name: 'Leases of removed or replaced nodes',
    fate: 'the garbage collector deletes them',
  },
  'overdue-leases': {
    name: 'Leases that outlived their node',
    fate: 'the garbage collector should have deleted them',
  },
  'unrenewed-leases': {
    name: 'Leases that their nodes do not renew',
    fate: 'deleted with their Nodes',
  },
  'unknown-leases': {
    name: 'Leases of nodes that were not read',
    fate: 'whether their nodes exist is unknown',
  },
  'waiting-requests': {
    name: 'Pending certificate requests',
    fate: 'the cleaner deletes them a day after creation or approval',
  },
  'superseded-requests': {
    name: 'Superseded certificate requests',
    fate: 'the cleaner deletes them a day after creation or approval',
  },
  'answered-requests': {
    name: 'Answered certificate requests',
    fate: 'the cleaner deletes them an hour after the answer',
  },
  'overdue-requests': {
    name: 'Expired certificate requests',
    fate: 'the cleaner should have deleted them',
  },
  'unissued-requests': {
    name: 'Certificate requests approved but never issued',
    fate: 'the cleaner of this version never deletes them',
  },
  'terminating-namespaces': { name: 'Terminating namespaces' },
  'unanswered-groups': {
    name: 'API group versions that do not answer',
    fate: 'until they do, no Terminating namespace is deleted',
  },
  'dangling-objects': {
    name: 'Objects whose owners do not exist',
    fate: 'the garbage collector should have deleted them',
  },
  'unserved-owners': {
    name: 'Objects with an owner of an unserved kind',
    fate: 'the garbage collector retries forever',
  },
  'foreign-owners': {
    name: 'Objects with an owner in another namespace',
    fate: {
      late: 'the garbage collector should have deleted them, wanted or not',
      itself: 'the garbage collector deletes them, wanted or not',
    },
  },
  'foreign-references': {
    name: 'Objects with one more owner, in another namespace',
    fate: 'the garbage collector removes that reference',
  },
  'namespaced-owners': {
    name: 'Cluster-scoped objects with a namespaced owner',
    fate: 'the garbage collector never deletes them',
  },
  'blocked-owners': { name: 'Owners that wait for their dependents' },
  'orphaned-objects': {
    name: 'Objects orphaned by their controllers',
    fate: 'they have no owner: nothing deletes them',
  },
  'held-objects': { name: 'Other objects that finalizers hold' },
}

const needs: Record<ClusterNeed, string> = {
  pods: 'pods',
  jobs: 'Jobs',
  leases: 'leases',
  nodes: 'Nodes',
  volumes: 'volumes',
  certificates: 'certificate requests',
  namespaces: 'namespaces',
  apis: 'API groups',
  owners: 'owners',
  finalizers: 'finalizers',
  disks: 'EBS disks',
  instances: 'instances',
}

/** The first word of the column, for quick reading. */
const heads: Record<GarbageFate['is'], string> = {
  never: 'Never',
  late: 'Late',
  held: 'Held',
  threshold: 'By count',
  unknown: 'Unknown',
  with: 'Not by itself',
  itself: 'By itself',
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
  /** Between the first word and the sentence. */
  beforeFate: ': ',
  notRead: 'Not read:',
  moreClusters: 'More clusters',
  clustersLeftOut: (count: number) => `${counted(count, 'more cluster')} not listed here.`,
  findingsOnIt: 'Findings on it',
  caption: (cluster: string) => `Leftover objects in ${cluster}`,
  nothingLies: 'no leftover objects',
  nothingToClean: 'nothing to clean up',
  toClean: (count: number) => `${counted(count, 'kind')} of object to clean up`,
  notAllRead: 'not fully read',
  clean: (needs: string[]) => `Searched, nothing found: ${needs.join(', ')}.`,
  moreReasons: (count: number) => `${counted(count, 'more reason')} in the section Not audited.`,
  /** `count` null: all of them. */
  young: (count: number | null, hours: number) =>
    `${count === null ? '' : `${formatCount(count)} of them `}under ${hours}\u00a0h`,
  waived: 'waived',
  times: (count: number) => ` (${formatCount(count)})`,
  notLooked: 'No cluster was searched for leftover objects (policy clusterGarbage).',
  /** `all` null: all clusters were. */
  coverage: (looked: number, all: number | null, read: number, lists: number) =>
    `${all === null ? counted(looked, 'cluster') : `${formatCount(looked)} of ${counted(all, 'cluster')}`} searched, ${formatCount(read)} of ${counted(lists, 'list')} read to the end.`,
  notSwept: (count: number) =>
    ` ${counted(count, 'other kind')} of objects were not searched for finalizers (policy clusterGarbage.sweep).`,
  podGcOff: 'pod GC is set to delete none',
  assumed: (limit: string) => `${limit} (assumed)`,
  excess: (finished: number, limit: string, excess: number) =>
    `pod GC keeps ${limit} of ${formatCount(finished)} finished pods: it deletes the ${formatCount(excess)} oldest in its next round`,
  below: (limit: string, finished: number) =>
    `pod GC starts above ${limit} finished pods; there are ${formatCount(finished)}`,
  firstAndLast: (first: string, last: string) => `the first ${first}, the last ${last}`,
  anyMoment: 'at any moment',
  in: (duration: string) => `in ${duration}`,
  assumedThreshold:
    'Assumed: the upstream default threshold of pod GC. EKS does not publish the value of its control plane.',
  assumedPrices:
    'Costs: EBS list price of us-east-1; provisioned IOPS and throughput only for disks read from EC2.',
  cost: (usd: string) => `about ${usd}\u00a0USD a month`,
  gap: (why: string, needs: string[]) => `${why}. Incomplete: ${needs.join(', ')}.`,
  mail: {
    title: (cost: string | null) => `Cluster garbage${cost === null ? '' : `: ${cost}`}`,
    more: (count: number) => `and ${counted(count, 'more cluster')}, in the report.`,
    kind: (name: string, count: number, size: string | null) =>
      `${name}: ${formatCount(count)}${size === null ? '' : ` (${size})`}`,
    young: (count: number, hours: number) => `${formatCount(count)} more under ${hours}\u00a0h`,
    kinds: (kinds: string[], more: number) =>
      `${kinds.join('; ')}${more > 0 ? `; and ${counted(more, 'more kind')}` : ''}${kinds.length > 0 ? '.' : ''}`,
    gap: (gap: string) => `Not read: ${gap}`,
    moreGaps: (count: number) => `and ${counted(count, 'more list')} not read.`,
  },
}

export const ofGarbage = { garbage }
