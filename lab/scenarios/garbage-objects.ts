/** The objects of the scenario `garbage`, each case beside its healthy twin. */

import type { RawObject } from '#base/raw-object.ts'
import {
  cronJobObject,
  deploymentObjects,
  jobObject,
  leaseObject,
  podElsewhere,
  statefulSetObjects,
} from '#lab/nodes/garbage-objects.ts'
import { nodeNameOf } from '#lab/nodes/placement.ts'
import { uidOf } from '#lab/nodes/random.ts'
import { leftoverDeployments, leftoverObjects, leftoverReplicaSets } from './leftover-objects.ts'
import { fixedObjects, type ObjectSource } from './scenario.ts'

const ofCronJob = (name: string) => ({ apiVersion: 'batch/v1', kind: 'CronJob', name })
const ofJob = (name: string) => ({ apiVersion: 'batch/v1', kind: 'Job', name })
const days = (count: number) => count * 24

const jobs = (at: string): RawObject[] => [
  jobObject(at, { namespace: 'batch', name: 'catalog-import-29384701', finishedHoursAgo: 400 }),
  jobObject(at, {
    namespace: 'batch',
    name: 'catalog-import-29384702',
    finishedHoursAgo: 300,
    outcome: 'Failed',
  }),
  jobObject(at, {
    namespace: 'batch',
    name: 'kept-by-time',
    finishedHoursAgo: 30,
    ttlSeconds: 7 * 86_400,
  }),
  jobObject(at, {
    namespace: 'batch',
    name: 'kept-nightly-29384710',
    finishedHoursAgo: 30,
    owner: ofCronJob('kept-nightly'),
  }),
  jobObject(at, {
    ...{ namespace: 'shop', name: 'kept-by-checkout', finishedHoursAgo: 300 },
    owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'checkout' },
  }),
  jobObject(at, { namespace: 'batch', name: 'kept-of-today', finishedHoursAgo: 2 }),
  jobObject(at, { namespace: 'batch', name: 'kept-running', finishedHoursAgo: null }),
  // Its time is over since two days, and a finalizer holds it.
  jobObject(at, {
    ...{ namespace: 'etl', name: 'load-7', finishedHoursAgo: 49, ttlSeconds: 3600 },
    ...{ deletedHoursAgo: 48, finalizers: ['example.com/audit'] },
  }),
  // Nobody has begun to delete it.
  jobObject(at, { namespace: 'etl', name: 'load-8', finishedHoursAgo: 49, ttlSeconds: 3600 }),
  jobObject(at, {
    namespace: 'etl',
    name: 'kept-due-soon',
    finishedHoursAgo: 0.9,
    ttlSeconds: 3600,
  }),
  // Its pod, which nobody has deleted, holds it.
  jobObject(at, {
    namespace: 'legacy',
    name: 'sync',
    finishedHoursAgo: null,
    deletedHoursAgo: 40,
    finalizers: ['foregroundDeletion'],
  }),
  // Everything that it ever made.
  ...Array.from({ length: 45 }, (_, index) =>
    jobObject(at, {
      namespace: 'reports',
      name: `daily-${29_384_000 + index}`,
      finishedHoursAgo: days(45 - index),
      owner: ofCronJob('daily'),
    }),
  ),
]

const cronJobs = (at: string): RawObject[] => [
  cronJobObject(at, { namespace: 'batch', name: 'kept-nightly', lastScheduledHoursAgo: 5 }),
  cronJobObject(at, {
    namespace: 'reports',
    name: 'daily',
    limits: { successful: 100, failed: 10 },
    lastScheduledHoursAgo: 5,
  }),
]

/** @param ready names of nodes that renew their leases @param silent those that do not, the first for longest */
function leases(at: string, ready: readonly string[], silent: readonly string[]): RawObject[] {
  const nodeUid = (name: string) => uidOf(`node/${name}`)
  return [
    ...ready.map(node => leaseObject(at, { node, renewedHoursAgo: 0.001, nodeUid: nodeUid(node) })),
    ...silent.map((node, index) =>
      leaseObject(at, { node, renewedHoursAgo: days(3 - index), nodeUid: nodeUid(node) }),
    ),
    leaseObject(at, { node: nodeNameOf('10.0.7.99'), renewedHoursAgo: 1100 }),
    leaseObject(at, {
      node: 'kept-until-collected',
      renewedHoursAgo: 0.01,
      nodeUid: nodeUid('gone'),
    }),
  ]
}

/** Of no node, or of one that is gone. */
const pods = (at: string): RawObject[] => [
  podElsewhere(at, {
    ...{ namespace: 'queue', name: 'worker-9', node: nodeNameOf('10.0.7.99'), phase: 'Failed' },
    ...{ createdHoursAgo: 90, deletedHoursAgo: 80, finalizers: ['example.com/flush'] },
    claimName: 'spool',
  }),
  // It had finished before its node went, and its Job is gone.
  podElsewhere(at, {
    ...{ namespace: 'queue', name: 'batch-4', node: nodeNameOf('10.0.7.99'), phase: 'Succeeded' },
    ...{
      createdHoursAgo: 90,
      deletedHoursAgo: 80,
      finalizers: ['batch.kubernetes.io/job-tracking'],
    },
  }),
  podElsewhere(at, {
    ...{
      namespace: 'queue',
      name: 'kept-batch-5',
      node: nodeNameOf('10.0.7.99'),
      phase: 'Succeeded',
    },
    ...{
      createdHoursAgo: 90,
      deletedHoursAgo: 0.5,
      finalizers: ['batch.kubernetes.io/job-tracking'],
    },
  }),
  podElsewhere(at, {
    namespace: 'queue',
    name: 'kept-going',
    phase: 'Pending',
    createdHoursAgo: 1,
    deletedHoursAgo: 0.001,
  }),
  podElsewhere(at, {
    namespace: 'legacy',
    name: 'sync-4x2lp',
    phase: 'Pending',
    createdHoursAgo: 45,
    owner: ofJob('sync'),
  }),
  podElsewhere(at, {
    namespace: 'legacy',
    name: 'kept-free',
    phase: 'Pending',
    createdHoursAgo: 45,
    owner: { ...ofJob('sync'), isFree: true },
  }),
]

const deployments = (at: string) => [
  deploymentObjects(at, { namespace: 'shop', name: 'checkout', revisions: 24, isComplete: false }),
  // Its rollout runs: when that is complete, the oldest goes.
  deploymentObjects(at, {
    namespace: 'shop',
    name: 'kept-basket',
    revisions: 12,
    isComplete: false,
    rolledOutHoursAgo: 0.1,
  }),
  deploymentObjects(at, { namespace: 'shop', name: 'kept-cart', revisions: 11, isComplete: true }),
]

const statefulSets = (at: string) => [
  statefulSetObjects(at, { namespace: 'data', name: 'ledger', revisions: 19 }),
  statefulSetObjects(at, { namespace: 'data', name: 'kept-index', revisions: 11 }),
]

export const garbageObjects = (
  ready: readonly string[],
  silent: readonly string[],
): Record<string, ObjectSource> => ({
  pods: fixedObjects(pods),
  'jobs.batch': fixedObjects(jobs),
  'cronjobs.batch': fixedObjects(cronJobs),
  'leases.coordination.k8s.io': fixedObjects(at => leases(at, ready, silent)),
  ...leftoverObjects,
  'deployments.apps': fixedObjects(at => [
    ...deployments(at).map(({ deployment }) => deployment),
    ...leftoverDeployments(at),
  ]),
  'replicasets.apps': fixedObjects(at => [
    ...deployments(at).flatMap(({ replicaSets }) => replicaSets),
    ...leftoverReplicaSets(at),
  ]),
  'statefulsets.apps': fixedObjects(at => statefulSets(at).map(({ statefulSet }) => statefulSet)),
  'controllerrevisions.apps': fixedObjects(at =>
    statefulSets(at).flatMap(({ revisions }) => revisions),
  ),
})
