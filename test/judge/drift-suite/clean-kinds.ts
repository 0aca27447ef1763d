/** Fleets without drift, some of which look like it. */
import type { Baseline } from '#model/policy.ts'
import {
  bootstrap,
  early,
  earlyFlags,
  imageGc,
  kind,
  late,
  nodeConfig,
  script,
  settings,
} from './declare.ts'
import {
  autoMode,
  eksctl,
  fleet,
  type GroupOf,
  hybrid,
  image,
  karpenter,
  managed,
  selfManaged,
  times,
} from './fleet.ts'
import { type SuiteFamily, type SuiteInstance, type SuiteMinor, trio } from './image.ts'
import type { DriftKind } from './kind.ts'

const clean = (
  family: SuiteFamily,
  name: string,
  group: () => GroupOf | GroupOf[],
  baseline?: Baseline[],
): DriftKind => kind(family, name, null, () => fleet(...[group()].flat()), baseline && { baseline })
const wish = (match: Baseline['match'], configuration: Baseline['configuration']): Baseline[] => [
  { match, configuration },
]
const bare = times(2)
const pairWithFiles = times(2, { files: {} })
const imagefs = { evictionHard: { 'imagefs.available': '15%' } }
const everySignal = { ...trio, 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' }
const taints = { registerWithTaints: [{ effect: 'NoExecute', key: 'karpenter.sh/unregistered' }] }
const sizes = (...types: SuiteInstance[]) => types.map(instanceType => ({ instanceType }))

const images: [SuiteFamily, SuiteMinor][] = [
  ['AL2', 29],
  ['AL2', 31],
  ['AL2023', 29],
  ['AL2023', 31],
  ['AL2023', 33],
  ['AL2023', 34],
  ['AL2023', 35],
  ['Bottlerocket', 31],
  ['Bottlerocket', 33],
  ['Bottlerocket', 34],
  ['Bottlerocket', 35],
]

const defaults: DriftKind[] = [
  ...images.flatMap(([family, minor]) => [
    clean(family, `the image as it is, 1.${minor}`, () =>
      managed({ image: image(family, minor), nodes: times(3) }),
    ),
    clean(family, `the image as it is, 1.${minor}, with its files`, () =>
      managed({ image: image(family, minor), nodes: pairWithFiles }),
    ),
  ]),
  clean('Auto Mode', 'what EKS runs', () =>
    autoMode({ image: image('Auto Mode', 34), nodes: sizes('m5.large', 'm5.large', 'm5.xlarge') }),
  ),
  clean('AL2023', "Karpenter's nodes", () =>
    karpenter({ image: image('AL2023', 34), nodes: times(2, { running: taints }) }),
  ),
  clean('AL2023', "Karpenter's nodes with their files", () =>
    karpenter({
      image: image('AL2023', 35),
      nodes: times(2, {
        running: taints,
        files: { dropIns: { '40-nodeadm.conf': { ...taints, maxPods: 29 } } },
      }),
    }),
  ),
  clean('Bottlerocket', "Karpenter's nodes", () =>
    karpenter({ image: image('Bottlerocket', 33), nodes: bare }),
  ),
  clean('Bottlerocket', "Karpenter's nodes with their files", () =>
    karpenter({ image: image('Bottlerocket', 34), nodes: pairWithFiles }),
  ),
  clean('Hybrid', 'hybrid nodes', () => hybrid({ image: image('Hybrid', 33), nodes: bare })),
  clean('Hybrid', 'hybrid nodes with their files', () =>
    hybrid({ image: image('Hybrid', 34), nodes: pairWithFiles }),
  ),
  clean('AL2023', 'nodes of eksctl', () => eksctl({ image: image('AL2023', 31), nodes: bare })),
  clean('AL2', 'a self-managed node, as its image is', () =>
    selfManaged({ image: image('AL2', 29), nodes: [{ files: {} }] }),
  ),
  clean('AL2023', 'the release before, of which every node is', () =>
    managed({ image: image('AL2023', 34, { release: 'old' }), nodes: pairWithFiles }),
  ),
  clean('AL2023', "EKS's own NodeConfig, with the number of pods", () =>
    managed({
      image: image('AL2023', 34),
      nodes: times(2, { files: { dropIns: { '40-nodeadm.conf': { maxPods: 29 } } } }),
    }),
  ),
  clean('AL2023', "EKS's own NodeConfig, with the number of pods of prefix delegation", () =>
    managed({ image: image('AL2023', 33), nodes: times(2, { running: { maxPods: 110 } }) }),
  ),
  clean('AL2023', 'a launch template that tells the kubelet nothing', () =>
    managed({ image: image('AL2023', 34), declares: null, nodes: pairWithFiles }),
  ),
]

const declared: DriftKind[] = [
  clean('AL2023', 'a NodeConfig that runs', () =>
    managed({
      image: image('AL2023', 34),
      declares: [nodeConfig(early)],
      nodes: times(3, { running: early }),
    }),
  ),
  clean('AL2023', 'a NodeConfig that runs, with the files', () =>
    managed({
      image: image('AL2023', 31),
      declares: [nodeConfig(early)],
      nodes: times(2, { running: early, files: { dropIns: { '40-nodeadm.conf': early } } }),
    }),
  ),
  clean('AL2023', 'flags of a NodeConfig, which nodeadm does read', () =>
    managed({
      image: image('AL2023', 33),
      declares: [nodeConfig({}, ...earlyFlags)],
      nodes: times(2, { running: early, files: { flags: earlyFlags } }),
    }),
  ),
  clean('AL2023', 'flags of a NodeConfig, the nodes were not read', () =>
    managed({
      image: image('AL2023', 35),
      declares: [nodeConfig({}, '--max-pods=20')],
      nodes: times(2, { running: { maxPods: 20 } }),
    }),
  ),
  clean('AL2', 'extra arguments of bootstrap.sh', () =>
    managed({
      image: image('AL2', 31),
      declares: [bootstrap('--node-labels=team=shop', '--max-pods=110')],
      nodes: times(2, {
        running: { maxPods: 110 },
        files: {
          main: { maxPods: undefined },
          flags: ['--node-labels=team=shop', '--max-pods=110'],
        },
      }),
    }),
  ),
  clean('AL2', 'an eviction-hard among the extra arguments', () =>
    managed({
      image: image('AL2', 29),
      declares: [bootstrap('--eviction-hard', 'memory.available<5%,nodefs.available<10%')],
      nodes: times(2, {
        running: { evictionHard: { 'nodefs.available': '10%', 'memory.available': '5%' } },
      }),
    }),
  ),
  clean('AL2', 'jq in user data', () =>
    managed({
      image: image('AL2', 31),
      declares: [script(early)],
      nodes: times(2, { running: early, files: { main: early } }),
    }),
  ),
  clean('AL2', 'a script, which may do more than anybody reads in it', () =>
    managed({
      image: image('AL2', 29),
      declares: [script(early)],
      nodes: times(2, { running: { ...early, containerLogMaxSize: '50Mi' } }),
    }),
  ),
  clean('Bottlerocket', 'an eviction-hard of one key, which takes the place of the defaults', () =>
    managed({
      image: image('Bottlerocket', 34),
      declares: [settings({ evictionHard: { 'memory.available': '5%' } })],
      nodes: times(2, { running: { evictionHard: { 'memory.available': '5%' } } }),
    }),
  ),
  clean('Bottlerocket', 'settings of the user data', () =>
    managed({
      image: image('Bottlerocket', 33),
      declares: [settings({ ...early, evictionHard: everySignal })],
      nodes: times(2, { running: { ...early, evictionHard: everySignal } }),
    }),
  ),
  clean('Bottlerocket', 'settings that Karpenter translates', () =>
    karpenter({
      image: image('Bottlerocket', 35),
      kubelet: early,
      nodes: times(3, { running: early }),
    }),
  ),
  clean('AL2023', 'durations in another spelling', () =>
    managed({
      image: image('AL2023', 34),
      declares: [
        nodeConfig({
          imageMinimumGCAge: '600s',
          evictionPressureTransitionPeriod: '5m',
          imageMaximumGCAge: '168h',
        }),
      ],
      nodes: times(2, { running: { imageMinimumGCAge: '10m0s', imageMaximumGCAge: '168h0m0s' } }),
    }),
  ),
  clean('AL2023', 'quantities in another spelling', () =>
    karpenter({
      image: image('AL2023', 33),
      kubelet: {
        systemReserved: { memory: '1024Mi', cpu: '0.5' },
        evictionHard: { 'memory.available': '0.5Gi' },
      },
      nodes: times(2, {
        running: {
          systemReserved: { memory: '1Gi', cpu: '500m' },
          evictionHard: { ...trio, 'memory.available': '512Mi' },
        },
      }),
    }),
  ),
  clean('AL2023', 'a duration in another spelling in the files', () =>
    managed({
      image: image('AL2023', 35),
      declares: [nodeConfig({ imageMinimumGCAge: '300s' })],
      nodes: times(2, {
        running: { imageMinimumGCAge: '5m0s' },
        files: { dropIns: { '40-nodeadm.conf': { imageMinimumGCAge: '300s' } } },
      }),
    }),
  ),
  clean('AL2023', 'a NodeConfig with a field in another case, which runs all the same', () =>
    managed({
      image: image('AL2023', 35),
      declares: [nodeConfig({ imageGcHighThresholdPercent: 75 })],
      nodes: times(2, { running: { imageGCHighThresholdPercent: 75 } }),
    }),
  ),
  clean('AL2023', 'defaults that were made explicit', () =>
    managed({
      image: image('AL2023', 34),
      declares: [
        nodeConfig({
          ...late,
          containerLogMaxFiles: 5,
          imageMaximumGCAge: '0s',
          mergeDefaultEvictionSettings: false,
        }),
      ],
      nodes: bare,
    }),
  ),
  clean('Bottlerocket', 'an eviction-hard that is the default', () =>
    managed({
      image: image('Bottlerocket', 34),
      declares: [settings({ evictionHard: everySignal })],
      nodes: bare,
    }),
  ),
  clean('AL2', 'a map in another order, and a file that says defaults', () =>
    managed({
      image: image('AL2', 31),
      declares: [
        script({
          evictionHard: {
            'nodefs.inodesFree': '5%',
            'nodefs.available': '10%',
            'memory.available': '100Mi',
          },
        }),
      ],
      nodes: times(2, { files: { main: late } }),
    }),
  ),
  clean('AL2023', 'two pieces of user data', () =>
    managed({
      image: image('AL2023', 33),
      declares: [nodeConfig(early), script({ containerLogMaxSize: '50Mi' })],
      nodes: times(2, {
        running: { ...early, containerLogMaxSize: '50Mi' },
        files: {
          dropIns: { '40-nodeadm.conf': early, '90-own.conf': { containerLogMaxSize: '50Mi' } },
        },
      }),
    }),
  ),
  clean('AL2023', 'an EC2NodeClass and its user data, over which Karpenter wins', () =>
    karpenter({
      image: image('AL2023', 34),
      kubelet: early,
      userData: [nodeConfig({ ...imageGc(60, 50), containerLogMaxSize: '50Mi' })],
      nodes: times(3, { running: { ...early, containerLogMaxSize: '50Mi' } }),
    }),
  ),
  clean('AL2023', 'fewer pods than the instance could have', () =>
    managed({
      image: image('AL2023', 31),
      declares: [nodeConfig({ maxPods: 20 })],
      nodes: times(2, {
        running: { maxPods: 20 },
        files: { dropIns: { '40-nodeadm.conf': { maxPods: 20 } } },
      }),
    }),
  ),
  clean('AL2023', 'more pods by prefix delegation, and the reservation of before', () =>
    karpenter({
      image: image('AL2023', 35),
      kubelet: { maxPods: 110 },
      nodes: times(2, { running: { maxPods: 110, ...taints } }),
    }),
  ),
  clean('AL2023', 'a drop-in that adds a key to evictionHard', () =>
    managed({
      image: image('AL2023', 34),
      declares: [nodeConfig(imagefs)],
      nodes: times(2, {
        running: { evictionHard: { ...trio, 'imagefs.available': '15%' } },
        files: { dropIns: { '40-nodeadm.conf': imagefs } },
      }),
    }),
  ),
  clean('AL2023', 'a drop-in of 1.29 that adds a key to evictionHard', () =>
    managed({
      image: image('AL2023', 29),
      declares: [nodeConfig(imagefs)],
      nodes: times(2, {
        running: { evictionHard: { ...trio, 'imagefs.available': '15%' } },
        files: { dropIns: { '00-nodeadm.conf': imagefs } },
      }),
    }),
  ),
  clean('AL2023', 'mergeDefaultEvictionSettings brings all signals', () =>
    eksctl({
      image: image('AL2023', 33),
      nodes: times(2, {
        running: { mergeDefaultEvictionSettings: true, evictionHard: everySignal },
        files: { main: { mergeDefaultEvictionSettings: true } },
      }),
    }),
  ),
  clean('AL2023', 'a field in wrong case in a drop-in, which the kubelet does not mind there', () =>
    selfManaged({
      image: image('AL2023', 34),
      nodes: [
        {
          running: { imageGCHighThresholdPercent: 90 },
          files: { dropIns: { '90-local.conf': { imageGcHighThresholdPercent: 90 } } },
        },
      ],
    }),
  ),
  clean('AL2023', 'a null in a drop-in of 1.31, which says nothing to the main file', () =>
    eksctl({
      image: image('AL2023', 31),
      nodes: times(2, {
        files: {
          dropIns: {
            '90-local.conf': { maxPods: null, evictionHard: { 'nodefs.inodesFree': null } },
          },
        },
      }),
    }),
  ),
  clean('AL2023', 'an unknown launch template, and nodes that are alike', () =>
    managed({
      image: image('AL2023', 33),
      declares: 'unread',
      nodes: times(3, { running: early }),
    }),
  ),
  clean(
    'AL2023',
    'nodes of an older template version, which differs in nothing of the kubelet',
    () =>
      managed({
        image: image('AL2023', 33),
        declares: null,
        nodes: [...times(3), ...times(2, { madeFrom: 3 })],
      }),
  ),
  clean('AL2', 'nodes of an older template version, which run what the newer one says', () =>
    managed({
      image: image('AL2', 31),
      declares: [script(early)],
      nodes: times(3, { running: early, madeFrom: 3 }),
    }),
  ),
  clean('Bottlerocket', 'one node of an EC2NodeClass that changed in something else', () =>
    karpenter({ image: image('Bottlerocket', 35), nodes: [{}, { classHash: 'before' }, {}] }),
  ),
  clean('AL2023', 'a hash of an EC2NodeClass that was computed in another way', () =>
    karpenter({
      image: image('AL2023', 33),
      nodes: times(2, { classHash: 'before', classHashVersion: 'v3' }),
    }),
  ),
]

const alike: DriftKind[] = [
  clean('AL2023', 'instance sizes of one pool, each with its own reservation', () =>
    karpenter({
      image: image('AL2023', 34),
      nodes: sizes('m5.large', 'm5.xlarge', 'c6i.4xlarge', 't3.medium', 'm5.large'),
    }),
  ),
  clean('AL2', 'instance sizes of one nodegroup', () =>
    managed({
      image: image('AL2', 31),
      nodes: sizes('m5.large', 'm5.xlarge', 'm5.xlarge').map(node => ({ ...node, files: {} })),
    }),
  ),
  clean('Bottlerocket', 'instance sizes of one nodegroup', () =>
    managed({
      image: image('Bottlerocket', 33),
      nodes: sizes('t3.medium', 'm5.xlarge', 'm5.xlarge'),
    }),
  ),
  clean('AL2023', 'nodegroups of other minors, each alike in itself', () => [
    managed({ image: image('AL2023', 33), name: 'blue', nodes: bare }),
    managed({ image: image('AL2023', 34), name: 'green', nodes: bare }),
    managed({ image: image('AL2', 31), name: 'old', nodes: bare }),
  ]),
  clean('AL2023', 'nodegroups with other wishes', () => [
    managed({
      image: image('AL2023', 34),
      name: 'web',
      declares: [nodeConfig(early)],
      nodes: times(2, { running: early }),
    }),
    managed({
      image: image('AL2023', 34),
      name: 'batch',
      declares: [nodeConfig(imageGc(60, 50))],
      nodes: times(2, { running: imageGc(60, 50) }),
    }),
  ]),
  clean('AL2023', 'thresholds, reservations and gates that say nothing, on one node', () =>
    managed({
      image: image('AL2023', 34),
      nodes: [
        ...bare,
        {
          running: {
            evictionHard: { ...trio, 'imagefs.available': '0%' },
            evictionMinimumReclaim: { 'nodefs.available': '0' },
            systemReserved: { memory: '0' },
            featureGates: {
              RotateKubeletServerCertificate: true,
              DynamicResourceAllocation: true,
              MutableCSINodeAllocatableCount: true,
            },
          },
        },
      ],
    }),
  ),
  clean('AL2023', 'the only node of its group', () =>
    eksctl({ image: image('AL2023', 34), nodes: [{ running: { ...early, maxPods: 50 } }] }),
  ),
  clean('AL2', 'self-managed nodes, each in its own way', () =>
    selfManaged({ image: image('AL2', 29), nodes: [{}, { running: early }] }),
  ),
  clean('AL2023', 'a node that did not answer, beside others', () =>
    managed({
      image: image('AL2023', 34),
      declares: [nodeConfig(early)],
      nodes: [...times(2, { running: early }), { isUnread: true }],
    }),
  ),
  clean('AL2023', 'a node that did not answer, whose files were read', () =>
    managed({
      image: image('AL2023', 33),
      declares: [nodeConfig(early)],
      nodes: [{ isUnread: true, files: { dropIns: { '40-nodeadm.conf': early } } }],
    }),
  ),
  clean(
    'AL2023',
    'a node that did not answer, under a baseline',
    () => managed({ image: image('AL2023', 35), nodes: [{ isUnread: true }] }),
    wish({}, early),
  ),
]

const baselines: DriftKind[] = [
  clean(
    'AL2023',
    'a baseline that is met in another spelling',
    () =>
      managed({
        image: image('AL2023', 34),
        nodes: times(2, {
          running: { containerLogMaxSize: '1Gi', evictionPressureTransitionPeriod: '2m0s' },
        }),
      }),
    wish(
      { amiFamily: 'AL2023' },
      {
        containerLogMaxSize: '1024Mi',
        evictionPressureTransitionPeriod: '120s',
        evictionHard: { 'memory.available': '102400Ki' },
      },
    ),
  ),
  clean(
    'AL2023',
    'a baseline of another family',
    () => managed({ image: image('AL2023', 33), nodes: bare }),
    wish({ amiFamily: 'Bottlerocket' }, early),
  ),
  clean(
    'AL2',
    'a baseline of another instance type, group and cluster',
    () => managed({ image: image('AL2', 31), nodes: bare }),
    [
      ...wish({ instanceType: 'c6i.*' }, early),
      ...wish({ group: 'batch' }, early),
      ...wish({ cluster: 'stage-*' }, early),
    ],
  ),
  clean(
    'AL2023',
    'nodes that are as the baseline wishes, and not as their image',
    () => managed({ image: image('AL2023', 34), nodes: times(2, { running: early }) }),
    wish({}, early),
  ),
  clean(
    'Bottlerocket',
    'a baseline that wishes a default of the kubelet',
    () => managed({ image: image('Bottlerocket', 35), nodes: bare }),
    wish(
      { amiFamily: 'Bottlerocket' },
      { ...late, evictionHard: { 'imagefs.available': '15%' }, imageMinimumGCAge: '2m' },
    ),
  ),
  clean(
    'AL2023',
    'a baseline that a later one takes back',
    () => managed({ image: image('AL2023', 31), nodes: bare }),
    [...wish({}, early), ...wish({ amiFamily: 'AL2023' }, late)],
  ),
]

export const cleanKinds: DriftKind[] = [...defaults, ...declared, ...alike, ...baselines]
