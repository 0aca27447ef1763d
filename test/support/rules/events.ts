/** Events of an example, and the messages that the kubelet writes. */

import type { NodeEvent } from '#judge/subject/node-subject.ts'
import { exampleTime } from '#test/example.ts'

export const minutesAgo = (minutes: number): string =>
  new Date(Date.parse(exampleTime) - minutes * 60_000).toISOString()

export interface EventValues extends Partial<Omit<NodeEvent, 'pod'>> {
  reason: string
  /** `namespace/name` */
  of?: string
  uid?: string
  /** Minutes before; the first, then the last. */
  ago?: number | [number, number]
}

export function event({
  of,
  uid,
  ago = 5,
  message = '',
  count = 1,
  ...rest
}: EventValues): NodeEvent {
  const [first, last] = typeof ago === 'number' ? [ago, ago] : ago
  const [namespace = '', name = ''] = of?.split('/') ?? []
  const pod = of === undefined ? null : { namespace, name, ...(uid !== undefined && { uid }) }
  return { pod, message, count, firstTime: minutesAgo(first), lastTime: minutesAgo(last), ...rest }
}

export const shortBefore135 =
  'Failed to garbage collect required amount of images. Attempted to free 3435469701 bytes, but only found 1024 bytes eligible to free.'

export const shortSince135 =
  "Insufficient free disk space on the node's image filesystem (91% of 80.0 GiB used). Failed to free sufficient space by deleting unused images (freed 2048 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data."

export const hubLimit =
  'failed to pull and unpack image "docker.io/library/busybox:1.36": failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/busybox/manifests/sha256:1: 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit'

export const pullOf = (message: string, more: Partial<EventValues> = {}) =>
  event({ reason: 'Failed', of: 'batch/import-x8k2p', message, ago: 20, ...more })
