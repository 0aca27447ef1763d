/** Images that a node had when it started: they came with its machine image, and each new node has them again. */
import { mebibyte, minuteMs } from '#base/units.ts'
import { bytes, type NodeSubject, plural, worldCause } from '#judge/rule.ts'
import type { Reason } from './holder-cause.ts'
import { unusedOf } from './listed-images.ts'

/** Assumed upper bound of pulling and unpacking, in bytes a second. */
const mostPulled = 50 * mebibyte
/** The least share of the used bytes. */
const leastShare = 0.2
const mostMinutes = 60

/** Null: the node is older, or such images hold little. */
export function machineImageReason(subject: NodeSubject): Reason | null {
  const minutes = ageOf(subject)
  if (minutes === null || minutes > mostMinutes) return null
  const found = unusedBytesOf(subject)
  const usedBytes = Math.max(...(subject.ledger?.filesystems ?? []).map(one => one.usedBytes), 0)
  if (!found || found.bytes < leastShare * usedBytes) return null
  if (found.bytes < minutes * 60 * mostPulled) return null
  const images = found.count === null ? 'images' : plural(found.count, 'image')
  return {
    cause: worldCause('images-of-machine-image'),
    steps: [{ id: 'prune-images' }, { id: 'prune-in-image' }],
    seen: `The node started ${plural(Math.round(minutes), 'minute')} ago and ${found.count === null ? 'has' : 'lists'} ${bytes(found.bytes)} of ${images} that no pod uses, more than can have been pulled since: they probably came with its machine image, and new nodes have them again.`,
  }
}

/** Minutes since the machine started, or since the Node object was created if that is longer ago. Null: unknown. */
function ageOf({ node, summary, at }: NodeSubject): number | null {
  const created = Date.parse(node.metadata?.creationTimestamp ?? '')
  const started = Date.parse(summary?.node?.startTime ?? '')
  const first = Math.min(created, Number.isNaN(started) ? created : started)
  return first < Date.parse(at) ? (Date.parse(at) - first) / minuteMs : null
}

/** By the node's list, or as measured. Null: unknown. */
function unusedBytesOf(subject: NodeSubject) {
  const listed = unusedOf(subject)
  if (listed) return { bytes: listed.unusedBytes, count: listed.unused.length }
  const measured = (subject.ledger?.filesystems ?? [])
    .flatMap(({ lines }) => lines)
    .find(({ holder }) => holder === 'images-unused')
  return measured ? { bytes: measured.lowBytes, count: null } : null
}
