/** Lists of one node, at their limits, and objects of a cluster beside a node's pods: twice the entries take at most three times the time, from the record to the findings. */
import { describe, expect, it, vi } from 'vitest'
import { listLimits } from '#base/limits.ts'
import type { RawObject } from '#base/raw-object.ts'
import { gateHistory } from '#facts/kubelet/feature-gates.ts'
import { garbageResources } from '#facts/kubernetes/garbage-resources.ts'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import type { NodeRecord, ObjectsRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { budgetResource, FleetPods } from '#remediate/pods.ts'
import { openClusterReplay } from '#replay/cluster-gc/cluster-replay.ts'
import { refusalsOf } from '#replay/configuration/configuration-change.ts'
import { replay } from '#replay/replay.ts'
import { nodeInput, objectsInput } from '#snapshot/input.ts'
import { prune } from '#snapshot/prune.ts'
import { isLinear } from '#test/linear.ts'
import { fleetNode, idleImage, readyPod } from '#test/plan-fleet.ts'

vi.setConfig({ testTimeout: 600_000 })

const at = '2026-11-21T00:00:00Z'
const list = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index))
const entries = (count: number, value: unknown, name: (index: number) => string): RawObject =>
  Object.fromEntries(list(count, index => [name(index), value]))
const withSummary = (node: NodeRecord, pods: RawObject[]) =>
  ({ ...node, summary: { ...node.summary, pods } }) as NodeRecord
const knownGates = Object.keys(gateHistory)

const podOfVolumes = (count: number) => {
  const [volumes, volumeMounts] = [
    list(count, index => ({ name: `v${index}`, emptyDir: { sizeLimit: '1Mi' } })),
    list(count, index => ({ name: `v${index}`, mountPath: `/v${index}` })),
  ]
  const pod = readyPod('p', 'd')
  return {
    ...pod,
    spec: { ...pod.spec, volumes, containers: [{ name: 'c', volumeMounts }] },
  } as NonNullable<NodeRecord['pods']>[number]
}

function withEnvironment(content: string): NodeRecord {
  const file = { path: '/etc/systemd/system/kubelet.service', role: 'environment', content }
  return {
    ...fleetNode({}),
    host: { kubelet: { commandLine: ['/usr/bin/kubelet'], files: [file] } },
  }
}

/** `count`: half of the longest list. */
const lists: [name: string, count: number, nodeOf: (count: number) => NodeRecord][] = [
  [
    'images, each with its own name',
    listLimits.images / 2,
    count => fleetNode({ available: 5, images: list(count, index => idleImage(`a${index}`, 1)) }),
  ],
  [
    'images of one name',
    listLimits.images / 2,
    count => fleetNode({ available: 5, images: list(count, () => idleImage('a:1', 1)) }),
  ],
  [
    'images that the node reports',
    listLimits.images / 2,
    count => {
      const node = fleetNode({ available: 5 })
      const images = list(count, index => ({ names: [`a${index}@sha256:0`], sizeBytes: 1 }))
      return { ...node, node: { ...node.node, status: { ...node.node.status, images } } }
    },
  ],
  [
    'attached volumes',
    listLimits.volumes / 2,
    count =>
      fleetNode({
        record: {
          volumes: list(count, index => ({
            VolumeId: `v${index}`,
            Size: 1,
            Device: `/dev/${index}`,
          })),
        },
      }),
  ],
  [
    'volumes of a pod',
    5_000,
    count =>
      withSummary(fleetNode({ available: 5, pods: [podOfVolumes(count)] }), [
        {
          podRef: { namespace: 'shop', name: 'p', uid: 'uid-p' },
          volume: list(count, index => ({ name: `v${index}`, usedBytes: 2 ** 21 })),
        },
      ]),
  ],
  [
    'unknown feature gates',
    4_000,
    count => fleetNode({ configz: { featureGates: entries(count, true, index => `G${index}`) } }),
  ],
  [
    'unknown feature gates of a file',
    4_000,
    count => fleetNode({ file: { featureGates: entries(count, true, index => `G${index}`) } }),
  ],
  [
    'variables in the unit of its kubelet',
    5_000,
    count =>
      withEnvironment(
        [
          `ExecStart=/usr/bin/kubelet ${'$KUBELET_A '.repeat(count)}`,
          ...list(count, index => `KUBELET_${index}=1`),
          'KUBELET_A=1',
        ].join('\n'),
      ),
  ],
  [
    'feature gates in flags',
    2_000,
    count =>
      fleetNode({
        flags: list(
          count,
          index => `--feature-gates=${knownGates[index % knownGates.length]}=true`,
        ),
      }),
  ],
]

function findingsOf(node: NodeRecord) {
  const input = nodeInput(prune(node))
  const judgement = openJudgement(rules, defaultPolicy, { refusalsOf })
  judgement.take(
    input,
    replay(input, at, { at: null, changes: [], fills: [{ target: 'nodefs', perSecond: 1e6 }] }),
  )
  return judgement.close(at).findings
}

describe('a node with many', () => {
  it.each(lists)('%s takes linear time', (_, count, nodeOf) => {
    const nodes = new Map([count, 2 * count].map(length => [length, nodeOf(length)]))
    expect(() => findingsOf(nodeOf(3))).not.toThrow()
    expect(isLinear(length => findingsOf(nodes.get(length) as NodeRecord), count)).toBe(true)
  })
})

const expressions = list(20, index => ({ key: `k${index}`, operator: 'DoesNotExist' }))
/** Selectors of budgets. Every pod has the labels `a: b` and `own: <its index>`. */
const selectors: [name: string, selector: (index: number) => RawObject][] = [
  ['one label', () => ({ matchLabels: { a: 'b' } })],
  ['a label of their own', index => ({ matchLabels: { own: `${index}` } })],
  ['every pod', () => ({})],
  ['expressions', () => ({ matchExpressions: expressions })],
  [
    'a long expression',
    index => ({
      matchExpressions: [{ key: 'a', operator: 'In', values: list(index % 100, String) }],
    }),
  ],
]
const metadataOf = (index: number) => ({
  ...{ namespace: 'shop', name: `o${index}`, uid: `u${index}`, creationTimestamp: at },
  labels: { a: 'b', own: `${index}` },
  annotations: { 'volume.kubernetes.io/selected-node': 'n' },
  ownerReferences: [{ kind: 'ReplicaSet', name: `o${index + 1}`, uid: `u${index + 1}` }],
})

/** What each list names is what the pods name. */
function clusterOf(count: number, resource: string, item: (index: number) => RawObject) {
  const pods = list(count, index => {
    const pod = readyPod(`p${index}`, `u${index}`)
    return { ...pod, metadata: { ...pod.metadata, labels: { a: 'b', own: `${index}` } } }
  })
  const objects: ObjectsRecord = {
    ...{ kind: 'Objects', cluster: 'prod', resource },
    items: list(count, index => ({ metadata: metadataOf(index), ...item(index) })),
  }
  return { objects, node: fleetNode({ available: 5, pods: pods as never }) }
}

function readCluster({ objects, node }: ReturnType<typeof clusterOf>) {
  const input = nodeInput(prune(node))
  const read = objectsInput(prune(objects))
  const [budgets, judgement, garbage] = [
    new FleetPods(),
    openJudgement(rules, defaultPolicy, { refusalsOf }),
    openClusterReplay(),
  ]
  budgets.takeObjects(objects)
  for (const each of [judgement, garbage]) each.takeObjects(read)
  budgets.takeNode(input)
  garbage.takeNode(input)
  judgement.take(input, replay(input, at))
  judgement.close(at, garbage.close(at))
  return [budgets.blastOf(input, false), budgets.disruptionsOf(input)]
}

describe('beside as many pods, the objects of a cluster', () => {
  it.each(selectors)('take linear time: budgets of %s', (_, selector) => {
    const status = { disruptionsAllowed: 0 }
    const of = (count: number) =>
      clusterOf(count, budgetResource, index => ({
        ...{ spec: { selector: selector(index) }, status },
      }))
    const clusters = new Map([3_000, 6_000].map(count => [count, of(count)]))
    expect(() => readCluster(of(3))).not.toThrow()
    expect(isLinear(count => readCluster(clusters.get(count)!), 3_000)).toBe(true)
  })

  it.each(['events', ...garbageResources.map(({ resource }) => resource)])(
    'take linear time: %s',
    resource => {
      const of = (count: number) =>
        clusterOf(count, resource, index => ({
          ...{ type: 'Warning', reason: 'FailedMount', message: `p${index}`, lastTimestamp: at },
          involvedObject: {
            kind: 'Pod',
            namespace: 'shop',
            name: `p${index}`,
            uid: `uid-p${index}`,
          },
          spec: { nodeName: 'n', volumeName: `o${index}`, claimRef: { name: `o${index}` } },
        }))
      const clusters = new Map([3_000, 6_000].map(count => [count, of(count)]))
      expect(() => readCluster(of(3))).not.toThrow()
      expect(isLinear(count => readCluster(clusters.get(count)!), 3_000)).toBe(true)
    },
  )
})
