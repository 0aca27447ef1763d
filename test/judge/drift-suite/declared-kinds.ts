/** Declared, and lost before it reached a disk. */
import {
  bootstrap,
  early,
  earlyFlags,
  imageGc,
  kind,
  nodeConfig,
  script,
  settings,
} from './declare.ts'
import { fleet, image, karpenter, managed, times } from './fleet.ts'
import { trio } from './image.ts'
import { type DriftKind, likelyLost, lostInDeclaration, lostToFlags } from './kind.ts'
import { nodeName } from './node.ts'

const nowhere = times(2, { files: {} })
const imagefs = { evictionHard: { 'imagefs.available': '15%' } }
const misspelt = { imageGCHighTresholdPercent: 70, imageGCLowTresholdPercent: 60 }
const taints = { registerWithTaints: [{ effect: 'NoExecute', key: 'karpenter.sh/unregistered' }] }

const neverArrived: DriftKind[] = [
  kind('AL2023', 'a NodeConfig that does not run', likelyLost, () =>
    fleet(managed({ image: image('AL2023', 33), declares: [nodeConfig(early)], nodes: times(3) })),
  ),
  kind('AL2023', 'a NodeConfig that no file on the nodes has', lostInDeclaration(), () =>
    fleet(managed({ image: image('AL2023', 34), declares: [nodeConfig(early)], nodes: nowhere })),
  ),
  kind('AL2023', 'one field of a NodeConfig, of which the others run', likelyLost, () =>
    fleet(
      managed({
        image: image('AL2023', 31),
        declares: [nodeConfig({ ...early, containerLogMaxSize: '50Mi' })],
        nodes: times(3, { running: early }),
      }),
    ),
  ),
  kind('AL2023', 'one key of a map that a NodeConfig sets', likelyLost, () =>
    fleet(
      managed({
        image: image('AL2023', 35),
        declares: [
          nodeConfig({ evictionHard: { 'memory.available': '500Mi', 'imagefs.available': '15%' } }),
        ],
        nodes: times(2, { running: { evictionHard: { ...trio, 'memory.available': '500Mi' } } }),
      }),
    ),
  ),
  kind(
    'AL2023',
    'one nodegroup of two',
    { ...likelyLost, nodes: [nodeName(0, 2), nodeName(1, 2)] },
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          name: 'reached',
          declares: [nodeConfig(early)],
          nodes: times(2, { running: early }),
        }),
        managed({
          image: image('AL2023', 34),
          name: 'missed',
          declares: [nodeConfig(early)],
          nodes: times(2),
        }),
      ),
  ),
  kind('AL2023', 'a NodeConfig, of nodes that would not show their files', likelyLost, () =>
    fleet(
      managed({
        image: image('AL2023', 35),
        declares: [nodeConfig(early)],
        nodes: times(2, { files: 'refused' }),
      }),
    ),
  ),
  kind('AL2023', 'an EC2NodeClass whose threshold does not run', likelyLost, () =>
    fleet(karpenter({ image: image('AL2023', 34), kubelet: imagefs, nodes: times(3) })),
  ),
  kind('AL2023', 'the user data of an EC2NodeClass', likelyLost, () =>
    fleet(
      karpenter({
        image: image('AL2023', 35),
        userData: [nodeConfig({ containerLogMaxSize: '50Mi' })],
        nodes: times(3),
      }),
    ),
  ),
  kind(
    'AL2023',
    'an EC2NodeClass that is not in the drop-in which Karpenter wrote',
    lostInDeclaration(),
    () =>
      fleet(
        karpenter({
          image: image('AL2023', 33),
          kubelet: early,
          nodes: times(2, {
            running: taints,
            files: { dropIns: { '40-nodeadm.conf': { ...taints, maxPods: 29 } } },
          }),
        }),
      ),
  ),
  kind('AL2', 'jq in user data that ran too early', lostInDeclaration(), () =>
    fleet(managed({ image: image('AL2', 31), declares: [script(early)], nodes: nowhere })),
  ),
  kind('AL2', 'jq in user data, the nodes were not read', likelyLost, () =>
    fleet(
      managed({
        image: image('AL2', 29),
        declares: [script({ containerLogMaxFiles: 3 })],
        nodes: times(2),
      }),
    ),
  ),
  kind(
    'AL2',
    'extra arguments of bootstrap.sh that are on no command line',
    lostInDeclaration(),
    () =>
      fleet(
        managed({ image: image('AL2', 29), declares: [bootstrap(...earlyFlags)], nodes: nowhere }),
      ),
  ),
  kind('AL2', 'image GC thresholds of an EC2NodeClass', likelyLost, () =>
    fleet(karpenter({ image: image('AL2', 31), kubelet: early, nodes: times(2) })),
  ),
  kind('AL2', 'the settings of a NodePool as it was before v1', likelyLost, () =>
    fleet(karpenter({ image: image('AL2', 29), poolKubelet: { maxPods: 20 }, nodes: times(2) })),
  ),
  kind('Bottlerocket', 'settings of the user data that do not run', likelyLost, () =>
    fleet(
      managed({ image: image('Bottlerocket', 33), declares: [settings(early)], nodes: times(3) }),
    ),
  ),
  kind('Bottlerocket', 'an eviction-hard that does not run', likelyLost, () =>
    fleet(
      managed({
        image: image('Bottlerocket', 35),
        declares: [
          settings({
            evictionHard: { ...trio, 'imagefs.available': '20%', 'imagefs.inodesFree': '5%' },
          }),
        ],
        nodes: times(2),
      }),
    ),
  ),
  kind('Bottlerocket', 'a setting that the rendered file does not have', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('Bottlerocket', 34),
        declares: [settings({ imageMinimumGCAge: '10m' })],
        nodes: nowhere,
      }),
    ),
  ),
]

const fewHaveIt: DriftKind[] = [
  kind(
    'AL2023',
    'a NodeConfig that runs on the few',
    { ...likelyLost, nodes: [nodeName(0), nodeName(1)] },
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          declares: [nodeConfig(early)],
          nodes: [...times(2, { running: imageGc(95, 90) }), { running: early }],
        }),
      ),
  ),
  kind(
    'Bottlerocket',
    'a tie, in which one half has what was declared',
    { ...likelyLost, nodes: [nodeName(0)], beside: ['peer-drift'] },
    () =>
      fleet(
        managed({
          image: image('Bottlerocket', 33),
          declares: [settings(early)],
          nodes: [{}, { running: early }],
        }),
      ),
  ),
]

const overriddenByItself: DriftKind[] = [
  kind(
    'AL2023',
    'a NodeConfig whose flags say something else',
    { ...lostToFlags(), confidence: 'certain' },
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          declares: [nodeConfig(imageGc(70, 60), '--image-gc-high-threshold=75')],
          nodes: times(2, { running: imageGc(75, 60) }),
        }),
      ),
  ),
  kind(
    'AL2',
    'jq in user data, and other values among the extra arguments of bootstrap.sh',
    { ...lostToFlags(), confidence: 'certain' },
    () =>
      fleet(
        managed({
          image: image('AL2', 31),
          declares: [
            script({ imageGCHighThresholdPercent: 70 }),
            bootstrap('--image-gc-high-threshold=75', '--image-gc-low-threshold=65'),
          ],
          nodes: times(2, { running: imageGc(75, 65) }),
        }),
      ),
  ),
  kind(
    'AL2023',
    'a key of a map, of which a flag of the same template says another',
    { ...lostToFlags(), confidence: 'certain' },
    () =>
      fleet(
        managed({
          image: image('AL2023', 33),
          declares: [nodeConfig(imagefs, '--eviction-hard=memory.available<200Mi')],
          nodes: times(2, { running: { evictionHard: { 'memory.available': '200Mi' } } }),
        }),
      ),
  ),
]

const neverRead: DriftKind[] = [
  kind(
    'AL2023',
    'arguments for bootstrap.sh, which this image does not have',
    lostInDeclaration(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          declares: [bootstrap(...earlyFlags)],
          nodes: times(3),
        }),
      ),
  ),
  kind('AL2023', 'the same with the files read', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('AL2023', 31),
        declares: [bootstrap('--max-pods=20')],
        nodes: nowhere,
      }),
    ),
  ),
  kind('AL2023', 'KUBELET_EXTRA_ARGS', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('AL2023', 33),
        declares: [script({}, '--container-log-max-size=50Mi')],
        nodes: times(2),
      }),
    ),
  ),
  kind(
    'AL2023',
    'KUBELET_EXTRA_ARGS in the user data of an EC2NodeClass',
    lostInDeclaration(),
    () =>
      fleet(
        karpenter({
          image: image('AL2023', 34),
          userData: [script({}, '--eviction-hard=imagefs.available<15%')],
          nodes: nowhere,
        }),
      ),
  ),
  kind('AL2023', "a script that edits the path of AL2's file", lostInDeclaration(), () =>
    fleet(
      managed({ image: image('AL2023', 35), declares: [script(imageGc(60, 40))], nodes: nowhere }),
    ),
  ),
  kind('AL2', 'a NodeConfig, which only nodeadm reads', lostInDeclaration(), () =>
    fleet(managed({ image: image('AL2', 31), declares: [nodeConfig(early)], nodes: times(2) })),
  ),
  kind('Bottlerocket', 'a NodeConfig, which only nodeadm reads', lostInDeclaration(), () =>
    fleet(
      managed({ image: image('Bottlerocket', 34), declares: [nodeConfig(early)], nodes: times(2) }),
    ),
  ),
  kind(
    'Bottlerocket',
    'log settings in spec.kubelet, which Karpenter does not translate',
    lostInDeclaration(),
    () =>
      fleet(
        karpenter({
          image: image('Bottlerocket', 34),
          kubelet: { containerLogMaxSize: '50Mi', containerLogMaxFiles: 3 },
          nodes: times(2),
        }),
      ),
  ),
  kind(
    'Bottlerocket',
    'log settings beside others that Karpenter does translate',
    lostInDeclaration(),
    () =>
      fleet(
        karpenter({
          image: image('Bottlerocket', 33),
          kubelet: { ...early, containerLogMaxSize: '50Mi' },
          nodes: times(3, { running: early }),
        }),
      ),
  ),
  kind('Bottlerocket', 'a field that it has no setting for', lostInDeclaration(), () =>
    fleet(
      karpenter({
        image: image('Bottlerocket', 35),
        kubelet: { evictionPressureTransitionPeriod: '1m' },
        nodes: times(2),
      }),
    ),
  ),
  kind(
    'Bottlerocket',
    'a minimum reclaim among the settings of the user data',
    lostInDeclaration(),
    () =>
      fleet(
        managed({
          image: image('Bottlerocket', 31),
          declares: [settings({ evictionMinimumReclaim: { 'nodefs.available': '2Gi' } })],
          nodes: times(2),
        }),
      ),
  ),
  kind('AL2023', 'a field that this minor does not know yet', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('AL2023', 31),
        declares: [nodeConfig({ mergeDefaultEvictionSettings: true })],
        nodes: times(2),
      }),
    ),
  ),
]

const misspeltThere: DriftKind[] = [
  kind('AL2023', 'a NodeConfig with misspelt fields', lostInDeclaration(), () =>
    fleet(
      managed({ image: image('AL2023', 34), declares: [nodeConfig(misspelt)], nodes: times(2) }),
    ),
  ),
  kind(
    'AL2023',
    'a NodeConfig with misspelt fields, which nodeadm wrote down as they are',
    lostInDeclaration(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 33),
          declares: [nodeConfig(misspelt)],
          nodes: times(2, { files: { dropIns: { '40-nodeadm.conf': misspelt } } }),
        }),
      ),
  ),
  kind('AL2023', 'a NodeConfig that begins a field with a capital', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('AL2023', 35),
        declares: [nodeConfig({ ImageGCHighThresholdPercent: 70 })],
        nodes: times(2),
      }),
    ),
  ),
  kind('AL2023', 'user data of an EC2NodeClass with a misspelt field', lostInDeclaration(), () =>
    fleet(
      karpenter({
        image: image('AL2023', 31),
        userData: [nodeConfig({ evictionMinReclaim: { 'nodefs.available': '2Gi' } })],
        nodes: times(2),
      }),
    ),
  ),
  kind('AL2', 'a document in a script with a misspelt field', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('AL2', 31),
        declares: [script({ containerLogMaxSizes: '50Mi' })],
        nodes: times(2),
      }),
    ),
  ),
  kind('AL2', 'a document in a script with fields in wrong case', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('AL2', 29),
        declares: [script({ imageGcHighThresholdPercent: 70, imageGcLowThresholdPercent: 60 })],
        nodes: times(2),
      }),
    ),
  ),
]

const olderVersions: DriftKind[] = [
  kind(
    'AL2023',
    'nodes of the template version before the one that declares',
    lostInDeclaration(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          declares: [nodeConfig(early)],
          nodes: times(3, { madeFrom: 3 }),
        }),
      ),
  ),
  kind('AL2', 'nodes of an older template version, with their files', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('AL2', 31),
        declares: [script(early)],
        nodes: times(2, { madeFrom: 2, files: {} }),
      }),
    ),
  ),
  kind('Bottlerocket', 'nodes of an older template version', lostInDeclaration(), () =>
    fleet(
      managed({
        image: image('Bottlerocket', 33),
        declares: [settings(early)],
        nodes: times(2, { madeFrom: 3 }),
      }),
    ),
  ),
  kind(
    'AL2023',
    'two nodes of five that an older template version made',
    lostInDeclaration(nodeName(3), nodeName(4)),
    () =>
      fleet(
        managed({
          image: image('AL2023', 33),
          declares: [nodeConfig(early)],
          nodes: [...times(3, { running: early }), ...times(2, { madeFrom: 3 })],
        }),
      ),
  ),
  kind(
    'AL2023',
    'a node of an older template version, which said what the new one does not',
    lostInDeclaration(nodeName(2)),
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          declares: null,
          nodes: [...times(2), { madeFrom: 3, running: early }],
        }),
      ),
  ),
  kind(
    'AL2023',
    'version 9 of a template that is older than 10',
    lostInDeclaration(nodeName(2)),
    () =>
      fleet(
        managed({
          image: image('AL2023', 35),
          declares: [nodeConfig(early)],
          version: 10,
          nodes: [...times(2, { madeFrom: 10, running: early }), { madeFrom: 9 }],
        }),
      ),
  ),
  kind('AL2023', 'nodes of an EC2NodeClass before it declared', lostInDeclaration(), () =>
    fleet(
      karpenter({
        image: image('AL2023', 34),
        kubelet: early,
        nodes: times(3, { classHash: 'before' }),
      }),
    ),
  ),
  kind('AL2', 'nodes of an older EC2NodeClass', lostInDeclaration(), () =>
    fleet(
      karpenter({
        image: image('AL2', 31),
        kubelet: { maxPods: 20 },
        nodes: times(2, { classHash: 'before' }),
      }),
    ),
  ),
  kind(
    'Bottlerocket',
    'one node of an EC2NodeClass as it was before',
    lostInDeclaration(nodeName(1)),
    () =>
      fleet(
        karpenter({
          image: image('Bottlerocket', 35),
          kubelet: early,
          nodes: [{ running: early }, { classHash: 'before' }, { running: early }],
        }),
      ),
  ),
]

export const declaredKinds: DriftKind[] = [
  ...neverArrived,
  ...fewHaveIt,
  ...overriddenByItself,
  ...neverRead,
  ...misspeltThere,
  ...olderVersions,
]
