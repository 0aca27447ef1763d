/** A healthy node, as a record and its prediction: a test names only what is wrong with it. One GiB is one percent of its disk. */

import type { NodeRecord } from '#model/input/record.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'

export const takenAt = '2026-11-21T00:00:00Z'

export interface BuiltNode {
  record: NodeRecord
  prediction: NodePrediction
}

export interface NodeOptions extends NodeExample {
  name?: string
  cluster?: string
  /** Null: the node belongs to none. */
  nodegroup?: string | null
  labels?: Record<string, string>
  record?: Partial<NodeRecord>
  prediction?: Partial<NodePrediction>
}

/** Three quarters are free. */
const imageFs = { capacityBytes: 2 ** 36, availableBytes: 3 * 2 ** 34 }

export function buildNode(options: NodeOptions = {}): BuiltNode {
  const {
    name = 'ip-10-0-1-2.ec2.internal',
    cluster = 'prod',
    nodegroup = 'workers',
    labels = {},
    record,
    prediction,
    ...example
  } = options
  const { identity, configuration, conditions, filesystems, imageGC, eviction, nextStart } =
    exampleSubject(example, name)
  return {
    record: {
      kind: 'Node',
      cluster,
      at: takenAt,
      node: {
        metadata: {
          name,
          labels: {
            ...(identity.instanceType === null
              ? {}
              : { 'node.kubernetes.io/instance-type': identity.instanceType }),
            ...(nodegroup === null ? {} : { 'eks.amazonaws.com/nodegroup': nodegroup }),
            ...labels,
          },
        },
        ...(identity.instanceId === null
          ? {}
          : { spec: { providerID: `aws:///eu-west-1a/${identity.instanceId}` } }),
        status: {
          conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })),
          nodeInfo: {
            kubeletVersion: identity.kubeletVersion ?? '',
            operatingSystem: identity.operatingSystem,
            osImage:
              identity.amiFamily === 'AL2023' ? 'Amazon Linux 2023.6.20250203' : identity.amiFamily,
          },
        },
      },
      configz: { kubeletconfig: { ...configuration } },
      summary: { node: { nodeName: name, runtime: { imageFs } } },
      pods: [],
      errors: [],
      ...record,
    },
    prediction: {
      cluster,
      node: name,
      kubeletVersion: identity.kubeletVersion,
      at: takenAt,
      filesystems,
      imageGC,
      eviction,
      containerGC: null,
      localStorageEvictions: null,
      oomScores: null,
      allocatable: null,
      nextStart,
      ledger: null,
      unknowns: [],
      ...prediction,
    },
  }
}
