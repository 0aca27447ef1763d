/** What lies in a cluster, and what the control plane does about it. */
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { GarbageFate, GarbageRowKind } from '#model/garbage-overview.ts'
import { counted, formatCount } from '#report/numbers.ts'

/** Its name in a table, and what becomes of it; where that depends, the words of each fate. */
export interface GarbageWords {
  name: string
  fate?: string | Partial<Record<GarbageFate['is'], string>>
}

const kinds: Record<GarbageRowKind, GarbageWords> = {
  'evicted-pods': {
    name: 'Pods that nodes evicted',
    fate: 'with their owners, or among all finished pods by number',
  },
  'failed-pods': {
    name: 'Failed pods',
    fate: 'with their owners, or among all finished pods by number',
  },
  'finished-pods': { name: 'All finished pods' },
  'terminating-pods': { name: 'Pods in deletion' },
  'jobs-without-ttl': {
    name: 'Finished Jobs without a time to live',
    fate: 'nothing deletes them: no ttlSecondsAfterFinished, no owner',
  },
  'owned-jobs': {
    name: 'Finished Jobs of other owners, without a time to live',
    fate: 'they go with their owners, or when these delete them',
  },
  'jobs-with-ttl': {
    name: 'Finished Jobs with a time to live',
    fate: 'the TTL controller deletes them',
  },
  'overdue-jobs': {
    name: 'Jobs whose time to live is over',
    fate: { late: 'the TTL controller should have deleted them' },
  },
  'cronjob-history': {
    name: 'Finished Jobs of CronJobs',
    fate: {
      late: 'some are beyond the limits of their CronJobs, which delete those',
      with: 'their CronJobs keep so many',
    },
  },
  'suspended-jobs': {
    name: 'Suspended Jobs and CronJobs',
    fate: 'they wait until somebody resumes or deletes them',
  },
  'old-replica-sets': {
    name: 'Old ReplicaSets beyond the limit',
    fate: { late: 'the Deployment controller should have deleted them' },
  },
  'controller-revisions': {
    name: 'ControllerRevisions beyond the limit',
    fate: 'their controllers delete those that no pod uses; which these are was not read',
  },
  'released-volumes': {
    name: 'Volumes without a claim, kept',
    fate: 'reclaim policy Retain: nobody deletes them',
  },
  'undeleted-volumes': {
    name: 'Volumes without a claim, to be deleted',
    fate: {
      late: 'their drivers should have deleted them',
      never: 'nothing in this cluster can delete such volumes',
    },
  },
  'held-volumes': { name: 'Volumes and claims in deletion' },
  'retained-ephemeral-volumes': {
    name: 'Ephemeral volumes whose policy is Retain',
    fate: 'each volume stays when its pod goes',
  },
  'unattached-disks': {
    name: 'EBS disks attached to nothing',
    fate: {
      never: 'no claim has them: nobody deletes them',
      unknown: 'not all volumes were read: one may name them',
    },
  },
  'instances-without-node': {
    name: 'Instances that are no node',
    fate: 'they run, and cost, until somebody terminates them',
  },
  'nodes-without-instance': {
    name: 'Nodes without an instance',
    fate: 'the cloud controller should have deleted them',
  },
  'not-ready-nodes': {
    name: 'Nodes that are not Ready',
    fate: 'they stay as long as their instances exist',
  },
  'left-taints': {
    name: 'Taints left on Ready nodes',
    fate: 'nobody takes them away; pods stay away from these nodes',
  },
  'leftover-leases': {
    name: 'Leases of nodes that are gone',
    fate: 'they have no owner: nobody deletes them',
  },
  'collectable-leases': {
    name: 'Leases whose node is gone or another',
    fate: 'the garbage collector deletes them',
  },
  'overdue-leases': {
    name: 'Leases that should have gone with their node',
    fate: 'the garbage collector should have deleted them',
  },
  'unrenewed-leases': {
    name: 'Leases that their nodes do not renew',
    fate: 'they go with their Nodes',
  },
  'unknown-leases': {
    name: 'Leases of nodes that were not read',
    fate: 'whether their nodes are there is not known',
  },
  'identity-leases': {
    name: 'Leases of API servers that are gone',
    fate: {
      never: 'no API server of this version collects their label',
      late: 'another API server should have deleted them',
      itself: 'another API server deletes them within an hour',
    },
  },
  'waiting-requests': {
    name: 'Certificate requests that wait',
    fate: 'the cleaner deletes them a day after they were made or approved',
  },
  'superseded-requests': {
    name: 'Certificate requests that a later one has replaced',
    fate: 'the cleaner deletes them a day after they were made or approved',
  },
  'answered-requests': {
    name: 'Certificate requests that were answered',
    fate: 'the cleaner deletes them an hour after the answer',
  },
  'overdue-requests': {
    name: 'Certificate requests past their time',
    fate: 'the cleaner should have deleted them',
  },
  'unissued-requests': {
    name: 'Certificate requests approved, never issued',
    fate: 'the cleaner of this version never takes them',
  },
  'terminating-namespaces': { name: 'Namespaces in deletion' },
  'unanswered-groups': {
    name: 'Versions of API groups that do not answer',
    fate: 'until they do, no namespace in deletion goes',
  },
  'dangling-objects': {
    name: 'Objects whose owners are gone',
    fate: 'the garbage collector should have deleted them',
  },
  'unserved-owners': {
    name: 'Objects with an owner of a kind that no API serves',
    fate: 'the garbage collector tries for ever',
  },
  'foreign-owners': {
    name: 'Objects with an owner in another namespace',
    fate: {
      late: 'the garbage collector should have deleted them, wanted or not',
      itself: 'the garbage collector deletes them, wanted or not',
    },
  },
  'foreign-references': {
    name: 'Objects with one owner too many, in another namespace',
    fate: 'the garbage collector takes that reference away',
  },
  'namespaced-owners': {
    name: 'Cluster-wide objects with an owner in a namespace',
    fate: 'the garbage collector never takes them',
  },
  'blocked-owners': { name: 'Owners that wait for their dependents' },
  'orphaned-objects': {
    name: 'Objects that their controllers left',
    fate: 'they have no owner: nobody deletes them',
  },
  'held-objects': { name: 'Other objects that finalizers hold' },
  'collector-failures': {
    name: 'Objects that a collector says it could not delete',
    fate: 'it tries again, and says so in events',
  },
}

const needs: Record<ClusterNeed, string> = {
  pods: 'pods',
  jobs: 'Jobs',
  leases: 'leases',
  history: 'histories of workloads',
  nodes: 'Nodes',
  events: 'events of collectors',
  volumes: 'volumes',
  certificates: 'certificate requests',
  namespaces: 'namespaces',
  apis: 'API groups',
  owners: 'owners',
  finalizers: 'finalizers',
  disks: 'EBS disks',
  instances: 'instances',
}

/** In front of the words, so that the eye can run down the column. */
const heads: Record<GarbageFate['is'], string> = {
  never: 'Never',
  late: 'Late',
  held: 'Held',
  threshold: 'By number',
  unknown: 'Not known',
  with: 'Not by itself',
  itself: 'By itself',
}

const garbage = {
  title: 'Cluster garbage',
  lead: "What the control plane's own collectors have left, and what they will do about it if nobody does anything.",
  columns: {
    what: 'What',
    count: 'Count',
    oldest: 'Oldest',
    whose: 'Whose',
    fate: 'Does it go?',
    end: 'How to end it',
  },
  kinds,
  needs,
  heads,
  /** Between the head of a fate and what is said of it. */
  beforeFate: ': ',
  notRead: 'Not read:',
  moreClusters: 'More clusters',
  clustersLeftOut: (count: number) => `${counted(count, 'more cluster')} not listed here.`,
  findingsOnIt: 'Findings on it',
  caption: (cluster: string) => `What lies in ${cluster}`,
  nothingLies: 'nothing lies there',
  nothingToClean: 'nothing that has to be cleaned up',
  toClean: (count: number) => `${counted(count, 'kind')} of object to clean up`,
  notAllRead: 'not all was read',
  clean: (needs: string[]) => `Looked through, and nothing lies there: ${needs.join(', ')}.`,
  moreReasons: (count: number) => `${counted(count, 'more reason')} in the section Not audited.`,
  /** `count` null: all of them. */
  young: (count: number | null, hours: number) =>
    `${count === null ? '' : `${formatCount(count)} of them `}under ${hours}\u00a0h`,
  waived: 'waived',
  times: (count: number) => ` (${formatCount(count)})`,
  notLooked: 'No cluster was looked through for garbage (policy clusterGarbage).',
  /** `all` null: all clusters were. */
  coverage: (looked: number, all: number | null, read: number, lists: number) =>
    `${all === null ? counted(looked, 'cluster') : `${formatCount(looked)} of ${counted(all, 'cluster')}`} searched, ${formatCount(read)} of ${counted(lists, 'list')} read to the end.`,
  notSwept: (count: number) =>
    ` What finalizers hold was not looked for in ${counted(count, 'other kind')} of objects (policy clusterGarbage.sweep).`,
  podGcOff: 'pod GC is set to delete none',
  assumed: (limit: string) => `${limit} (assumed)`,
  excess: (finished: number, limit: string, excess: number) =>
    `of ${formatCount(finished)} finished pods pod GC keeps ${limit}: the ${formatCount(excess)} oldest go in its next round`,
  below: (limit: string, finished: number) =>
    `pod GC begins above ${limit} finished pods: there are ${formatCount(finished)}`,
  firstAndLast: (first: string, last: string) => `the first ${first}, the last ${last}`,
  anyMoment: 'at any moment',
  in: (duration: string) => `in ${duration}`,
  assumedThreshold:
    'Assumed: the threshold of pod GC is the default of upstream, because EKS does not tell the one that its control plane runs with.',
  assumedPrices:
    'Costs: EBS at the list price of us-east-1; provisioned IOPS and throughput only of disks that EC2 was asked for.',
  cost: (usd: string) => `about ${usd}\u00a0USD a month`,
  gap: (why: string, needs: string[]) => `${why}. So not wholly known: ${needs.join(', ')}.`,
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
