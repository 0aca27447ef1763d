/** What lies in a cluster, and what the control plane does about it, in words. */
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { GarbageFate, GarbageGap, GarbageRow, GarbageRowKind } from '#model/garbage-overview.ts'
import { formatBytes, formatCount, formatDuration } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'

/** Its name in a table, and what becomes of it; where that depends, the words of each fate. */
const words: Readonly<Record<GarbageRowKind, { name: string; fate?: string | Partial<Record<GarbageFate['is'], string>> }>> = {
  'evicted-pods': { name: 'Pods that nodes evicted', fate: 'with their owners, or among all finished pods by number' },
  'failed-pods': { name: 'Failed pods', fate: 'with their owners, or among all finished pods by number' },
  'finished-pods': { name: 'All finished pods' },
  'terminating-pods': { name: 'Pods in deletion' },
  'jobs-without-ttl': {
    name: 'Finished Jobs without a time to live',
    fate: 'nothing deletes them: no ttlSecondsAfterFinished, no CronJob',
  },
  'jobs-with-ttl': { name: 'Finished Jobs with a time to live', fate: 'the TTL controller deletes them' },
  'overdue-jobs': { name: 'Jobs whose time to live is over', fate: { late: 'the TTL controller should have deleted them' } },
  'cronjob-history': {
    name: 'Finished Jobs of CronJobs',
    fate: { late: 'some are beyond the limits of their CronJobs, which delete those', with: 'their CronJobs keep so many' },
  },
  'suspended-jobs': { name: 'Suspended Jobs and CronJobs', fate: 'they wait until somebody resumes or deletes them' },
  'old-replica-sets': {
    name: 'Old ReplicaSets beyond the limit',
    fate: { late: 'the Deployment controller should have deleted them' },
  },
  'controller-revisions': {
    name: 'ControllerRevisions beyond the limit',
    fate: 'their controllers delete those that no pod uses; which these are was not read',
  },
  'released-volumes': { name: 'Volumes without a claim, kept', fate: 'reclaim policy Retain: nobody deletes them' },
  'undeleted-volumes': {
    name: 'Volumes without a claim, to be deleted',
    fate: { late: 'their drivers should have deleted them', never: 'nothing in this cluster can delete such volumes' },
  },
  'held-volumes': { name: 'Volumes and claims in deletion' },
  'retained-ephemeral-volumes': {
    name: 'Ephemeral volumes of a class that keeps',
    fate: 'each volume stays when its pod goes',
  },
  'unattached-disks': {
    name: 'EBS disks attached to nothing',
    fate: { never: 'no volume names them: nobody deletes them', unknown: 'not all volumes were read: one may name them' },
  },
  'instances-without-node': { name: 'Instances that are no node', fate: 'they run, and cost, until somebody terminates them' },
  'nodes-without-instance': { name: 'Nodes without an instance', fate: 'the cloud controller should have deleted them' },
  'not-ready-nodes': { name: 'Nodes that are not Ready', fate: 'they stay as long as their instances exist' },
  'left-taints': { name: 'Taints left on Ready nodes', fate: 'nobody takes them away; pods stay away from these nodes' },
  'leftover-leases': { name: 'Leases of nodes that are gone', fate: 'they have no owner: nobody deletes them' },
  'collectable-leases': { name: 'Leases whose node is another now', fate: 'the garbage collector deletes them' },
  'unrenewed-leases': { name: 'Leases that their nodes do not renew', fate: 'they go with their Nodes' },
  'unknown-leases': { name: 'Leases of nodes that were not read', fate: 'whether their nodes are there is not known' },
  'identity-leases': {
    name: 'Leases of API servers that are gone',
    fate: { never: 'no API server of this version collects their label', itself: 'another API server deletes them within an hour' },
  },
  'waiting-requests': { name: 'Certificate requests that wait', fate: 'the cleaner deletes them a day after they were made or approved' },
  'answered-requests': { name: 'Certificate requests that were answered', fate: 'the cleaner deletes them an hour after the answer' },
  'overdue-requests': { name: 'Certificate requests past their time', fate: 'the cleaner should have deleted them' },
  'unissued-requests': { name: 'Certificate requests approved, never issued', fate: 'the cleaner of this version never takes them' },
  'terminating-namespaces': { name: 'Namespaces in deletion' },
  'unanswered-groups': { name: 'Versions of API groups that do not answer', fate: 'until they do, no namespace in deletion goes' },
  'dangling-objects': { name: 'Objects whose owners are gone', fate: 'the garbage collector should have deleted them' },
  'unserved-owners': {
    name: 'Objects with an owner of a kind that no API serves',
    fate: 'the garbage collector tries for ever',
  },
  'foreign-owners': { name: 'Objects with an owner in another namespace', fate: 'the garbage collector deletes them, wanted or not' },
  'namespaced-owners': { name: 'Cluster-wide objects with an owner in a namespace', fate: 'the garbage collector never takes them' },
  'blocked-owners': { name: 'Owners that wait for their dependents' },
  'orphaned-objects': { name: 'Objects that their controllers left', fate: 'they have no owner: nobody deletes them' },
  'held-objects': { name: 'Other objects that finalizers hold' },
  'collector-failures': { name: 'Objects that a collector says it could not delete', fate: 'it tries again, and says so in events' },
}

export const garbageName = (kind: GarbageRowKind): string => words[kind].name

/** In front of the words, so that the eye can run down the column. */
const heads: Readonly<Record<GarbageFate['is'], string>> = {
  never: 'Never',
  late: 'Late',
  held: 'Held',
  threshold: 'By number',
  unknown: 'Not known',
  with: 'Not by itself',
  itself: 'By itself',
}

const reasonLimit = 160

export function fateWords({ kind, fate }: GarbageRow, nowMs: number): { head: string; text: string } {
  const { fate: own = '' } = words[kind]
  const text = typeof own === 'string' ? own : (own[fate.is] ?? '')
  switch (fate.is) {
    case 'held':
      return {
        head: heads.held,
        text: fate.by.map(({ name, count }) => `${shownLine(name, reasonLimit)}${timesOver(count)}`).join('; '),
      }
    case 'threshold':
      return thresholdWords(fate)
    case 'itself':
      return { head: heads.itself, text: [text, timesText(fate, nowMs)].filter(Boolean).join(': ') }
    default:
      return { head: heads[fate.is], text }
  }
}

/** How often, where that is more than once. */
export const timesOver = (count: number): string => (count > 1 ? ` (${formatCount(count)})` : '')

function thresholdWords({ pods, isAssumed, finished, excess }: Extract<GarbageFate, { is: 'threshold' }>): { head: string; text: string } {
  if (pods <= 0) return { head: heads.never, text: 'pod GC is set to delete none' }
  const limit = `${formatCount(pods)}${isAssumed ? ' (assumed)' : ''}`
  const text =
    excess > 0
      ? `of ${formatCount(finished)} finished pods pod GC keeps ${limit}: the ${formatCount(excess)} oldest go in its next round`
      : `pod GC begins above ${limit} finished pods: there are ${formatCount(finished)}`
  return { head: heads.threshold, text }
}

function timesText({ firstMs, lastMs }: Extract<GarbageFate, { is: 'itself' }>, nowMs: number): string {
  if (firstMs === null || lastMs === null) return ''
  const [first, last] = [whenText(firstMs - nowMs), whenText(lastMs - nowMs)]
  return first === last ? first : `the first ${first}, the last ${last}`
}

const whenText = (ms: number): string => (ms <= 0 ? 'at any moment' : `in ${formatDuration(ms)}`)

export const assumedThreshold =
  'Assumed: the threshold of pod GC is the default of upstream, because EKS does not tell the one that its control plane runs with.'

export const assumedPrices = 'Costs: EBS at the list price of us-east-1, without provisioned IOPS and throughput.'

/** What is looked through, for what is clean and what is not known. */
export const needNames: Readonly<Record<ClusterNeed, string>> = {
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

/** `about 16 USD a month`. */
export const costText = (monthlyUsd: number): string =>
  `about ${monthlyUsd < 10 ? monthlyUsd.toFixed(2) : formatCount(Math.round(monthlyUsd))}\u00a0USD a month`

export function sizeText({ bytes, monthlyUsd }: Pick<GarbageRow, 'bytes' | 'monthlyUsd'>): string {
  return [...(bytes === null ? [] : [formatBytes(bytes)]), ...(monthlyUsd === null ? [] : [costText(monthlyUsd)])].join(', ')
}

export function gapText({ resource, reason, needs }: GarbageGap): string {
  const why = shownLine(reason, 400)
  const what = resource !== null && !why.startsWith(resource) ? `${shownLine(resource, 120)}: ${why}` : why
  return `${what}. So not wholly known: ${needs.map(need => needNames[need]).join(', ')}.`
}
