/** Whatever an API server, or someone who wrote a snapshot, may send: every collector answers, and with numbers that are numbers. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { collectGarbage } from '#replay/cluster-gc/owner-graph.ts'
import { controllerOf, parseMetadata } from '#replay/cluster-gc/section.ts'
import { certificateOf, cleanCertificateRequest } from '#replay/cluster-gc/sections/certificates.ts'
import { cleanupFinishedJobs, expiryOf } from '#replay/cluster-gc/sections/jobs.ts'
import { nodeLeases } from '#replay/cluster-gc/sections/nodes.ts'
import { podGc } from '#replay/cluster-gc/sections/pods.ts'
import {
  claimsByKey,
  claimUsers,
  releasedAction,
  volumeUsers,
} from '#replay/cluster-gc/sections/volumes.ts'
import { manifestOf, nodeOf, objectOf } from '#test/at-the-door.ts'

const names = ['a', 'b', '', 'kube-node-lease', 'kube-system']
const time = fc.oneof(
  fc.constantFrom('2025-01-01T00:00:00Z', '2025-99-01T00:00:00Z', ''),
  fc.jsonValue(),
)
const nameOrJson = fc.oneof(fc.constantFrom(...names), fc.jsonValue())
const reference = fc.record(
  {
    apiVersion: fc.constantFrom('v1', 'x/v1'),
    kind: fc.constantFrom('A', 'B'),
    name: nameOrJson,
    uid: nameOrJson,
    controller: fc.boolean(),
    blockOwnerDeletion: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const metadata = fc.record(
  {
    name: nameOrJson,
    namespace: nameOrJson,
    uid: nameOrJson,
    creationTimestamp: time,
    deletionTimestamp: time,
    generation: fc.jsonValue(),
    labels: fc.jsonValue(),
    annotations: fc.dictionary(
      fc.constantFrom('deployment.kubernetes.io/revision', 'pv.kubernetes.io/provisioned-by'),
      fc.jsonValue(),
    ),
    finalizers: fc.oneof(fc.array(fc.constantFrom('orphan', 'foregroundDeletion')), fc.jsonValue()),
    ownerReferences: fc.oneof(fc.array(reference), fc.jsonValue()),
  },
  { requiredKeys: [] },
)
const count = fc.oneof(fc.integer({ min: -3, max: 5 }), fc.jsonValue())
const spec = fc.record(
  {
    nodeName: nameOrJson,
    volumes: fc.oneof(
      fc.array(
        fc.record({
          name: nameOrJson,
          ephemeral: fc.jsonValue(),
          persistentVolumeClaim: fc.jsonValue(),
        }),
      ),
      fc.jsonValue(),
    ),
    revisionHistoryLimit: count,
    ttlSecondsAfterFinished: count,
    replicas: count,
    paused: fc.jsonValue(),
    claimRef: fc.oneof(
      fc.record({ name: nameOrJson, namespace: nameOrJson, uid: nameOrJson }),
      fc.jsonValue(),
    ),
    persistentVolumeReclaimPolicy: fc.oneof(
      fc.constantFrom('Delete', 'Recycle', 'Retain'),
      fc.jsonValue(),
    ),
    hostPath: fc.jsonValue(),
    renewTime: time,
    leaseDurationSeconds: count,
    taints: fc.oneof(
      fc.array(fc.record({ key: nameOrJson, effect: fc.constantFrom('NoExecute', 'NoSchedule') })),
      fc.jsonValue(),
    ),
    tolerations: fc.oneof(
      fc.array(
        fc.record({
          key: nameOrJson,
          operator: fc.constantFrom('Exists', 'Equal'),
          tolerationSeconds: count,
        }),
      ),
      fc.jsonValue(),
    ),
    finalizers: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const condition = fc.record(
  {
    type: fc.constantFrom('Ready', 'Complete', 'Failed', 'Approved', 'Denied'),
    status: fc.constantFrom('True', 'False'),
    lastTransitionTime: time,
    lastUpdateTime: time,
    lastHeartbeatTime: time,
  },
  { requiredKeys: [] },
)
const status = fc.record(
  {
    phase: nameOrJson,
    reason: fc.jsonValue(),
    conditions: fc.oneof(fc.array(condition), fc.jsonValue()),
    certificate: fc.oneof(fc.base64String(), fc.jsonValue()),
    observedGeneration: count,
    startTime: time,
    containerStatuses: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const object = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ metadata, spec, status, revision: count }, { requiredKeys: [] }),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
)

const requestOf = (raw: unknown) => objectOf('certificatesigningrequests.certificates.k8s.io', raw)

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

it('answers to any objects, without NaN', () => {
  const nowMs = Date.parse('2025-06-01T00:00:00Z')
  fc.assert(
    fc.property(
      fc.array(object, { maxLength: 6 }),
      fc.array(object, { maxLength: 6 }),
      fc.constantFrom(29, 37),
      fc.option(fc.integer({ min: -1, max: 3 })),
      (some, others, minor, threshold) => {
        const features = featuresOf(`v1.${minor}.0`)
        const listed = [
          {
            apiVersion: 'v1',
            kind: 'A',
            isNamespaced: true,
            items: some.map(raw => objectOf('jobs.batch', raw)),
          },
          {
            apiVersion: 'x/v1',
            kind: 'B',
            isNamespaced: false,
            items: others.map(raw => objectOf('jobs.batch', raw)),
          },
        ]
        const claims = others.map(raw => objectOf('persistentvolumeclaims', raw))
        const pods = others.map(manifestOf)
        const answers = [
          podGc({
            pods: some.map(manifestOf),
            nodes: others.map(nodeOf),
            terminatedPodThreshold: threshold,
            missingForMs: new Map([['a', 50_000]]),
          }),
          cleanupFinishedJobs(
            some.map(raw => objectOf('cronjobs.batch', raw)),
            others.flatMap(raw => {
              const metadata = parseMetadata(objectOf('jobs.batch', raw))
              if (metadata === null) return []
              const { namespace } = metadata
              return {
                job: { namespace, outcome: 'Failed' as const },
                owner: controllerOf(metadata),
              }
            }),
            features,
          ),
          some.map(raw =>
            releasedAction(objectOf('persistentvolumes', raw), claimsByKey(claims), features),
          ),
          claims.flatMap(claim => parseMetadata(claim) ?? []).map(claimUsers(pods)),
          nodeLeases(
            some.map(raw => objectOf('leases.coordination.k8s.io', raw)),
            others.map(nodeOf),
            nowMs,
          ),
          collectGarbage(listed),
          some.map(each => [
            expiryOf(objectOf('jobs.batch', each)),
            cleanCertificateRequest(requestOf(each), nowMs, features),
            certificateOf(requestOf(each)),
            volumeUsers(objectOf('persistentvolumes', each)),
          ]),
        ]
        expect(numbersIn(answers).filter(Number.isNaN)).toEqual([])
      },
    ),
  )
})
