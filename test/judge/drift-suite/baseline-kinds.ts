/** Nodes that are all alike, and unlike what the policy wishes, or unlike their image where nobody asked for anything. */
import type { Baseline } from '#model/policy.ts'
import { early, imageGc, kind, nodeConfig, settings } from './declare.ts'
import { fleet, hybrid, image, karpenter, managed, selfManaged, times } from './fleet.ts'
import { type SuiteFamily, type SuiteMinor, trio } from './image.ts'
import { type DriftKind, offBaseline, offImage } from './kind.ts'
import { cluster, nodeName } from './node.ts'

const wish = (match: Baseline['match'], configuration: Baseline['configuration']) => ({
  baseline: [{ match, configuration }],
})
const everySignal = { ...trio, 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' }

const ofPolicy: DriftKind[] = [
  kind(
    'AL2023',
    'a baseline of the family',
    offBaseline(),
    () => fleet(managed({ image: image('AL2023', 34), nodes: times(3) })),
    wish({ amiFamily: 'AL2023' }, early),
  ),
  kind(
    'AL2023',
    'a baseline that the few meet',
    offBaseline(nodeName(0), nodeName(1)),
    () =>
      fleet(
        managed({
          image: image('AL2023', 33),
          nodes: [...times(2, { running: imageGc(95, 90) }), { running: early }],
        }),
      ),
    wish({}, early),
  ),
  kind(
    'AL2',
    'a baseline of the family',
    offBaseline(),
    () => fleet(managed({ image: image('AL2', 31), nodes: times(2) })),
    wish({ amiFamily: 'AL2' }, { containerLogMaxSize: '50Mi' }),
  ),
  kind(
    'Bottlerocket',
    'a baseline of the family, beside nodes of another',
    offBaseline(nodeName(0), nodeName(1)),
    () =>
      fleet(
        managed({ image: image('Bottlerocket', 33), nodes: times(2) }),
        managed({ image: image('AL2023', 33), name: 'others', nodes: times(2) }),
      ),
    wish({ amiFamily: 'Bottlerocket' }, imageGc(75, 70)),
  ),
  kind(
    'AL2023',
    'a baseline of an instance type by its pattern',
    offBaseline(nodeName(0, 2), nodeName(1, 2)),
    () =>
      fleet(
        managed({
          image: image('AL2023', 35, { instanceType: 't3.medium' }),
          name: 'small',
          nodes: times(2),
        }),
        managed({
          image: image('AL2023', 35, { instanceType: 'm5.xlarge' }),
          name: 'large',
          nodes: times(2),
        }),
      ),
    wish({ instanceType: 'm5.*' }, { imageMaximumGCAge: '168h' }),
  ),
  kind(
    'AL2023',
    'a baseline of a group',
    offBaseline(nodeName(0, 2)),
    () =>
      fleet(
        managed({ image: image('AL2023', 34), name: 'web', nodes: times(2) }),
        managed({ image: image('AL2023', 34), name: 'batch-a', nodes: times(1) }),
      ),
    wish({ group: 'batch-*' }, early),
  ),
  kind(
    'AL2',
    'a baseline of a cluster, with one key of a map',
    offBaseline(),
    () => fleet(managed({ image: image('AL2', 29), nodes: times(3) })),
    wish({ cluster: 'pr*' }, { evictionHard: { 'imagefs.available': '15%' } }),
  ),
  kind(
    'Bottlerocket',
    'a baseline for the pool of Karpenter, with another value for one key',
    offBaseline(),
    () => fleet(karpenter({ image: image('Bottlerocket', 34), nodes: times(2) })),
    wish(
      { group: 'general' },
      { evictionHard: { 'nodefs.available': '15%', 'memory.available': '100Mi' } },
    ),
  ),
  kind(
    'AL2023',
    'a baseline that a later one takes back in part',
    offBaseline(),
    () =>
      fleet(managed({ image: image('AL2023', 31), nodes: times(2, { running: imageGc(70, 60) }) })),
    {
      baseline: [
        { match: { cluster }, configuration: { ...early, containerLogMaxFiles: 5 } },
        { match: { amiFamily: 'AL2023' }, configuration: { imageGCHighThresholdPercent: 75 } },
      ],
    },
  ),
  kind(
    'AL2023',
    'what was declared runs, and is not what the baseline wishes',
    offBaseline(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 33),
          declares: [nodeConfig(early)],
          nodes: times(2, { running: early }),
        }),
      ),
    wish({}, imageGc(60, 50)),
  ),
  kind(
    'AL2',
    'a self-managed node, with its files',
    offBaseline(),
    () => fleet(selfManaged({ image: image('AL2', 31), nodes: [{ files: {} }] })),
    wish({ instanceType: 'm5.large' }, { serializeImagePulls: true }),
  ),
  kind(
    'Hybrid',
    'a reservation that no node has',
    offBaseline(),
    () => fleet(hybrid({ image: image('Hybrid', 34), nodes: times(2) })),
    wish({}, { systemReserved: { memory: '500Mi' } }),
  ),
]

const edits: [
  field: string,
  family: SuiteFamily,
  minor: SuiteMinor,
  running: Record<string, unknown>,
][] = [
  ['image GC percentages', 'AL2', 31, early],
  ['image GC percentages', 'AL2023', 34, early],
  ['image GC percentages', 'Bottlerocket', 33, early],
  ['evictionHard of the kubelet itself', 'AL2023', 35, { evictionHard: everySignal }],
  ["evictionHard of AL2's image", 'Bottlerocket', 34, { evictionHard: trio }],
  ['evictionHard', 'AL2', 29, { evictionHard: { ...trio, 'nodefs.available': '20%' } }],
  ['containerLogMaxSize', 'AL2023', 31, { containerLogMaxSize: '50Mi' }],
  [
    'a reservation that no formula gives',
    'AL2023',
    33,
    { kubeReserved: { cpu: '70m', 'ephemeral-storage': '1Gi', memory: '100Mi' } },
  ],
]

const ofImage: DriftKind[] = [
  ...edits.map(([field, family, minor, running]) =>
    kind(family, `${field}, edited on every node of 1.${minor}`, offImage(), () =>
      fleet(managed({ image: image(family, minor), nodes: times(3, { running }) })),
    ),
  ),
  kind('AL2023', 'every node, with the files that say so', offImage(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        nodes: times(2, { running: early, files: { main: early } }),
      }),
    ),
  ),
  kind('AL2023', 'every node of a launch template that tells the kubelet nothing', offImage(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        declares: null,
        nodes: times(3, { running: imageGc(95, 90) }),
      }),
    ),
  ),
  kind(
    'AL2023',
    'every node of a launch template that tells the kubelet nothing, with the files that say so',
    offImage(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 33),
          declares: null,
          nodes: times(2, { running: imageGc(95, 90), files: { main: imageGc(95, 90) } }),
        }),
      ),
  ),
  kind('AL2023', 'every node of an EC2NodeClass that declares nothing', offImage(), () =>
    fleet(karpenter({ image: image('AL2023', 34), nodes: times(3, { running: imageGc(95, 80) }) })),
  ),
  kind('AL2023', 'every node, in a field that its NodeConfig does not name', offImage(), () =>
    fleet(
      managed({
        image: image('AL2023', 35),
        declares: [nodeConfig(early)],
        nodes: times(2, { running: { ...early, containerLogMaxSize: '50Mi' } }),
      }),
    ),
  ),
  kind(
    'AL2023',
    'every node, in a key of a map that its NodeConfig does not name',
    offImage(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          declares: [nodeConfig({ evictionHard: { 'imagefs.available': '15%' } })],
          nodes: times(2, {
            running: {
              evictionHard: { ...trio, 'imagefs.available': '15%', 'nodefs.available': '20%' },
            },
          }),
        }),
      ),
  ),
  kind('Bottlerocket', 'every node, in a key beside those of an eviction-hard', offImage(), () =>
    fleet(
      managed({
        image: image('Bottlerocket', 34),
        declares: [settings({ evictionHard: { 'memory.available': '5%' } })],
        nodes: times(2, {
          running: { evictionHard: { 'memory.available': '5%', 'nodefs.available': '40%' } },
        }),
      }),
    ),
  ),
  kind('AL2', 'the only node of a nodegroup', offImage(), () =>
    fleet(
      managed({ image: image('AL2', 31), nodes: [{ running: { imageMinimumGCAge: '1h0m0s' } }] }),
    ),
  ),
  kind(
    'AL2023',
    'every node, where the only baseline is for others',
    offImage(),
    () => fleet(managed({ image: image('AL2023', 33), nodes: times(2, { running: early }) })),
    wish({ amiFamily: 'Bottlerocket' }, imageGc(60, 50)),
  ),
]

export const baselineKinds: DriftKind[] = [...ofPolicy, ...ofImage]
