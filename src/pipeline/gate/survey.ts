/** The first reading of a snapshot: which nodes a change may reach, without what they run. */

import { OperatorError } from '#base/operator-error.ts'
import { nodeKey } from '#base/text.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { classResource } from '#judge/drift/declared.ts'
import type { DeclaredDevice } from '#judge/help/disk-size.ts'
import {
  isObjectOf,
  type KubeletSource,
  type NodeRecord,
  type ObjectsInput,
  type Selection,
  type SnapshotRecord,
} from '#model/input/record.ts'
import { savedFleet } from '#pipeline/audit/fleet.ts'
import { unknownTime } from '#pipeline/audit/judge-records.ts'
import { clusterInput, objectsInput } from '#snapshot/input.ts'
import { isReachable, type ReachedNode } from './reach.ts'
import { settingPaths } from './settings.ts'

export type Survey = Awaited<ReturnType<typeof surveyOf>>

interface SurveyedClass {
  sources: KubeletSource[]
  /** Paths that its `spec.kubelet` sets. */
  ownPaths: string[]
  /** Volumes whose size it gives. */
  volumes: DeclaredDevice[]
}

/** @throws OperatorError if there is no node, or the snapshot is not whole */
export async function surveyOf(snapshot: string, selection: Selection) {
  /** Reachable nodes by their place among the nodes of the snapshot. */
  const nodes = new Map<number, ReachedNode>()
  /** Of each EC2NodeClass, by cluster and name. */
  const classes = new Map<string, SurveyedClass>()
  /** Managed nodegroups on an image of EKS, by cluster and name. */
  const ofEksImage = new Set<string>()
  let takenAt = unknownTime
  let hasNode = false
  for await (const [record, place] of placedRecords(
    snapshot,
    selection,
    identityOnly,
    identityKeys,
  )) {
    if (record.kind === 'Snapshot') takenAt = record.takenAt
    if (record.kind === 'Cluster') {
      const { cluster, nodegroups } = clusterInput(record)
      for (const { nodegroupName = '', amiType = 'CUSTOM' } of nodegroups ?? [])
        if (amiType !== 'CUSTOM') ofEksImage.add(nodeKey(cluster, nodegroupName))
    }
    if (record.kind === 'Objects') addClasses(classes, objectsInput(record))
    if (record.kind !== 'Node') continue
    hasNode = true
    const { cluster, node: own } = record
    const nodeClass = own.metadata?.labels?.['karpenter.k8s.aws/ec2nodeclass'] ?? null
    const node = { cluster, identity: nodeIdentity(own), nodeClass }
    if (isReachable(node)) nodes.set(place, node)
  }
  if (!hasNode) throw new OperatorError(`${snapshot} has no node that could be judged`)
  return { takenAt, nodes, classes, ofEksImage }
}

/**
 * The records with the place that each node has among the nodes of the snapshot, whatever is selected.
 * @param cut what is needed of a record
 * @param nodeKeys what is needed of a node's record. Default: all
 * @throws OperatorError if the snapshot is not whole
 */
export async function* placedRecords(
  snapshot: string,
  selection: Selection,
  cut: (record: SnapshotRecord, place: number) => SnapshotRecord | null,
  nodeKeys?: ReadonlySet<string>,
): AsyncGenerator<[record: SnapshotRecord, place: number]> {
  let place = -1
  const placedCut = (record: SnapshotRecord) => {
    if (record.kind === 'Node') place++
    return cut(record, place)
  }
  const needed = { cut: placedCut, nodeKeys }
  for await (const record of savedFleet(snapshot, selection, undefined, needed)) {
    if (record.kind === 'Malformed')
      throw new OperatorError(
        `${snapshot} is not whole, so nodes may be missing: line ${record.line}: ${record.message}`,
      )
    yield [record, place]
  }
}

const identityKeys = new Set(['kind', 'cluster', 'node'])

function identityOnly(record: SnapshotRecord): SnapshotRecord | null {
  if (record.kind === 'Objects') return record.resource === classResource ? record : null
  if (record.kind !== 'Node') return record
  const { kind, cluster, node } = record
  const { metadata, spec, status } = node
  return {
    kind,
    cluster,
    node: { metadata, spec, status: { nodeInfo: status?.nodeInfo } },
  } as NodeRecord
}

function addClasses(
  classes: Map<string, SurveyedClass>,
  { cluster, resource, items }: ObjectsInput,
) {
  for (const item of items) {
    if (!isObjectOf(classResource, resource, item)) continue
    const { userData, kubelet, blockDeviceMappings = [] } = item.spec ?? {}
    const sources = [...(userData ?? []), ...(kubelet ? [{ config: kubelet }] : [])]
    const volumes = blockDeviceMappings.flatMap(({ deviceName = '', rootVolume, ebs }) =>
      ebs?.volumeSize === undefined ? [] : [{ device: deviceName, isRoot: rootVolume === true }],
    )
    classes.set(nodeKey(cluster, item.metadata?.name ?? ''), {
      sources,
      ownPaths: settingPaths({ config: kubelet ?? {} }),
      volumes,
    })
  }
}
