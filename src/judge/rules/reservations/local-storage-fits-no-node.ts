import { amountOrNull } from '#base/go/quantity.ts'
import { gibibyte } from '#base/units.ts'
import { podResource } from '#facts/kubernetes/garbage-resources.ts'
import { isOfLocalStorage } from '#facts/kubernetes/volume-events.ts'
import {
  bytes,
  bytesLine,
  contextRule,
  deviceCause,
  plural,
  seenFirst,
  shortPodName,
} from '#judge/rule.ts'
import { podName } from '#judge/text.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'

const roundBytes = 10 * gibibyte
const shown = 5

export const localStorageFitsNoNode = contextRule({
  id: 'local-storage-fits-no-node',
  family: 'reservations',
  severity: 'high',
  cause: deviceCause('too-small'),
  title: 'A pod requests more local storage than a node of this group can ever have',
  why: 'The scheduler compares requests of ephemeral-storage with what is allocatable, whatever is used. The pod stays Pending, and no autoscaler starts a node for it.',
  fix: 'Have the owner request less, or give the nodes a larger volume: EC2NodeClass blockDeviceMappings or launch template.',
  sources: [
    'pkg/scheduler/framework/plugins/noderesources/fit.go fitsRequest',
    'aws/karpenter-provider-aws#1563',
  ],

  fact: ({ node: { status } }) => ({
    allocatable: storageOf(status?.allocatable),
    capacity: storageOf(status?.capacity),
  }),

  // Once for a group: a cluster may have thousands of nodes and of waiting pods.
  ofGroup: (facts, { waitingPods, podEvents }) => {
    const most = Math.max(...facts.map(({ fact }) => fact.allocatable))
    const pods = waitingPods
      .map(pod => ({ pod, wanted: requestOf(pod), name: shortPodName(pod.metadata) }))
      .filter(
        ({ pod, wanted }) => wanted > most && isRefused(pod, podEvents(podName(pod.metadata))),
      )
      .toSorted((a, b) => b.wanted - a.wanted)
    return { most, pods }
  },

  *judge({ capacity }, { waitingPods, failed }, _, group) {
    const unread = failed(podResource.resource)
    if (unread !== null) yield { unknown: unread }
    if (waitingPods.length === 0) return
    const { most, pods } = group()
    const [first] = pods
    // Nothing is known of nodes without an amount.
    if (first === undefined || most === 0) return
    const size = roundBytes * Math.ceil((first.wanted + capacity - most) / roundBytes)
    yield {
      ...seenFirst(
        `${plural(pods.length, 'pod')} cannot be scheduled: ${first.name} requests ${bytes(first.wanted)} of ephemeral-storage, and no node of this group has more than ${bytes(most)} allocatable.`,
        'No disk is full.',
      ),
      steps: [{ id: 'larger-disk', bytes: size }, { id: 'advice' }],
      evidence: [
        bytesLine('node', 'allocatable ephemeral-storage', most),
        ...pods
          .slice(0, shown)
          .map(({ name, wanted }) => bytesLine('object', `pod ${name} requests`, wanted)),
      ],
    }
  },
})

const storageOf = (amounts: { [name: string]: string | undefined } | undefined) =>
  amountOrNull(amounts?.['ephemeral-storage']) ?? 0

const requestOf = ({ spec }: KubernetesPod) =>
  (spec?.containers ?? []).reduce((sum, one) => sum + storageOf(one.resources?.requests), 0)

/** The scheduler says why: in the pod's condition, or in an event. */
const isRefused = ({ status }: KubernetesPod, events: readonly { message: string }[]) =>
  [...(status?.conditions ?? []), ...events].some(({ message = '' }) => isOfLocalStorage(message))
