/** What is kept of the objects that are looked through for garbage: who they are, who owns them, how they ended. */
import { list, type Shape } from './shape.ts'

const metadata = {
  name: 'text',
  namespace: 'text',
  uid: 'text',
  generation: true,
  creationTimestamp: 'text',
  deletionTimestamp: 'text',
  deletionGracePeriodSeconds: true,
  finalizers: list('text'),
  ownerReferences: list({ apiVersion: true, kind: true, name: true, uid: true, controller: true, blockOwnerDeletion: true }),
} as const
/** Of Deployments and their ReplicaSets. */
const revision = { 'deployment.kubernetes.io/revision': 'text' } as const
const conditions = list({ type: 'text', status: 'text', reason: 'text', lastTransitionTime: 'text', lastUpdateTime: 'text' })
const containerStatuses = list({ name: 'text', state: { terminated: { reason: 'text', exitCode: true, finishedAt: 'text' } } })
const replicaCounts = { replicas: true, updatedReplicas: true, availableReplicas: true, observedGeneration: true } as const

const stateful: Shape = {
  metadata,
  spec: { revisionHistoryLimit: true, replicas: true },
  status: { currentRevision: 'text', updateRevision: 'text', observedGeneration: true },
}

export const garbageShapes: Readonly<Record<string, Shape>> = {
  pods: {
    metadata,
    spec: { nodeName: 'text' },
    status: { phase: 'text', reason: 'text', startTime: 'text', containerStatuses },
  },
  'jobs.batch': {
    metadata,
    spec: { ttlSecondsAfterFinished: true, suspend: true },
    status: { startTime: 'text', completionTime: 'text', conditions },
  },
  'cronjobs.batch': {
    metadata,
    spec: { schedule: 'text', suspend: true, successfulJobsHistoryLimit: true, failedJobsHistoryLimit: true },
    status: { lastScheduleTime: 'text', lastSuccessfulTime: 'text' },
  },
  'leases.coordination.k8s.io': {
    metadata: { ...metadata, labels: { 'apiserver.kubernetes.io/identity': 'text', 'k8s.io/component': 'text' } },
    spec: { holderIdentity: 'text', leaseDurationSeconds: true, renewTime: 'text' },
  },
  'deployments.apps': {
    metadata: { ...metadata, annotations: revision },
    spec: { replicas: true, revisionHistoryLimit: true, paused: true },
    status: replicaCounts,
  },
  'replicasets.apps': { metadata: { ...metadata, annotations: revision }, spec: { replicas: true }, status: replicaCounts },
  'statefulsets.apps': stateful,
  'daemonsets.apps': stateful,
  'controllerrevisions.apps': { metadata: { ...metadata, labels: { 'controller-revision-hash': 'text' } }, revision: true },
}
