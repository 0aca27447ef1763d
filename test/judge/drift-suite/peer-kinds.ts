/** Nodes that are unlike their peers, by themselves or by their AMI release or minor. */
import { early, imageGc, kind, late, nodeConfig } from './declare.ts'
import { eksctl, fleet, image, karpenter, managed, times } from './fleet.ts'
import type { Files } from './host.ts'
import { reservedFor, type SuiteFamily, type SuiteMinor, trio } from './image.ts'
import { type DriftKind, outlier, skewed } from './kind.ts'
import { type Member, nodeName } from './node.ts'

const fourth = nodeName(3)
/** Five nodes, the fourth by hand. */
const oneOfFive = (member: Member, alike: Member = {}) => [
  ...times(3, alike),
  { ...alike, ...member },
  alike,
]
const everySignal = { ...trio, 'imagefs.available': '15%' }

const fields: [
  field: string,
  family: SuiteFamily,
  minor: SuiteMinor,
  running: Record<string, unknown>,
][] = [
  ['image GC percentages', 'AL2', 31, early],
  ['image GC percentages', 'AL2023', 34, early],
  ['image GC percentages', 'Bottlerocket', 33, early],
  ['one more key of evictionHard', 'AL2023', 29, { evictionHard: everySignal }],
  ['one key fewer of evictionHard', 'Bottlerocket', 35, { evictionHard: everySignal }],
  [
    'another value in evictionHard',
    'AL2',
    29,
    { evictionHard: { ...trio, 'nodefs.available': '20%' } },
  ],
  [
    'evictionSoft',
    'AL2023',
    33,
    {
      evictionSoft: { 'memory.available': '500Mi' },
      evictionSoftGracePeriod: { 'memory.available': '1m30s' },
    },
  ],
  ['evictionPressureTransitionPeriod', 'AL2023', 31, { evictionPressureTransitionPeriod: '30s' }],
  ['containerLogMaxSize', 'AL2023', 35, { containerLogMaxSize: '100Mi' }],
  ['containerLogMaxFiles', 'AL2', 31, { containerLogMaxFiles: 2 }],
  ['imageMaximumGCAge', 'Bottlerocket', 34, { imageMaximumGCAge: '168h0m0s' }],
  ['maxPods', 'AL2023', 34, { maxPods: 110 }],
  [
    'kubeReserved, of the same instance type',
    'AL2023',
    33,
    { kubeReserved: { ...reservedFor('m5.large'), memory: '1Gi' } },
  ],
  ['serializeImagePulls', 'AL2', 29, { serializeImagePulls: true }],
]

const sizes: Member[] = [
  { instanceType: 'm5.large' },
  { instanceType: 'm5.xlarge' },
  { instanceType: 't3.medium' },
]

const edited: DriftKind[] = [
  ...fields.map(([field, family, minor, running]) =>
    kind(family, `${field} of one node of five, 1.${minor}`, outlier(fourth), () =>
      fleet(managed({ image: image(family, minor), nodes: oneOfFive({ running }) })),
    ),
  ),
  ...(
    [
      ['AL2', 31, { main: early }],
      ['AL2023', 34, { dropIns: { '90-local.conf': early } }],
      ['AL2023', 35, { main: early }],
    ] satisfies [SuiteFamily, SuiteMinor, Files][]
  ).map(([family, minor, files]) =>
    kind(
      family,
      `a ${'main' in files ? 'main file' : 'drop-in'} that was edited and read again, 1.${minor}`,
      outlier(fourth),
      () =>
        fleet(
          managed({
            image: image(family, minor),
            nodes: oneOfFive({ running: early, files }, { files: {} }),
          }),
        ),
    ),
  ),
  kind('AL2023', 'a node of Karpenter', outlier(fourth), () =>
    fleet(
      karpenter({
        image: image('AL2023', 34),
        nodes: oneOfFive({ running: { containerLogMaxSize: '50Mi' } }),
      }),
    ),
  ),
  kind('Bottlerocket', 'a node of Karpenter', outlier(fourth), () =>
    fleet(karpenter({ image: image('Bottlerocket', 33), nodes: oneOfFive({ running: early }) })),
  ),
  kind('AL2', 'a node of a group that eksctl made', outlier(fourth), () =>
    fleet(
      eksctl({
        image: image('AL2', 29),
        nodes: oneOfFive({ running: { imageMinimumGCAge: '1h0m0s' } }),
      }),
    ),
  ),
  kind('Bottlerocket', 'a node of a group that eksctl made', outlier(fourth), () =>
    fleet(
      eksctl({
        image: image('Bottlerocket', 31),
        nodes: oneOfFive({ running: { evictionHard: { 'memory.available': '200Mi' } } }),
      }),
    ),
  ),
  kind('AL2023', 'one node of two, the other as its image', outlier(nodeName(1)), () =>
    fleet(managed({ image: image('AL2023', 35), nodes: [{}, { running: early }] })),
  ),
  kind(
    'AL2023',
    'a tie of four, in which one half is as its image',
    outlier(nodeName(0), nodeName(1)),
    () =>
      fleet(
        eksctl({
          image: image('AL2023', 34),
          nodes: [...times(2, { running: early }), ...times(2)],
        }),
      ),
  ),
  kind('AL2023', 'two nodes of five, alike', outlier(nodeName(0), nodeName(4)), () =>
    fleet(
      managed({
        image: image('AL2023', 31),
        nodes: [{ running: early }, ...times(3), { running: early }],
      }),
    ),
  ),
  kind('AL2023', 'two nodes of five, each in its own way', outlier(nodeName(0), nodeName(4)), () =>
    fleet(
      managed({
        image: image('AL2023', 33),
        nodes: [{ running: early }, ...times(3), { running: { maxPods: 17 } }],
      }),
    ),
  ),
  kind(
    'AL2023',
    'one of three nodes of a size that others of the group do not have',
    outlier(nodeName(5)),
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          nodes: [
            ...times(3, { instanceType: 'm5.xlarge' }),
            ...times(2),
            // The reservation of the next size.
            { running: { kubeReserved: reservedFor('m5.xlarge') } },
          ],
        }),
      ),
  ),
  ...(['AL2023', 'Bottlerocket'] as const).map(family =>
    kind(family, 'a reservation of a size that is by no formula', outlier(nodeName(3)), () =>
      fleet(
        karpenter({
          image: image(family, 33),
          nodes: [
            ...sizes,
            {
              instanceType: 'c6i.4xlarge',
              running: {
                kubeReserved: { ...reservedFor('c6i.4xlarge'), memory: '12Gi' },
                systemReserved: { memory: '4Gi' },
              },
            },
          ],
        }),
      ),
    ),
  ),
  kind('AL2023', 'one node of a group in which others did not answer', outlier(nodeName(1)), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        nodes: [{}, { running: early }, {}, { isUnread: true }],
      }),
    ),
  ),
]

const old: Member = { release: 'old' }
const stopped = (before: Member) => [...times(3), ...times(2, before)]
const stoppedNodes = [nodeName(3), nodeName(4)]

const halfWay: DriftKind[] = [
  kind('AL2023', 'an AMI release on half of the nodes', skewed(...stoppedNodes), () =>
    fleet(managed({ image: image('AL2023', 33), nodes: stopped(old) })),
  ),
  kind(
    'AL2023',
    'an AMI release on half of the nodes, whose settings differ by it',
    skewed(...stoppedNodes),
    () => fleet(managed({ image: image('AL2023', 34), nodes: stopped(old) })),
  ),
  kind(
    'AL2',
    'an AMI release on half of the nodes, which only their label tells',
    skewed(...stoppedNodes),
    () => fleet(managed({ image: image('AL2', 31), nodes: stopped(old) })),
  ),
  kind('Bottlerocket', 'a release on half of the nodes', skewed(...stoppedNodes), () =>
    fleet(managed({ image: image('Bottlerocket', 35), nodes: stopped(old) })),
  ),
  kind('AL2023', "an AMI release on half of Karpenter's nodes", skewed(...stoppedNodes), () =>
    fleet(karpenter({ image: image('AL2023', 33), nodes: stopped(old) })),
  ),
  kind('AL2023', 'a minor on half of the nodes', skewed(...stoppedNodes), () =>
    fleet(managed({ image: image('AL2023', 34), nodes: stopped({ minor: 33, release: 'old' }) })),
  ),
  kind('AL2', 'a minor on half of the nodes', skewed(...stoppedNodes), () =>
    fleet(managed({ image: image('AL2', 31), nodes: stopped({ minor: 29, release: 'old' }) })),
  ),
  kind('Bottlerocket', 'a minor on half of the nodes', skewed(...stoppedNodes), () =>
    fleet(
      managed({ image: image('Bottlerocket', 35), nodes: stopped({ minor: 34, release: 'old' }) }),
    ),
  ),
  kind(
    'AL2023',
    'a minor on half of the nodes, with their files and what was declared',
    skewed(...stoppedNodes),
    () =>
      fleet(
        managed({
          image: image('AL2023', 35),
          declares: [nodeConfig(imageGc(75, 65))],
          nodes: stopped({ minor: 34, release: 'old' }).map(node => ({
            ...node,
            running: imageGc(75, 65),
            files: { dropIns: { '40-nodeadm.conf': { ...late, ...imageGc(75, 65) } } },
          })),
        }),
      ),
  ),
]

export const peerKinds: DriftKind[] = [...edited, ...halfWay]
