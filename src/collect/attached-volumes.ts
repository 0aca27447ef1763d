/** Reads the EBS volumes of nodes: one request to EC2 for as many instances as a filter accepts. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { Ec2Api } from '#clients/aws/ec2.ts'
import { readErrorOf } from '#clients/failure.ts'
import { attachedFilter, attachedInstancesMax } from '#facts/aws/cluster-resources.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import type { NodeRecord, ReadError } from '#model/input/record.ts'
import type { ClusterInAws } from './collector.ts'

const timeoutMs = 20_000
const lateMessage = `EC2 did not list the volumes of the nodes within ${timeoutMs / 1000} s`

/** Attached volumes, by instance id; or the reason why EC2 did not list them. */
type Attached = ReadonlyMap<string, RawObject[]> | ReadError

export interface ListedNode {
  node: KubernetesNode
  /** `volumes`, or the reason why they are unknown. Never rejects. Empty: EC2 was not requested. */
  volumes: Promise<PartsOfVolumes>
}

type PartsOfVolumes = Pick<NodeRecord, 'volumes' | 'errors'>

/** Yields the nodes in their order. @param aws null: volumes are not read */
export async function* withVolumes(
  nodes: AsyncIterable<KubernetesNode> | Iterable<KubernetesNode>,
  aws: ClusterInAws | null,
  signal: AbortSignal,
): AsyncGenerator<ListedNode> {
  let batch: KubernetesNode[] = []
  for await (const node of nodes) {
    batch.push(node)
    if (aws !== null && batch.length < attachedInstancesMax) continue
    yield* nodesAndVolumes(batch, aws, signal)
    batch = []
  }
  yield* nodesAndVolumes(batch, aws, signal)
}

function* nodesAndVolumes(
  nodes: KubernetesNode[],
  aws: ClusterInAws | null,
  signal: AbortSignal,
): Generator<ListedNode> {
  const found = nodes.map(node => ({ node, id: ec2Instance(node) }))
  const ids = found.flatMap(({ id }) => id ?? [])
  const attached = aws === null || ids.length === 0 ? null : attachedTo(ids, aws, signal)
  for (const { node, id } of found)
    yield {
      node,
      volumes: Promise.resolve(attached).then(known =>
        known === null || id === null ? {} : partsOf(known, id),
      ),
    }
}

const partsOf = (attached: Attached, id: string): PartsOfVolumes =>
  'what' in attached ? { errors: [attached] } : { volumes: attached.get(id) ?? [] }

/** A hybrid node has an id from SSM instead of EC2. */
function ec2Instance(node: KubernetesNode): string | null {
  const { instanceId } = nodeIdentity(node)
  return instanceId?.startsWith('i-') ? instanceId : null
}

async function attachedTo(
  ids: string[],
  { region, credentials }: ClusterInAws,
  signal: AbortSignal,
): Promise<Attached> {
  const ec2 = new Ec2Api(region, credentials)
  // Every node of the batch waits for this answer.
  const timeout = AbortSignal.timeout(timeoutMs)
  const within = AbortSignal.any([signal, timeout])
  const volumes = new Map<string, RawObject[]>()
  try {
    for await (const page of ec2.volumes([attachedFilter(ids)], within))
      for (const { Attachments, ...volume } of page)
        for (const { InstanceId, Device } of attachmentsOf(Attachments)) {
          const known = volumes.get(String(InstanceId)) ?? []
          volumes.set(String(InstanceId), [...known, { ...volume, Device }])
        }
    return volumes
  } catch (error) {
    const isLate = timeout.aborted && !signal.aborted
    return readErrorOf('volumes', isLate ? new Error(lateMessage) : error)
  } finally {
    ec2.close()
  }
}

const attachmentsOf = (attachments: unknown): RawObject[] =>
  Array.isArray(attachments) ? attachments.filter(isRawObject) : []
