/** A cluster's own objects as the API server lists them, with times before the lab's now. Upstream: api/batch/v1, api/coordination/v1, api/core/v1. */
import type { RawObject } from '#model/record.ts'
import { uidOf } from './random.ts'

const hoursBefore = (at: string, hours: number) => `${new Date(Date.parse(at) - hours * 3_600_000).toISOString().slice(0, 19)}Z`

interface Owner {
  apiVersion: string
  kind: string
  name: string
}

interface Named {
  namespace: string
  name: string
  /** Default: it has none. */
  owner?: Owner
  createdHoursAgo?: number
}

const objectUid = (kind: string, { namespace, name }: Pick<Named, 'namespace' | 'name'>) => uidOf(`${kind}/${namespace}/${name}`)

const ownedBy = (kind: string, namespace: string, { apiVersion, kind: of, name }: Owner): RawObject => ({
  apiVersion,
  kind: of,
  name,
  uid: objectUid(of, { namespace: kind === 'Lease' ? '' : namespace, name }),
  controller: true,
  blockOwnerDeletion: true,
})

const metadataOf = (kind: string, at: string, { namespace, name, owner, createdHoursAgo = 500 }: Named): RawObject => ({
  name,
  namespace,
  uid: objectUid(kind, { namespace, name }),
  creationTimestamp: hoursBefore(at, createdHoursAgo),
  ...(owner && { ownerReferences: [ownedBy(kind, namespace, owner)] }),
})

interface JobProfile extends Named {
  /** Null: it still runs. */
  finishedHoursAgo: number | null
  outcome?: 'Complete' | 'Failed'
  ttlSeconds?: number
  suspend?: boolean
  finalizers?: string[]
}

export function jobObject(at: string, job: JobProfile): RawObject {
  const { finishedHoursAgo, outcome = 'Complete', ttlSeconds, suspend = false, finalizers } = job
  const startedHoursAgo = (finishedHoursAgo ?? 1) + 1
  const lastTransitionTime = finishedHoursAgo === null ? '' : hoursBefore(at, finishedHoursAgo)
  return {
    metadata: { ...metadataOf('Job', at, { createdHoursAgo: startedHoursAgo, ...job }), ...(finalizers && { finalizers }) },
    spec: {
      parallelism: 1,
      completions: 1,
      suspend,
      ...(ttlSeconds !== undefined && { ttlSecondsAfterFinished: ttlSeconds }),
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', args: ['--token=lab-secret-job'] }] } },
    },
    status: {
      ...(!suspend && { startTime: hoursBefore(at, startedHoursAgo) }),
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
export function leaseObject(at: string, { node, renewedHoursAgo, nodeUid }: LeaseProfile): RawObject {
  const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid: nodeUid }
  return {
    metadata: {
      ...metadataOf('Lease', at, { namespace: 'kube-node-lease', name: node }),
      ...(nodeUid !== undefined && { ownerReferences: [owner] }),
    },
    spec: { holderIdentity: node, leaseDurationSeconds: 40, renewTime: hoursBefore(at, renewedHoursAgo).replace('Z', '.000000Z') },
  }
}
