/** The objects of a cluster in which next to nothing was ever collected. Each Job has an owner of its own, so that none stands for another. */

import type { RawObject } from '#base/raw-object.ts'
import { deploymentObjects, jobObject, podElsewhere } from '#lab/nodes/garbage-objects.ts'
import { certificateRequestObject, volumeObject } from '#lab/nodes/leftover-objects.ts'
import type { Named } from '#lab/nodes/object-metadata.ts'
import type { ObjectSource } from '#lab/scenarios/scenario.ts'

/** Beyond the threshold from which pod GC deletes; of 150,000 pods. */
const failedShare = 13_000 / 150_000
/** For each Job. */
const shares = { volumes: 0.1, requests: 0.1, deployments: 0.02 }
const revisions = 12

export function neglectedObjects({
  pods,
  jobs,
}: {
  pods: number
  jobs: number
}): Record<string, ObjectSource> {
  const deployments = Math.round(jobs * shares.deployments)
  return {
    pods: { count: Math.round(pods * failedShare), item: (index, at) => evictedPod(at, index) },
    'jobs.batch': { count: jobs, item: (index, at) => ownedJob(at, index) },
    'deployments.apps': { count: deployments, item: (index, at) => deployed(at, index).deployment },
    'replicasets.apps': {
      count: deployments * revisions,
      item: (index, at) =>
        deployed(at, Math.floor(index / revisions)).replicaSets[index % revisions] ?? {},
    },
    persistentvolumes: {
      count: Math.round(jobs * shares.volumes),
      item: (index, at) => releasedVolume(at, index),
    },
    'certificatesigningrequests.certificates.k8s.io': {
      count: Math.round(jobs * shares.requests),
      item: (index, at) =>
        certificateRequestObject(at, {
          name: `csr-${sevenDigits(index)}`,
          requestor: `system:node:node-${sevenDigits(index)}`,
          createdHoursAgo: 20,
        }),
    },
  }
}

const sevenDigits = (index: number) => String(index).padStart(7, '0')
const placed = (index: number, name: string): Named => ({
  namespace: `team-${String(index % 60).padStart(2, '0')}`,
  name: `${name}-${sevenDigits(index)}`,
})

/** Of a node that is gone, and of a Job of its own. */
function evictedPod(at: string, index: number): RawObject {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: `import-${sevenDigits(index)}` }
  const pod = podElsewhere(at, {
    ...placed(index, 'import'),
    owner,
    node: `gone-${sevenDigits(index)}`,
    phase: 'Failed',
    createdHoursAgo: 40 + (index % 900),
  })
  return {
    ...pod,
    status: {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'The node was low on resource: ephemeral-storage.',
    },
  }
}

const owners = [
  // Its object is deleted.
  { apiVersion: 'batch/v1', kind: 'CronJob' },
  // No API server serves this kind.
  { apiVersion: 'flows.example.com/v1', kind: 'Flow' },
]

/** One in four is in deletion, and something holds it. */
function ownedJob(at: string, index: number): RawObject {
  const owner = { ...owners[index % owners.length]!, name: `nightly-${sevenDigits(index)}` }
  const held = index % 4 === 3 && {
    deletedHoursAgo: 20,
    finalizers: ['flows.example.com/archive', 'foregroundDeletion'],
  }
  return jobObject(at, {
    ...placed(index, 'import'),
    owner,
    ...held,
    finishedHoursAgo: 30 + (index % 900),
    outcome: index % 3 === 0 ? 'Failed' : 'Complete',
  })
}

const deployed = (at: string, index: number) =>
  deploymentObjects(at, { ...placed(index, 'web'), revisions, limit: 10, isComplete: true })

function releasedVolume(at: string, index: number): RawObject {
  const name = `pvc-${sevenDigits(index)}`
  return volumeObject(at, {
    name,
    claim: placed(index, 'data'),
    phase: 'Released',
    phaseHoursAgo: 40 + (index % 900),
    reclaimPolicy: 'Retain',
    capacity: '20Gi',
    volumeId: `vol-${String(index).padStart(17, '0')}`,
  })
}
