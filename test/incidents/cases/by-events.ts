/** Of these evictions and failures only events and states of containers are left. */
import type { Incident } from '../incident.ts'
import { images, nodeOf, users } from '../short-forms.ts'

/** An event of a pod that is gone. */
const ofGone = (namespace: string, name: string, message: string, minutes = 20) => ({
  about: { kind: 'Pod' as const, namespace, name },
  ...{ reason: 'Evicted', type: 'Warning' as const, message, firstMinutesAgo: minutes },
})

export const eventIncidents: readonly Incident[] = [
  {
    name: 'evicted-pod-of-which-an-event-is-left',
    thread: 'https://github.com/cloud-ark/kubeplus/issues/1382',
    found:
      'A node of 20 GiB evicts the pod of an operator at a threshold of 2146223340 bytes; its containers used 10 MiB and 51 MiB.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 11 } },
      workloads: [...users(3), { namespace: 'kubeplus', owner: 'Deployment kubeplus' }],
      held: { images: images(3, 0.8, 2.4) },
      events: [
        ofGone(
          'kubeplus',
          'kubeplus-6b4d79dbf8-x2k7d',
          'The node was low on resource: ephemeral-storage. Threshold quantity: 2146223340, available: 1883424Ki. Container helmer was using 10304Ki, request is 10Mi, has larger consumption of ephemeral-storage. Container consumerui was using 52676Ki, request is 10Mi, has larger consumption of ephemeral-storage. ',
        ),
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/kubeplus-6b4d79dbf8-x2k7d/, /Deployment kubeplus/, /nodefs\.available 10%/],
  },
]
