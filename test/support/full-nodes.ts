/** Nodes with little free space and an unknown start of the kubelet: their timelines have the most courses. */
import type { RawObject } from '#base/raw-object.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { fleetNode, idleImage } from './plan-fleet.ts'

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index)

const pod = (index: number) => ({
  metadata: { namespace: 'a', name: `p${index}`, uid: `p${index}` },
  spec: { containers: [{ name: 'a' }] },
  status: { phase: 'Running' },
})
/** Each pod has other usage, so that all are evicted one after another. */
const statistics = (index: number) => ({
  podRef: { namespace: 'a', name: `p${index}`, uid: `p${index}` },
  containers: [{ name: 'a', rootfs: { usedBytes: 1_000_000 * (index + 1) } }],
})

export function fullNodes(nodes: number, pods: number, images: number): NodeRecord[] {
  return indexes(nodes).map(node => {
    const record = fleetNode({
      ...{ name: `n${node}`, available: 12 },
      pods: indexes(pods).map(pod),
      images: indexes(images).map(image => idleImage(`i${image}`, 1)),
    })
    const { startedAt, ...kubelet } = (record.host?.kubelet ?? {}) as RawObject
    return {
      ...record,
      host: { ...record.host, kubelet },
      summary: { ...record.summary, pods: indexes(pods).map(statistics) },
    } as NodeRecord
  })
}
