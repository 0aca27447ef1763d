import { isFromKubelet } from '#facts/kubelet/event-messages.ts'
import {
  agoMs,
  eventEvidence,
  eventTimes,
  recentEvents,
  timesText,
  unreadEvents,
} from '#judge/events/events.ts'
import { contextRule, type NodeSubject, seenFirst, shorten, worldCause } from '#judge/rule.ts'

/** A boot, and a change or two, start it fewer times. */
const leastStarts = 5
/** Between two starts of a loop. systemd waits 5 s or 10 s, and a health check some minutes. */
const longestRunMs = 15 * 60_000

export const kubeletRestarts = contextRule({
  id: 'kubelet-restarts',
  family: 'configuration',
  severity: 'high',
  cause: worldCause('kubelet-restarts'),
  steps: ['read-journal'],
  title: 'The kubelet starts again and again',
  why: 'Between its starts no pod is started, evicted or reported, and no image or container is deleted. It ends by itself (a file or setting that it refuses, a damaged checkpoint below /var/lib/kubelet), or something kills it: the kernel in a control group that is too small, or a health check.',
  fix: 'Read in its journal the last lines before each start. Of a damaged checkpoint: drain the node, delete the file that the message names, and start the kubelet.',
  sources: [
    'pkg/kubelet/kubelet.go BirthCry',
    'kubernetes/kubernetes#135711',
    'awslabs/amazon-eks-ami#419',
  ],

  fact: ({ configuration }) => kubeletMemoryLimit(configuration),

  *judge(limit, { events, at, failed }) {
    const starts = recentEvents(events, at, ['Starting']).filter(({ message }) =>
      isFromKubelet(message),
    )
    const times = eventTimes(starts, at)
    const [first, last] = [agoMs(times.first, at), agoMs(times.last, at)]
    const isLoop =
      times.count >= leastStarts &&
      first !== null &&
      last !== null &&
      last <= longestRunMs &&
      (first - last) / times.count <= longestRunMs
    if (!isLoop) return yield* unreadEvents({ failed })
    yield {
      ...seenFirst(
        `It started ${timesText(times)}${limit === null ? '' : `, in a control group that may have no more than ${limit}`}.`,
        limit === null
          ? 'Until it runs on, nothing on the node is started, evicted or cleaned.'
          : 'If its journal shows no error before a start, the kernel may have killed it at that limit: see journalctl -k.',
      ),
      evidence: eventEvidence(starts, at),
    }
  },
})

/** The memory that a control group of the kubelet may have: `kubeReserved.memory 255Mi`. Null: none is enforced. */
function kubeletMemoryLimit(configuration: NodeSubject['configuration']) {
  const memory = configuration?.kubeReserved?.memory
  const isHeld = configuration?.enforceNodeAllocatable?.includes('kube-reserved') === true
  return isHeld && memory !== undefined ? `kubeReserved.memory ${shorten(memory, 40)}` : null
}
