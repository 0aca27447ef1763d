/** `v1.Event` as kubelets and controllers write it. Upstream: client-go tools/record/event.go makeEvent. */
import type { RawObject } from '#base/raw-object.ts'
import { digits, uidOf } from './random.ts'

export interface EventProfile {
  about: EventSubject
  reason: string
  message: string
  type: 'Normal' | 'Warning'
  /** Default `kubelet`. */
  component?: string
  /** The node whose component speaks; absent for controllers. */
  host?: string
  /** Default 1. */
  count?: number
  /** Before the lab's now. */
  firstMinutesAgo: number
  /** Default: the first. */
  lastMinutesAgo?: number
}

type EventSubject =
  | { kind: 'Node'; name: string }
  | { kind: 'Pod'; namespace: string; name: string; fieldPath?: string }

export function eventObject(profile: EventProfile, at: string): RawObject {
  const {
    about,
    reason,
    message,
    type,
    component = 'kubelet',
    host,
    count = 1,
    firstMinutesAgo,
    lastMinutesAgo = firstMinutesAgo,
  } = profile
  const isNode = about.kind === 'Node'
  const key = digits([about.kind, about.name, reason, message, component].join('/'))
  return {
    metadata: {
      name: `${about.name}.${key.slice(0, 16)}`,
      // Events of what has no namespace lie in this one.
      namespace: isNode ? 'default' : about.namespace,
      uid: uidOf(key),
      resourceVersion: String(200_000 + Number.parseInt(key.slice(0, 5), 16)),
      creationTimestamp: before(at, firstMinutesAgo),
      managedFields: [
        {
          manager: component,
          operation: 'Update',
          apiVersion: 'v1',
          time: before(at, lastMinutesAgo),
          fieldsType: 'FieldsV1',
        },
      ],
    },
    involvedObject: isNode
      ? { kind: 'Node', name: about.name, uid: about.name }
      : { ...about, uid: uidOf(`pod/${about.namespace}/${about.name}`), apiVersion: 'v1' },
    reason,
    message,
    source: { component, ...(host !== undefined && { host }) },
    firstTimestamp: before(at, firstMinutesAgo),
    lastTimestamp: before(at, lastMinutesAgo),
    count,
    type,
    eventTime: null,
    reportingComponent: component,
    reportingInstance: host ?? '',
  }
}

const before = (at: string, minutes: number) =>
  `${new Date(Date.parse(at) - minutes * 60_000).toISOString().slice(0, 19)}Z`

export const onNode = (name: string): { about: EventSubject; host: string } => ({
  about: { kind: 'Node', name },
  host: name,
})

export const onPod = (
  host: string,
  { namespace, name }: { namespace: string; name: string },
  container?: string,
) => ({
  about: {
    kind: 'Pod' as const,
    namespace,
    name,
    ...(container !== undefined && { fieldPath: `spec.containers{${container}}` }),
  },
  host,
})

/** What every start of a pod leaves behind. */
export function startOfPod(
  host: string,
  pod: { namespace: string; name: string },
  minutesAgo: number,
): EventProfile[] {
  const common = {
    ...onPod(host, pod, 'app'),
    type: 'Normal' as const,
    firstMinutesAgo: minutesAgo,
  }
  const scheduled = {
    ...common,
    component: 'default-scheduler',
    host: undefined,
    reason: 'Scheduled',
  }
  return [
    { ...scheduled, message: `Successfully assigned ${pod.namespace}/${pod.name} to ${host}` },
    { ...common, reason: 'Pulled', message: 'Container image already present on machine' },
    { ...common, reason: 'Created', message: 'Created container: app' },
    { ...common, reason: 'Started', message: 'Started container app' },
  ]
}

/** A round of image GC that found too little. Upstream: pkg/kubelet/images/image_gc_manager.go, from 1.26. */
export function imageGcFailing(node: string, bytesToFree: number): EventProfile[] {
  const message = `Failed to garbage collect required amount of images. Attempted to free ${bytesToFree} bytes, but only found 0 bytes eligible to free.`
  const common = {
    ...onNode(node),
    type: 'Warning' as const,
    message,
    firstMinutesAgo: 58,
    lastMinutesAgo: 3,
  }
  return [
    { ...common, reason: 'FreeDiskSpaceFailed', count: 12 },
    { ...common, reason: 'ImageGCFailed', count: 11 },
  ]
}

/** A node that evicts for disk. Upstream: pkg/kubelet/eviction/eviction_manager.go, pkg/kubelet/nodestatus/setters.go. */
export function diskPressure(node: string, sinceMinutes = 41): EventProfile[] {
  return [
    {
      ...onNode(node),
      type: 'Warning',
      reason: 'EvictionThresholdMet',
      message: 'Attempting to reclaim ephemeral-storage',
      count: Math.ceil(sinceMinutes / 3),
      firstMinutesAgo: sinceMinutes,
      lastMinutesAgo: 1,
    },
    {
      ...onNode(node),
      type: 'Normal',
      reason: 'NodeHasDiskPressure',
      message: `Node ${node} status is now: NodeHasDiskPressure`,
      firstMinutesAgo: sinceMinutes,
    },
  ]
}
