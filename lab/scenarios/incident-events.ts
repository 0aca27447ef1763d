/** What the API server still remembers of the incidents: an hour of events, the telling ones among the routine. */
import {
  diskPressure,
  type EventProfile,
  eventObject,
  imageGcFailing,
  onNode,
  onPod,
  startOfPod,
} from '#lab/nodes/event-object.ts'
import { nodeNameOf } from '#lab/nodes/placement.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import { incidentNodes } from './incident-nodes.ts'

const full = nodeNameOf('10.0.1.12')
const refused = nodeNameOf('10.0.1.41')
const edited = nodeNameOf('10.0.1.64')
const general = nodeNameOf('10.0.1.61')
/** Its runtime does not list the images in time. */
const silentRuntime = 'kubespray-worker-1'
/** Deleted since by its Job: only its events are left. */
const importer = { namespace: 'batch', name: 'catalog-import-29384701-x8k2p' }
const image = 'docker.io/library/busybox:1.36'
const limit = `Failed to pull image "${image}": failed to pull and unpack image "${image}": failed to copy: httpReadSeeker: failed open: unexpected status code 429 Too Many Requests: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit`

const evicted = incidentNodes.flatMap(({ profile }) =>
  profile.pods.flatMap(pod =>
    pod.failure?.reason === 'Evicted' ? [evictionOf(profile, pod, pod.failure.message)] : [],
  ),
)

function evictionOf(
  { name }: Pick<NodeProfile, 'name'>,
  pod: { namespace: string; name: string },
  message: string,
): EventProfile {
  return { ...onPod(name, pod), type: 'Warning', reason: 'Evicted', message, firstMinutesAgo: 40 }
}

/** A DaemonSet that fills the disk: what replaces the pod that was evicted is refused, for as long as the pressure lasts. Its pods are deleted at once. */
const scanner = (suffix: string, message: string, firstMinutesAgo: number): EventProfile => ({
  ...evictionOf(
    { name: edited },
    { namespace: 'security', name: `node-scanner-${suffix}` },
    message,
  ),
  firstMinutesAgo,
})
const scannerLoop = [
  scanner(
    '4xk9d',
    'The node was low on resource: ephemeral-storage. Threshold quantity: 6442451200, available: 5662310Ki. Container scanner was using 3358720Ki, request is 0, has larger consumption of ephemeral-storage. ',
    40,
  ),
  ...['7zqtm', 'c2wvb', 'nx86f', 'fd5lh'].map((suffix, index) =>
    scanner(suffix, 'The node had condition: [DiskPressure]. ', 39 - index * 9),
  ),
]

const pull = { ...onPod(general, importer, 'import'), firstMinutesAgo: 34, lastMinutesAgo: 22 }

const told: EventProfile[] = [
  // 20 GiB at 88 %: 20 % of it shall be free, 12 % are.
  ...imageGcFailing(full, 1_717_986_919),
  ...diskPressure(edited),
  ...evicted,
  ...scannerLoop,
  {
    ...onNode(silentRuntime),
    type: 'Warning',
    reason: 'ImageGCFailed',
    message: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    count: 10,
    firstMinutesAgo: 50,
    lastMinutesAgo: 3,
  },
  {
    about: { kind: 'Node', name: refused },
    component: 'node-controller',
    type: 'Normal',
    reason: 'NodeNotReady',
    message: `Node ${refused} status is now: NodeNotReady`,
    firstMinutesAgo: 52,
  },
  { ...pull, type: 'Warning', reason: 'Failed', message: limit, count: 4 },
  { ...pull, type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull', count: 4 },
  {
    ...pull,
    type: 'Normal',
    reason: 'BackOff',
    message: `Back-off pulling image "${image}"`,
    count: 17,
  },
  { ...pull, type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"`, count: 4 },
  {
    ...onPod(general, { namespace: 'shop', name: 'checkout-7d9c6bf5c8-old42' }, 'checkout'),
    type: 'Normal',
    reason: 'Killing',
    message: 'Stopping container checkout',
    firstMinutesAgo: 12,
  },
  // A start that failed quotes the command, and with it what was on its command line.
  {
    ...onPod(general, { namespace: 'shop', name: 'migrate-p7l2c' }, 'migrate'),
    type: 'Warning',
    reason: 'Failed',
    message:
      'Error: failed to create containerd task: exec: "migrate --password=lab-secret-db-9": cannot allocate memory',
    firstMinutesAgo: 9,
  },
  {
    ...onNode(general),
    type: 'Normal',
    reason: 'Starting',
    message: 'Starting kubelet.',
    firstMinutesAgo: 55,
  },
  // The first round of image GC comes before the first statistics.
  {
    ...onNode(general),
    type: 'Warning',
    reason: 'InvalidDiskCapacity',
    message: 'invalid capacity 0 on image filesystem',
    firstMinutesAgo: 55,
  },
  ...incidentNodes.flatMap(({ profile }) =>
    profile.pods.slice(-1).flatMap(pod => startOfPod(profile.name, pod, 25)),
  ),
]

export const incidentEvents = (at: string) => told.map(profile => eventObject(profile, at))
