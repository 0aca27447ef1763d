/** What the API server still remembers of the incidents: an hour of events, the telling ones among the routine. */
import type { RawObject } from '#base/raw-object.ts'
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
import { editedNode, pressure, scannerUse } from './incident-nodes.ts'

const fullNode = nodeNameOf('10.0.1.12')
const refused = nodeNameOf('10.0.1.41')
const edited = editedNode
const general = nodeNameOf('10.0.1.61')
/** Its runtime does not list the images in time. */
const silentRuntime = 'kubespray-worker-1'
/** Deleted since by its Job: only its events are left. */
const importer = { namespace: 'batch', name: 'catalog-import-29384701-x8k2p' }
const image = 'docker.io/library/busybox:1.36'
const limit = `Failed to pull image "${image}": failed to pull and unpack image "${image}": failed to copy: httpReadSeeker: failed open: unexpected status code 429 Too Many Requests: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit`

/** By morning, how much later what happened regularly happened: no two hours are alike. */
const paces = [1, 0.9, 0.8]
/** The suffixes that the DaemonSet's pods had, by morning. */
const scanners = [
  ['4xk9d', '7zqtm', 'c2wvb', 'nx86f'],
  ['vw6tq', 'k8s4n', '2mhxj', 'zt7rb'],
  ['b5jlz', 'q9xvt', 'wd2hk', '6nfmr'],
]

const evictionOf = (
  { name }: Pick<NodeProfile, 'name'>,
  pod: { namespace: string; name: string },
  message: string,
  minutesAgo: number,
): EventProfile => ({
  ...onPod(name, pod),
  type: 'Warning',
  reason: 'Evicted',
  message,
  firstMinutesAgo: minutesAgo,
})

const evictionsOf = (profile: NodeProfile) =>
  profile.pods.flatMap(pod =>
    pod.failure?.reason === 'Evicted'
      ? [evictionOf(profile, pod, pod.failure.message, Math.round((pod.endedHoursAgo ?? 0) * 60))]
      : [],
  )

/** A DaemonSet that fills the disk: what replaces the pod that was evicted is refused, for as long as the pressure lasts. Its pods are deleted at once. */
const scannerLoop = (days: number, minutesAgo: number) =>
  (scanners[days] ?? []).map((suffix, index) =>
    evictionOf(
      { name: edited },
      { namespace: 'security', name: `node-scanner-${suffix}` },
      index === 0 ? `${pressure}${scannerUse}` : 'The node had condition: [DiskPressure]. ',
      index === 0 ? minutesAgo : Math.round(minutesAgo - 1 - (index - 1) * ((minutesAgo - 4) / 3)),
    ),
  )

const pull = { ...onPod(general, importer, 'import'), firstMinutesAgo: 34, lastMinutesAgo: 22 }

const regular = (full: NodeProfile): EventProfile[] => [
  // 20 % of its disk shall be free.
  ...imageGcFailing(
    full.name,
    Math.round((full.nodefs.capacityBytes * (full.nodefs.usedPercent - 80)) / 100),
  ),
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
]

/** @param days which morning, from 0 */
export function incidentEvents(
  nodes: readonly NodeProfile[],
  days: number,
  at: string,
): RawObject[] {
  const later = (profile: EventProfile): EventProfile => ({
    ...profile,
    firstMinutesAgo: Math.round(profile.firstMinutesAgo * paces[days]!),
    ...(profile.lastMinutesAgo !== undefined && {
      lastMinutesAgo: Math.round(profile.lastMinutesAgo * paces[days]!),
    }),
  })
  const starts = nodes.flatMap(({ name, pods }) =>
    pods.slice(-1).flatMap(pod => startOfPod(name, pod, 25)),
  )
  const full = nodes.find(({ name }) => name === fullNode)!
  const { diskPressureMinutes = 1 } = nodes.find(({ name }) => name === edited)!
  return [
    ...[...regular(full), ...starts].map(later),
    ...diskPressure(edited, diskPressureMinutes),
    ...nodes.flatMap(evictionsOf),
    ...scannerLoop(days, diskPressureMinutes - 1),
  ].map(profile => eventObject(profile, at))
}
