import { isRawObject, type NodeRecord } from '#model/record.ts'
import { isMoment } from '#model/what-if.ts'

/** When its kubelet was started, RFC 3339, by the node's own clock; null: nobody told. */
export function kubeletStartedAt({ host, known, summary }: NodeRecord): string | null {
  const kubelet = isRawObject(host?.kubelet) ? host.kubelet.startedAt : undefined
  const node = isRawObject(summary?.node) ? summary.node.systemContainers : undefined
  const container = Array.isArray(node)
    ? node.find(one => isRawObject(one) && one.name === 'kubelet')
    : undefined
  const told = [
    kubelet,
    known?.kubeletStartedAt,
    isRawObject(container) ? container.startTime : undefined,
  ]
  return told.find((time): time is string => typeof time === 'string' && isMoment(time)) ?? null
}
