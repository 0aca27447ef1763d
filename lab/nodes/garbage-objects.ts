/** A cluster's own objects as the API server lists them, with times before the lab's now. Upstream: api/batch/v1, api/coordination/v1, api/core/v1. */
import type { RawObject } from '#base/raw-object.ts'
import { hoursBefore, metadataOf, type Named } from './object-metadata.ts'

interface JobProfile extends Named {
  /** Null: it still runs. */
  finishedHoursAgo: number | null
  outcome?: 'Complete' | 'Failed'
  ttlSeconds?: number
}

export function jobObject(at: string, job: JobProfile): RawObject {
  const { finishedHoursAgo, outcome = 'Complete', ttlSeconds } = job
  const startedHoursAgo = (finishedHoursAgo ?? 1) + 1
  const lastTransitionTime = finishedHoursAgo === null ? '' : hoursBefore(at, finishedHoursAgo)
  return {
    metadata: metadataOf('Job', at, { createdHoursAgo: startedHoursAgo, ...job }),
    spec: {
      parallelism: 1,
      completions: 1,
      ...(ttlSeconds !== undefined && { ttlSecondsAfterFinished: ttlSeconds }),
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'busybox', args: ['--token=lab-secret-job'] }],
        },
      },
    },
    status: {
      startTime: hoursBefore(at, startedHoursAgo),
      ...(finishedHoursAgo !== null && {
        ...(outcome === 'Complete' && { completionTime: lastTransitionTime, succeeded: 1 }),
        conditions: [{ type: outcome, status: 'True', lastTransitionTime }],
      }),
    },
  }
}

interface LeaseProfile {
  node: string
  renewedHoursAgo: number
  /** The UID of the Node that owns it; absent: nobody does. */
  nodeUid?: string
}

/** Of a node. */
export function leaseObject(
  at: string,
  { node, renewedHoursAgo, nodeUid }: LeaseProfile,
): RawObject {
  const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid: nodeUid }
  return {
    metadata: {
      ...metadataOf('Lease', at, { namespace: 'kube-node-lease', name: node }),
      ...(nodeUid !== undefined && { ownerReferences: [owner] }),
    },
    spec: {
      holderIdentity: node,
      leaseDurationSeconds: 40,
      renewTime: hoursBefore(at, renewedHoursAgo).replace('Z', '.000000Z'),
    },
  }
}

interface CronJobProfile extends Named {
  limits?: { successful: number; failed: number }
  lastScheduledHoursAgo: number
}

export function cronJobObject(at: string, cronJob: CronJobProfile): RawObject {
  const { limits = { successful: 3, failed: 1 }, lastScheduledHoursAgo } = cronJob
  return {
    metadata: metadataOf('CronJob', at, { createdHoursAgo: 9000, ...cronJob }),
    spec: {
      schedule: '0 3 * * *',
      successfulJobsHistoryLimit: limits.successful,
      failedJobsHistoryLimit: limits.failed,
    },
    status: { lastScheduleTime: hoursBefore(at, lastScheduledHoursAgo) },
  }
}

interface PodElsewhere extends Named {
  node?: string
  phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  /** Of a volume that it uses. */
  claimName?: string
}

/** Of no node, or of one that is gone. */
export function podElsewhere(at: string, pod: PodElsewhere): RawObject {
  const { node, phase, claimName } = pod
  return {
    metadata: {
      ...metadataOf('Pod', at, pod),
      ...(pod.deletedHoursAgo !== undefined && { deletionGracePeriodSeconds: 0 }),
    },
    spec: {
      ...(node && { nodeName: node }),
      ...(claimName && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] }),
      containers: [{ name: 'app', image: 'busybox' }],
    },
    status: { phase },
  }
}

const revisionKey = 'deployment.kubernetes.io/revision'

interface DeploymentProfile extends Named {
  revisions: number
  limit?: number
  /** Whether its rollout has come to its end. */
  isComplete: boolean
  /** When its last ReplicaSet was made. */
  rolledOutHoursAgo?: number
}

/** And all of its ReplicaSets, of which the last is the current one. */
export function deploymentObjects(
  at: string,
  deployment: DeploymentProfile,
): { deployment: RawObject; replicaSets: RawObject[] } {
  const { namespace, name, revisions, limit = 10, isComplete, rolledOutHoursAgo } = deployment
  const counts = {
    replicas: 2,
    updatedReplicas: isComplete ? 2 : 1,
    availableReplicas: isComplete ? 2 : 1,
    observedGeneration: 1,
  }
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name }
  const template = {
    spec: {
      containers: [
        { name: 'app', image: 'busybox', env: [{ name: 'TOKEN', value: 'lab-secret-replicas' }] },
      ],
    },
  }
  return {
    deployment: {
      metadata: {
        ...metadataOf('Deployment', at, deployment),
        generation: 1,
        annotations: { [revisionKey]: String(revisions) },
      },
      spec: { replicas: 2, revisionHistoryLimit: limit, template },
      status: counts,
    },
    replicaSets: Array.from({ length: revisions }, (_, index) => {
      const replicas = index === revisions - 1 ? 2 : 0
      const createdHoursAgo =
        (index === revisions - 1 ? rolledOutHoursAgo : undefined) ?? 500 - index
      return {
        metadata: {
          ...metadataOf('ReplicaSet', at, {
            namespace,
            name: `${name}-${String(index).padStart(3, '0')}`,
            owner,
            createdHoursAgo,
          }),
          generation: 1,
          annotations: { [revisionKey]: String(index + 1) },
        },
        spec: { replicas, template },
        status: { replicas, observedGeneration: 1 },
      }
    }),
  }
}

interface StatefulSetProfile extends Named {
  revisions: number
}

/** And all of its ControllerRevisions, of which the last is the current one. */
export function statefulSetObjects(
  at: string,
  set: StatefulSetProfile,
): { statefulSet: RawObject; revisions: RawObject[] } {
  const { namespace, name, revisions } = set
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name }
  const revisionName = (index: number) => `${name}-r${String(index).padStart(3, '0')}`
  const current = revisionName(revisions - 1)
  return {
    statefulSet: {
      metadata: { ...metadataOf('StatefulSet', at, set), generation: 1 },
      spec: { replicas: 2, revisionHistoryLimit: 10 },
      status: { observedGeneration: 1, currentRevision: current, updateRevision: current },
    },
    revisions: Array.from({ length: revisions }, (_, index) => ({
      metadata: metadataOf('ControllerRevision', at, {
        namespace,
        name: revisionName(index),
        owner,
        createdHoursAgo: 500 - index,
      }),
      revision: index + 1,
      data: {
        spec: {
          template: {
            spec: { containers: [{ env: [{ name: 'TOKEN', value: 'lab-secret-revision' }] }] },
          },
        },
      },
    })),
  }
}
