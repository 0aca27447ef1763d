import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { type Collector, kubeletOptions } from '#collect/collector.ts'
import { kubeletPath } from '#facts/kubelet/endpoints.ts'

/** The kubelet's measurements of filesystems, memory and pods, read through the API server's node proxy. */
export const statsSummary: Collector = {
  answers: ['summary'],
  permissions: { kubernetes: ['get nodes/proxy'] },
  purpose: 'usage of the disks and memory of each node',
  isAnsweredByKubelet: true,

  async collect(node, context) {
    const options = kubeletOptions(context, 'summary')
    const parse = await context.kubernetes.getUnparsed(kubeletPath.statsSummary(node.name), options)
    return () => ({ summary: summaryOf(parse()) })
  },
}

/** @throws Error if the body is not a summary */
export function summaryOf(body: unknown): RawObject {
  if (!isRawObject(body) || !isRawObject(body.node))
    throw new Error('the answer has no "node": it is no stats/summary')
  return body
}
