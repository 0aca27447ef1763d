/** Ordinary threads that a reader outside of the project chose, with what was missed at first: limits, refusals, sizes. */
import type { Incident } from '../incident.ts'
import { imageGc, images, nodeOf, users } from '../short-forms.ts'

const largerDisk = /larger (?:disk|volume)/
const ofLimit = { kind: 'setting', field: 'resources.limits.ephemeral-storage' } as const

/** Not of EKS. */
const elsewhere = {
  ...{ family: 'Ubuntu' as const, osImage: 'Ubuntu 22.04.5 LTS', volumes: [] },
  providerId: 'gce://acme/us-central1-a/node',
}

export const ordinaryIncidents: Incident[] = [
  {
    name: 'limit-of-two-gibibytes-by-objects-alone',
    thread: 'https://github.com/neuvector/docs/pull/272',
    found:
      'Scanner pods on GKE Autopilot are evicted: "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi." Their limit has to be 3Gi. Nobody may read the kubelet there.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 95, usedGib: 30 } },
      unread: ['configz', 'summary'],
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'neuvector', owner: 'Deployment scanner', pods: 3 },
          ...{ requests: { 'ephemeral-storage': '1Gi' }, limits: { 'ephemeral-storage': '2Gi' } },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ',
        },
      ],
      held: { images: images(2, 0.5, 1.5) },
    }),
    cause: [ofLimit],
    owner: 'neuvector/Deployment scanner',
    steps: ['ask-owner'],
    words: [/own\s+limit\s+of\s+2Gi/, /ephemeral-storage\s+above\s+2\.0 GiB/],
    never: [imageGc, largerDisk, /requests and limits/, /again and again/],
  },
  {
    name: 'limit-of-one-container-of-twenty-mebibytes',
    thread: 'https://github.com/cloud-ark/kubeplus/issues/1389',
    found:
      'Container consumerui exceeded its local ephemeral storage limit "20Mi". The node is not involved: the limit of that container had to be raised.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 8.6 } },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'default', owner: 'Deployment kubeplus', container: 'consumerui' },
          evicted: 'Container consumerui exceeded its local ephemeral storage limit "20Mi". ',
        },
        {
          ...{ namespace: 'default', owner: 'Deployment kubeplus-2', container: 'consumerui' },
          ...{ layerGib: 0.007, logsGib: 0.01, limits: { 'ephemeral-storage': '20Mi' } },
        },
      ],
      held: { images: images(2, 0.5, 1.5) },
    }),
    cause: [ofLimit],
    owner: 'default/Deployment kubeplus',
    steps: ['ask-owner'],
    words: [
      /limit\s+of\s+container\s+consumerui\s+of\s+20Mi/,
      /Next\s+is\s+pod\s+default\/kubeplus/,
    ],
    never: [imageGc, largerDisk],
  },
]
